import dataclasses
from pathlib import Path

import numpy as np
import pytest
from tests.search.trees import Tree, indexed_file

from wherein.embed.bundled import BundledEmbedder
from wherein.errors import QueryError
from wherein.search import finding
from wherein.search.equipment import Equipment
from wherein.search.pipeline import explain_features, search
from wherein.search.query import Query, understand
from wherein.search.rank import Weights, WeightSet, bundled_weights
from wherein.search.retrievers import (
    MAX_CANDIDATES,
    MAX_TERMS,
    Retrieved,
    best_files,
    lexical_scores,
)
from wherein.search.signals import SIGNALS
from wherein.store.segment import Segment
from wherein.store.segment_writing import write_segment
from wherein.store.tree_index import TreeIndex
from wherein.types import Answer, Evidence

FILES = {
    "shop/cart.py": (
        "class Cart:\n    '''Holds what the customer buys.'''\n\n"
        "    def total(self, tax_rate):\n        return sum(self.prices) * (1 + tax_rate)\n\n"
        "    def add_item(self, item):\n        self.items.append(item)\n"
    ),
    "shop/tax.py": "RATES = {'de': 0.19}\n\n\ndef tax_rate(country):\n    return RATES[country]\n",
    "shop/__init__.py": "from shop.cart import Cart\nfrom shop.tax import tax_rate\n",
    "net/retry.py": "def retry(call, attempts):\n    for attempt in range(attempts):\n      call()",
    "legacy/cart.py": (
        "class Cart:\n    '''Holds what the customer buys.'''\n\n"
        "    def total(self, tax_rate):\n        return self.amount + self.amount * tax_rate\n"
    ),
    "tests/test_cart.py": "def test_total():\n    assert Cart().total(0.1) == 0\n",
    "README.md": "# Shop\n\nHow the cart adds up its total with the tax rate.\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path, FILES, BundledEmbedder())


def test_a_hits_signals_sum_to_its_score(tree: Tree) -> None:
    for query in ("cart total with tax", "Cart.total", "retry", "tax_rate", "shop/tax.py"):
        answer = tree.search(query)
        assert answer.hits
        for hit in answer.hits:
            assert sum(hit.signals.values()) == pytest.approx(hit.score, abs=1e-5)
            assert set(hit.signals) <= set(SIGNALS)


def test_hits_come_by_falling_score_with_ranks_from_one(tree: Tree) -> None:
    hits = tree.search("cart total").hits
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len({hit.path for hit in hits}) == len(hits)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("tax_rate", "shop/tax.py"),
        ("Cart.add_item", "shop/cart.py"),
        ("where is the cart total computed", "shop/cart.py"),
        ("retry attempts", "net/retry.py"),
        ("shop/tax.py", "shop/tax.py"),
        ('File "/usr/lib/shop/tax.py", line 5, in tax_rate', "shop/tax.py"),
    ],
)
def test_the_right_file_is_first(tree: Tree, query: str, path: str) -> None:
    assert tree.paths(query)[0] == path


def test_the_definition_named_is_the_place_shown(tree: Tree) -> None:
    hit = tree.search("Cart.total").hits[0]
    assert (hit.path, hit.symbol, hit.start_line) == ("shop/cart.py", "total", 4)


def test_an_unknown_word_is_named_and_alone_gives_nothing(tree: Tree) -> None:
    answer = tree.search("cart quasiparticle")
    assert any("'quasiparticle'" in note for note in answer.notes)
    nothing = search(tree.index, "quasiparticle")
    assert nothing.hits == ()
    assert nothing.evidence is Evidence.WEAK
    assert nothing.probability == 0


def test_an_answer_without_the_rarest_word_is_weak(tmp_path: Path) -> None:
    files = {f"f{i}.py": f"value_{i} = compute({i})\n" for i in range(30)}
    tree = Tree(tmp_path, {**files, "rare.md": "# Zebra\n\nA zebra.\n"})
    answer = tree.search("compute zebra", content=("code",))
    assert answer.hits
    assert answer.evidence is Evidence.WEAK


def test_a_whole_quoted_text_leaves_no_note_and_a_missing_one_does(tree: Tree) -> None:
    assert tree.search('"for attempt in range"').notes == ()
    assert any("partial" in note for note in tree.search('"for attempt in ranges of it"').notes)


def test_a_quoted_text_finds_its_file_and_its_line(tree: Tree) -> None:
    hit = tree.search('"self.items.append(item)"').hits[0]
    assert hit.path == "shop/cart.py"
    assert hit.matched_lines[0] == 8


def test_a_huge_query_looks_up_a_bounded_number_of_terms(tree: Tree) -> None:
    text = " ".join(f"noise{i}" for i in range(20_000)) + " tax_rate"
    assert len(text) > 100_000
    query = understand("tax_rate country " + text)
    assert len(lexical_scores(tree.index, query).terms) == MAX_TERMS
    answer = tree.search("tax_rate country " + text)
    assert answer.hits[0].path == "shop/tax.py"
    assert any("very long" in note for note in answer.notes)


def test_an_empty_query_is_refused(tree: Tree) -> None:
    with pytest.raises(QueryError):
        tree.search("  ")


def test_an_empty_index_answers_with_nothing() -> None:
    answer = search(TreeIndex([]), "cart", Equipment(embedder=BundledEmbedder()))
    assert answer.hits == ()


def test_it_works_without_vectors_and_without_text(tree: Tree) -> None:
    answer = search(tree.index, "cart total")
    assert answer.hits[0].path == "shop/cart.py"
    assert answer.counters.vectors_compared == 0
    assert answer.hits[0].matched_lines == ()


def test_postings_and_vectors_are_counted(tree: Tree) -> None:
    counters = tree.search("cart").counters
    postings = tree.index.postings("cart")
    assert counters.postings_read == len(postings.chunks) + len(postings.files)
    assert counters.vectors_compared == tree.index.n_chunks


def test_no_more_than_the_candidates_are_ranked(tmp_path: Path) -> None:
    many = Tree(tmp_path, {f"m{i}.py": f"def merge_{i}():\n    pass\n" for i in range(200)})
    assert many.search("merge", limit=500).counters.files_considered == MAX_CANDIDATES
    assert len(many.search("merge", limit=500).hits) == MAX_CANDIDATES


class LikesOneFile:
    """A source of evidence that knows one file: the seam for history and graph."""

    name = "history"
    signal_names = ("h_knn",)

    def __init__(self, path: str) -> None:
        self.path = path

    def retrieve(self, index: TreeIndex, query: Query) -> Retrieved:
        file = index.find(self.path)
        files = [] if file is None else [file]
        return Retrieved(np.array(files, np.int64), np.ones(len(files), np.float32))

    def signals(self, index: TreeIndex, query: Query, files: np.ndarray) -> np.ndarray:
        return (files == index.find(self.path)).astype(np.float32)[:, None]


def test_a_further_source_brings_a_candidate_and_a_signal(tree: Tree) -> None:
    source = LikesOneFile("net/retry.py")
    weights = Weights(
        1, {"plain": WeightSet({"dens_top3": 1.0}), "history": WeightSet({"h_knn": 5.0})}
    )
    answer = search(tree.index, "cart", Equipment(sources=[source], weights=weights))
    assert answer.hits[0].path == "net/retry.py"
    assert answer.hits[0].signals == {"h_knn": 5.0}


def test_features_have_a_row_for_each_candidate_and_a_finite_number_for_each_signal(
    tree: Tree,
) -> None:
    features = explain_features(
        tree.index,
        "cart total",
        Equipment(embedder=tree.embedder, sources=[LikesOneFile("README.md")]),
    )
    assert features.names == (*SIGNALS, "h_knn")
    assert features.matrix.shape == (len(features.paths), len(features.names))
    assert np.isfinite(features.matrix).all()
    assert [tree.index.path(file) for file in features.files] == list(features.paths)
    assert np.abs(features.matrix).max() <= 1.0001


def test_signals_without_vectors_are_zero(tree: Tree) -> None:
    features = explain_features(tree.index, "cart total")
    columns = [i for i, name in enumerate(features.names) if name.startswith("d_")]
    assert not features.matrix[:, columns].any()


def test_the_weights_that_come_along_name_known_signals_alone() -> None:
    for chosen in bundled_weights().sets.values():
        assert all(name in SIGNALS or name.startswith(("h_", "g_")) for name in chosen.weights)


def test_a_set_of_weights_is_chosen_by_what_there_is() -> None:
    sets = {name: WeightSet({name: 1.0}) for name in ("plain", "vectors", "history")}
    weights = Weights(1, sets)
    assert weights.choose(has_history=False, has_vectors=True) is sets["vectors"]
    assert weights.choose(has_history=True, has_vectors=True) is sets["history"]
    assert weights.choose(has_history=False, has_vectors=False) is sets["plain"]


def as_seen(answer: Answer) -> list[object]:
    return [dataclasses.replace(hit, signals={}) for hit in answer.hits]


def test_a_base_with_a_delta_answers_as_a_fresh_segment(tmp_path: Path) -> None:
    embedder = BundledEmbedder()
    fresh = Tree(tmp_path, FILES, embedder)
    equipment = Equipment(embedder=embedder, read_text=fresh.read)
    old = {**FILES, "shop/tax.py": "def vat():\n    return tax_rate\n", "gone.py": "cart = total\n"}
    base = [indexed_file(p, t.encode(), tmp_path, embedder) for p, t in old.items()]
    write_segment(tmp_path / "base", base)
    delta = [indexed_file("shop/tax.py", FILES["shop/tax.py"].encode(), tmp_path, embedder)]
    write_segment(tmp_path / "delta", delta)
    segment = Segment.open(tmp_path / "base")
    dead = np.array([path in ("shop/tax.py", "gone.py") for path in segment.paths], np.bool_)
    index = TreeIndex([(segment, dead), (Segment.open(tmp_path / "delta"), None)])
    for query in (
        "cart total",
        "tax rate",
        "tax_rate",
        "Cart",
        "retry attempts",
        "how is it added",
    ):
        expected = search(fresh.index, query, equipment)
        found = search(index, query, equipment)
        assert as_seen(found) == as_seen(expected)
        assert found.evidence == expected.evidence
        assert found.probability == expected.probability


@pytest.mark.parametrize("n_segments", [1, 3])
def test_equal_files_come_by_path_however_they_are_stored(tmp_path: Path, n_segments: int) -> None:
    paths = [f"{letter}.py" for letter in "gcaebfd"]
    segments: list[tuple[Segment, None]] = []
    for part in range(n_segments):
        files = [indexed_file(p, b"x = 1\n", tmp_path, None) for p in paths[part::n_segments]]
        write_segment(tmp_path / str(part), files)
        segments.append((Segment.open(tmp_path / str(part)), None))
    index = TreeIndex(segments)
    found = best_files(index, np.ones(index.n_files), 4)
    assert [index.path(int(file)) for file in found.files] == ["a.py", "b.py", "c.py", "d.py"]
    assert len(best_files(index, np.zeros(index.n_files), 4).files) == 0


def test_a_name_of_which_only_parts_are_known_is_said_and_weak(tree: Tree) -> None:
    guess = search(tree.index, "total_customer_rate", Equipment(read_text=tree.read))
    among_words = search(tree.index, "where is total_customer_rate used by the cart")
    known = search(tree.index, "taxRate", Equipment(read_text=tree.read))

    said = "in no indexed file as written, only in parts: 'total_customer_rate'"
    assert said in guess.notes
    assert said in among_words.notes
    assert guess.hits
    assert {hit.evidence for hit in guess.hits} == {Evidence.WEAK} == {guess.evidence}
    assert known.notes == ()
    assert known.evidence is not Evidence.WEAK


def test_a_tree_without_files_says_so_instead_of_blaming_the_words(tmp_path: Path) -> None:
    answer = search(Tree(tmp_path, {}, BundledEmbedder()).index, "cart total")

    assert answer.hits == ()
    assert len(answer.notes) == 1
    assert answer.notes[0].startswith("no file is indexed")


def test_a_quoted_sentence_comes_first_whatever_else_the_words_fit(tmp_path: Path) -> None:
    files = {
        "errors.py": 'TEXT = "the lamp is out of oil, fill it first"\n' + "a = 1\n" * 400,
        "lamp/oil.py": "def fill_oil(lamp, oil):\n    # lamp oil, fill lamp, oil is out\n",
        "lamp/fill.py": "def first_fill(lamp):\n    # fill the lamp first: oil, oil, oil\n",
    }
    tree = Tree(tmp_path, files)
    assert tree.search("the lamp is out of oil fill it first").hits[0].path != "errors.py"
    assert tree.search('"the lamp is out of oil, fill it first"').hits[0].path == "errors.py"


def test_a_message_that_stands_there_whole_beats_a_part_of_it(tmp_path: Path) -> None:
    message = "cannot open the lamp: error 7 of the valve"
    files = {
        "part.py": 'def open_lamp():\n    raise Error("cannot open the lamp: error %d")\n',
        "whole.py": f'OTHER = 1\nTEXT = "{message}"\n',
    }
    assert Tree(tmp_path, files).search(message).hits[0].path == "whole.py"


def test_words_and_vectors_looked_up_at_once_give_the_same_answer(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = ("cart total with tax", "Cart.total", "where is the tax rate kept", "retry")
    before = [tree.search(query) for query in queries]
    monkeypatch.setattr(finding, "MIN_CHUNKS_AT_ONCE", 0)
    assert [tree.search(query) for query in queries] == before
