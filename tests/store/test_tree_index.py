import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.records import record, source_file
from wherein.errors import CorruptIndexError
from wherein.store.lexical import score_chunks
from wherein.store.segment import Segment
from wherein.store.segment_writing import write_segment
from wherein.store.tree_index import FoundDefinition, TreeIndex
from wherein.store.vectors import quantize
from wherein.types import Record

WORDS = ("cart", "discount", "apply", "total", "retryPolicy", "http_server", "超时重试", "x")
TERMS = ("cart", "discount", "appli", "total", "retri", "retrypolici", "http", "重试", "x", "none")

text = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
chunk = st.fixed_dictionaries(
    {"body": text},
    optional={"names": text, "signature": text, "documentation": text, "enclosing": text},
)
contents = st.lists(chunk, max_size=4)
path = st.sampled_from([f"{folder}{name}.py" for folder in ("", "cart/", "a/b/") for name in WORDS])
tree = st.dictionaries(path, contents, max_size=8)


def make_record(fields: list[dict[str, str]], blob: int = 0) -> Record:
    rng = np.random.default_rng(len(str(fields)))
    rows, _ = quantize(rng.normal(size=(len(fields), 4)).astype(np.float32))
    return record(fields, blob=blob, vectors=rows)


def open_tree(
    folder: Path, parts: list[tuple[dict[str, list[dict[str, str]]], set[str]]]
) -> TreeIndex:
    """One segment for each part: path to contents, and the paths that are dead in it."""
    segments: list[tuple[Segment, np.ndarray | None]] = []
    for number, (files, dead) in enumerate(parts):
        directory = folder / str(number)
        write_segment(
            directory, [(source_file(name), make_record(fields)) for name, fields in files.items()]
        )
        segment = Segment.open(directory)
        marks = np.array([name in dead for name in segment.paths], np.bool_)
        segments.append((segment, marks if dead else None))
    return TreeIndex(segments)


def scores_by_path(index: TreeIndex) -> dict[tuple[str, int], list[float]]:
    """All that a query sees of each live chunk, keyed by path and place in the file."""
    query = np.array([0.1, -0.5, 0.7, 0.2], np.float32)
    all_terms = score_chunks(index, [(term, 1.0) for term in TERMS]).chunks
    dense = index.similarity(query)
    seen: dict[tuple[str, int], list[float]] = {}
    for file in np.flatnonzero(index.live_files).tolist():
        first, end = index.chunk_offsets[file : file + 2].tolist()
        for row in range(first, end):
            values = [float(all_terms[row]), float(dense[row])]
            seen[index.path(file), row - first] = values
    return seen


@given(old=tree, new=tree)
@settings(derandomize=True, max_examples=35, deadline=None)
def test_a_base_with_a_delta_scores_exactly_as_one_fresh_segment(
    old: dict[str, list[dict[str, str]]], new: dict[str, list[dict[str, str]]]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kept = {p: c for p, c in new.items() if old.get(p) == c}
        delta = {p: c for p, c in new.items() if p not in kept}
        (folder / "a").mkdir()
        (folder / "b").mkdir()
        incremental = open_tree(folder / "a", [(old, set(old) - set(kept)), (delta, set())])
        fresh = open_tree(folder / "b", [(new, set())])
        assert scores_by_path(incremental) == scores_by_path(fresh)
        assert incremental.n_live_chunks == fresh.n_live_chunks == fresh.n_chunks
        assert incremental.average_lengths.tolist() == fresh.average_lengths.tolist()
        for term in TERMS:
            counts = [
                score_chunks(index, [(term, 1.0)]).terms[0].document_frequency
                for index in (incremental, fresh)
            ]
            assert counts[0] == counts[1]
        for word in WORDS:
            assert _defined(incremental, word) == _defined(fresh, word)


def _defined(index: TreeIndex, name: str) -> list[tuple[str, int, str]]:
    return sorted(
        (
            index.path(found.file),
            found.chunk - int(index.chunk_offsets[found.file]),
            found.definition.name,
        )
        for found in _named(index, name, ignore_case=True)
    )


def _named(index: TreeIndex, name: str, *, ignore_case: bool = False) -> list[FoundDefinition]:
    return [
        found
        for file in index.defining_files(name, ignore_case=ignore_case).tolist()
        for found in index.definitions_of(file, name, ignore_case=ignore_case)
    ]


SHOP = {
    "shop/cart.py": [{"names": "Cart"}, {"names": "apply total", "enclosing": "Cart"}],
    "shop/empty.py": [],
    "tests/cart.py": [{"names": "cart"}],
}


def test_files_chunks_and_definitions_have_global_ordinals(tmp_path: Path) -> None:
    index = open_tree(tmp_path, [(SHOP, {"tests/cart.py"}), ({"tests/cart.py": [{}]}, set())])
    assert (index.n_files, index.n_live_files, index.n_chunks, index.n_live_chunks) == (4, 3, 4, 3)
    assert index.find("tests/cart.py") == 3
    assert index.find("nowhere.py") is None
    file = index.file(0)
    assert (file.path, file.first_chunk, file.end_chunk, file.n_definitions) == (
        "shop/cart.py",
        0,
        2,
        3,
    )
    assert index.chunk(1).names == ("apply", "total")
    assert [d.definition.name for d in index.definitions_in(0)] == ["Cart", "apply", "total"]
    assert [(d.file, d.chunk) for d in _named(index, "total")] == [(0, 1)]
    # The other definition of that name is in a dead file.
    assert [d.file for d in _named(index, "cart", ignore_case=True)] == [0]
    assert _named(index, "cart") == []


def test_chunks_of_a_kind_are_those_where_such_a_symbol_begins(tmp_path: Path) -> None:
    index = open_tree(tmp_path, [(SHOP, set()), ({"z.py": [{}, {"names": "z"}]}, set())])
    assert index.chunks_of_kinds(frozenset({"function"})).tolist() == [
        True,
        True,
        True,
        False,
        True,
    ]
    assert not index.chunks_of_kinds(frozenset({"class"})).any()


def test_the_nearest_chunks_are_live_ones(tmp_path: Path) -> None:
    index = open_tree(tmp_path, [(SHOP, {"shop/cart.py"})])
    cosines = index.similarity(np.array([1, 0, 0, 0], np.float32))
    assert np.flatnonzero(cosines).tolist() == [2]
    assert np.isfinite(cosines).all()
    assert np.isclose(np.linalg.norm(index.vector(2)), 1, atol=1e-5) or index.vector(2).any()


def test_an_index_of_no_segments_answers_with_nothing() -> None:
    index = TreeIndex([])
    assert index.n_files == index.n_chunks == index.n_live_chunks == 0
    assert score_chunks(index, [("cart", 1.0)]).chunks.shape == (0,)
    assert _named(index, "cart") == []
    assert index.similarity(np.ones(4, np.float32)).shape == (0,)
    assert score_chunks(index, [("cart", 1.0)]).terms[0].document_frequency == 0


def test_marks_that_do_not_fit_the_segment_are_refused(tmp_path: Path) -> None:
    write_segment(tmp_path / "s", [(source_file("a.py"), make_record([{}]))])
    with pytest.raises(CorruptIndexError):
        TreeIndex([(Segment.open(tmp_path / "s"), np.zeros(2, np.bool_))])
