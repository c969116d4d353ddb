"""What each group of signals sees, on a few small trees."""

from pathlib import Path

import numpy as np
import pytest
from tests.search.trees import Tree

from wherein.embed.hashing import HashingEmbedder
from wherein.search.equipment import Equipment
from wherein.search.path_facts import path_facts
from wherein.search.pipeline import Features, explain_features
from wherein.search.signal_groups.aggregation import reciprocal_ranks
from wherein.search.signals import SIGNALS


def signals(tree: Tree, query: str, **arguments: object) -> dict[str, dict[str, float]]:
    """Path to signal to value."""
    found: Features = explain_features(
        tree.index,
        query,
        Equipment(embedder=tree.embedder, read_text=tree.read, **arguments),  # type: ignore[arg-type]
    )
    return {
        path: dict(zip(found.names, map(float, row), strict=True))
        for path, row in zip(found.paths, found.matrix, strict=True)
    }


CODE = {
    "app/order.py": (
        "class Order:\n    def refund(self, amount):\n        '''Pay back to the customer.'''\n"
        "        return amount\n"
    ),
    "app/refund_policy.py": "def check_refund(order):\n    return order.age < 30\n",
    "app/legacy/order.py": "def Order():\n    pass\n\ndef order():\n    pass\n",
    "app/v1/_hidden.py": "order = None\n",
    "app/mail.py": "def send(order):\n    return order\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path, CODE, HashingEmbedder())


def test_every_signal_is_described() -> None:
    assert all(text and ":" in text for text in SIGNALS.values())
    assert len(SIGNALS) == len(set(SIGNALS))


def test_an_exact_definition_is_shared_among_the_files_that_have_it(tree: Tree) -> None:
    seen = signals(tree, "the Order class")
    assert seen["app/order.py"]["ex_cs"] == pytest.approx(2**-0.5)
    assert seen["app/legacy/order.py"]["ex_cs"] == pytest.approx(2**-0.5)
    assert seen["app/mail.py"]["ex_cs"] == 0
    assert seen["app/order.py"]["ex_home"] == 1


def test_a_qualified_name_is_told_from_a_bare_one(tree: Tree) -> None:
    seen = signals(tree, "Order.refund")
    assert seen["app/order.py"]["qualified"] == 1
    assert not any(row["qualified"] for path, row in seen.items() if path != "app/order.py")


def test_a_name_whose_words_are_the_querys_is_likest(tree: Tree) -> None:
    seen = signals(tree, "check refund")
    assert seen["app/refund_policy.py"]["name_f1"] == pytest.approx(1)
    assert 0 < seen["app/order.py"]["name_f1"] < 1
    assert seen["app/refund_policy.py"]["join_names"] == 1
    assert seen["app/order.py"]["join_names"] == 0


def test_the_stem_counts_by_words_by_rarity_and_whole(tree: Tree) -> None:
    row = signals(tree, "refund policies for an order")["app/refund_policy.py"]
    assert row["stem_full"] == row["stem_in_q"] == row["stem_joined"] == row["stem_rare"] == 1
    assert 0.5 < row["stem"] < 1
    half = signals(tree, "refund an order")["app/refund_policy.py"]
    assert (half["stem_full"], half["stem_in_q"], half["stem_joined"]) == (0, 0.5, 0)


def test_a_written_path_agrees_from_its_end(tree: Tree) -> None:
    seen = signals(tree, "error in /srv/app/mail.py")
    assert seen["app/mail.py"]["path_literal"] == 1
    assert signals(tree, "legacy/mail.py")["app/mail.py"]["path_literal"] == 0.5


def test_coverage_is_the_share_of_idf_that_stands_together(tree: Tree) -> None:
    seen = signals(tree, "refund amount unheardof")
    row = seen["app/order.py"]
    assert row["cov_chunk"] == row["cov_file"] == row["cov_all"] == 1  # of what exists at all
    assert seen["app/refund_policy.py"]["cov_chunk"] < 1
    assert row["cov_rarest"] == 1
    assert seen["app/refund_policy.py"]["cov_rarest"] == 0


def test_priors_read_the_path_and_the_content(tree: Tree) -> None:
    seen = signals(tree, "order")
    assert seen["app/legacy/order.py"]["p_legacy"] == 1
    hidden = seen["app/v1/_hidden.py"]
    assert (hidden["p_versioned"], hidden["p_private"]) == (1, 1)
    assert seen["app/order.py"]["p_logdefs"] > seen["app/mail.py"]["p_logdefs"]


@pytest.mark.parametrize(
    ("path", "signal", "asking"),
    [
        ("tests/test_cart.py", "p_test", "test cart"),
        ("docs/cart.md", "p_docs", "cart docs"),
        ("examples/cart.py", "p_example", "cart example"),
    ],
)
def test_what_is_asked_for_is_not_held_against_a_file(
    tmp_path: Path, path: str, signal: str, asking: str
) -> None:
    tree = Tree(tmp_path, {path: "cart example docs test\n"})
    assert signals(tree, "cart")[path][signal] == 1
    assert signals(tree, asking)[path][signal] == 0


def test_texts_word_for_word_are_seen(tree: Tree) -> None:
    seen = signals(tree, '"order.age < 30"')
    assert seen["app/refund_policy.py"]["exact_text"] == 1
    assert seen["app/refund_policy.py"]["phrase"] == 0
    phrase = signals(tree, "Pay back to the customer")["app/order.py"]
    assert (phrase["phrase"], phrase["exact_text"]) == (1, 0)
    message = signals(tree, "failed: pay back to the customer 12345 soon")
    assert 0 < message["app/order.py"]["message_run"] < 1


def test_meaning_is_the_nearest_chunks_cosine(tree: Tree) -> None:
    seen = signals(tree, "refund order")
    assert max(row["d_rel"] for row in seen.values()) == pytest.approx(1)


def test_ranks_are_shared_by_equal_values_and_zero_has_none() -> None:
    values = np.array([0.5, 0.0, 1.0, 0.5, 0.1])
    assert reciprocal_ranks(values).tolist() == pytest.approx([1 / 2, 0, 1, 1 / 2, 1 / 4])


@pytest.mark.parametrize(
    ("path", "facts"),
    [
        ("src/index.ts", {"is_entry"}),
        ("pkg/_impl.py", {"is_private"}),
        ("pkg/__init__.py", {"is_entry"}),
        ("pkg/_internal/a.py", {"is_internal"}),
        ("examples/a.py", {"is_example"}),
        ("src/api/v2/a.py", {"is_versioned"}),
        ("include/a.hpp", {"is_declaration"}),
        ("types/a.d.ts", {"is_declaration"}),
        ("scripts/build.py", {"is_tooling"}),
        ("src/compat.py", {"is_legacy"}),
        ("src/compatible.py", set()),
        ("src/contest.py", set()),
    ],
)
def test_paths_tell_what_they_are(path: str, facts: set[str]) -> None:
    found = path_facts(path)
    names = [name for name in dir(found) if name.startswith("is_")]
    assert {name for name in names if getattr(found, name)} == facts
