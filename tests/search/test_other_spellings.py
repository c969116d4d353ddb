from pathlib import Path

import pytest
from tests.search.trees import Tree

from wherein.search.other_spellings import MAX_UNKNOWN_WORDS, with_other_spellings
from wherein.search.query import Query, understand
from wherein.search.retrievers import lexical_scores

FILES = {
    "print_logger.py": "def print_logger(line):\n    return open_sink(line)\n",
    "palette.py": "def mix_color(red, green):\n    return serialize(red + green)\n",
    "order.py": "def close(order):\n    return order.state\n",
    "print.py": "def print_page(page):\n    return page\n",
    "other.py": "def unrelated(value):\n    return value\n",
    "with.md": "with it or out of it\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path, FILES)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("printlogger", "print_logger.py"),
        ("PRINTLOGGER", "print_logger.py"),
        ("the colours", "palette.py"),
        ("serialised", "palette.py"),
    ],
)
def test_a_word_is_found_in_another_spelling(tree: Tree, query: str, path: str) -> None:
    answer = tree.search(query)
    assert answer.hits[0].path == path
    assert any("looked up as" in note for note in answer.notes)


def respelled(tree: Tree, query: Query) -> tuple[Query, tuple[str, ...]]:
    return with_other_spellings(tree.index, query, lexical_scores(tree.index, query))


def test_a_word_that_stands_somewhere_is_left_as_it_is(tree: Tree) -> None:
    query = understand("serialize color printer")
    changed, notes = respelled(tree, query)
    assert changed is query
    assert not notes


def test_two_words_count_only_where_they_stand_together(tree: Tree) -> None:
    query = understand("ordercolor")
    assert respelled(tree, query) == (query, ())


def test_words_that_only_ask_are_not_taken_apart(tree: Tree) -> None:
    query = understand("mix without print")
    assert respelled(tree, query) == (query, ())


def test_what_is_looked_up_is_bounded(tree: Tree) -> None:
    unknown = [f"notthere{letter}" for letter in "abcdefgh"[:MAX_UNKNOWN_WORDS]]
    assert respelled(tree, understand(" ".join(["colour", *unknown])))[1]
    assert not respelled(tree, understand(" ".join([*unknown, "colour"])))[1]
    longest = understand("colour" * 12)
    assert respelled(tree, longest) == (longest, ())
