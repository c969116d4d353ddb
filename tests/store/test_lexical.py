import math
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.store.records import record, source_file
from tests.store.test_tree_index import TERMS, open_tree, tree
from wherein.store.formula import FIELD_WEIGHTS, Bm25f, FieldWeight
from wherein.store.lexical import score_chunks
from wherein.store.path_terms import path_stem, path_term_counts
from wherein.store.segment import Segment
from wherein.store.segment_writing import write_segment
from wherein.store.tree_index import TreeIndex
from wherein.tokens import count_terms, scan_words
from wherein.types import FIELDS


def plain_bm25f(
    files: dict[str, list[dict[str, str]]], term: str, k1: float
) -> dict[tuple[str, int], float]:
    """BM25F by the book, one chunk after the other."""
    rows: dict[tuple[str, int], dict[str, Counter[str]]] = {}
    paths = {path: Counter(path_term_counts(path)) for path in files}
    for path, chunks in files.items():
        for i, texts in enumerate(chunks):
            rows[path, i] = {
                name: Counter(count_terms(scan_words(texts.get(name, "")))) for name in FIELDS
            }
    averages = {
        name: sum(row[name].total() for row in rows.values()) / max(len(rows), 1) or 1.0
        for name in FIELDS
    }
    averages["path"] = sum(c.total() for c in paths.values()) / max(len(paths), 1) or 1.0
    found: dict[tuple[str, int], float] = {}
    for key, row in rows.items():
        total = 0.0
        for name, counts in [*row.items(), ("path", paths[key[0]])]:
            setting = FIELD_WEIGHTS[name]
            norm = 1 - setting.b + setting.b * counts.total() / averages[name]
            total += setting.weight * counts[term] / norm
        if total:
            found[key] = total / (k1 + total)
    idf = math.log(1 + (len(rows) - len(found) + 0.5) / (len(found) + 0.5))
    return {key: idf * value for key, value in found.items()}


@given(files=tree)
@settings(derandomize=True, max_examples=35, deadline=None)
def test_scores_are_those_of_bm25f_by_the_book(files: dict[str, list[dict[str, str]]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        index = open_tree(Path(name), [(files, set())])
        for term in TERMS:
            expected = plain_bm25f(files, term, 2.0)
            found = score_chunks(index, [(term, 1.0)])
            scores = found.chunks
            for file in range(index.n_files):
                first, end = index.chunk_offsets[file : file + 2].tolist()
                for row in range(first, end):
                    key = (index.path(file), row - first)
                    assert scores[row] == pytest.approx(expected.get(key, 0.0), rel=1e-5)
            assert found.terms[0].document_frequency == len(expected)


def small_index(tmp_path: Path) -> TreeIndex:
    files = {
        "net/retry.py": [{"body": "def retry(call)", "names": "retry"}, {"body": "call again"}],
        "net/http.py": [{"body": "call retry retry retry"}],
        "util.py": [{"body": "call"}] * 20,
    }
    write_segment(tmp_path / "s", [(source_file(p), record(c)) for p, c in files.items()])
    return TreeIndex([(Segment.open(tmp_path / "s"), None)])


def test_a_terms_weight_multiplies_its_score_and_postings_are_counted(tmp_path: Path) -> None:
    index = small_index(tmp_path)
    one = score_chunks(index, [("retri", 1.0)])
    half = score_chunks(index, [("retri", 0.5)])
    assert half.chunks.tolist() == pytest.approx((one.chunks / 2).tolist())
    assert one.postings_read == 3  # two chunks and one path
    assert [match.document_frequency for match in one.terms] == [3]


def test_the_path_counts_for_every_chunk_of_the_file(tmp_path: Path) -> None:
    index = small_index(tmp_path)
    scores = score_chunks(index, [("retri", 1.0)]).chunks
    file = index.find("net/retry.py")
    assert file is not None
    first = int(index.chunk_offsets[file])
    assert scores[first] > scores[first + 1] > 0


def test_another_formula_changes_the_scores(tmp_path: Path) -> None:
    index = small_index(tmp_path)
    no_path = {**FIELD_WEIGHTS, "path": FieldWeight(0.0, 0.5)}
    scores = score_chunks(index, [("retri", 1.0)], Bm25f(fields=no_path)).chunks
    file = index.find("net/retry.py")
    assert file is not None
    assert scores[int(index.chunk_offsets[file]) + 1] == 0


@pytest.mark.parametrize(
    ("path", "stem"),
    [
        ("src/cart.spec.ts", "cart"),
        ("a/defaults/index.js", "defaults"),
        ("pkg/__init__.py", "pkg"),
        ("index.js", "index"),
        (".github/workflows/ci.yml", "ci"),
        ("src/.eslintrc.json", "eslintrc"),
        ("Makefile", "Makefile"),
    ],
)
def test_the_stem_says_what_the_file_is_about(path: str, stem: str) -> None:
    assert path_stem(path) == stem


def test_the_stem_counts_twice_and_an_entry_file_takes_its_folders_name() -> None:
    assert path_term_counts("lib/retryPolicy.ts") == {
        "lib": 1,
        "retri": 2,
        "polici": 2,
        "retripolici": 2,
    }
    assert path_term_counts("lib/defaults/index.js")["default"] == 3
