from pathlib import Path

import pytest
from tests.search.trees import Tree

from wherein.errors import PatternError, QueryError
from wherein.search.filters import Filters, masks

FILES = {
    "src/net/retry.py": "class Retry:\n    def call(self):\n        pass\n",
    "src/net/retry.go": "package net\n\nfunc Retry() {}\n",
    "src/b[1].py": "retry = 1\n",
    "tests/test_retry.py": "def test_retry():\n    pass\n",
    "lib/tests/retry_test.go": "package tests\n\nfunc TestRetry() {}\n",
    "docs/retry.md": "# Retry\n\nHow to retry.\n",
    "retry.toml": "retry = 3\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path, FILES)


def chosen(tree: Tree, **filters: object) -> list[str]:
    mask = masks(tree.index, Filters(**filters)).files  # type: ignore[arg-type]
    assert mask is not None
    return [path for path, is_in in zip(tree.index.paths, mask, strict=True) if is_in]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("src", ["src/b[1].py", "src/net/retry.go", "src/net/retry.py"]),
        ("src/net/", ["src/net/retry.go", "src/net/retry.py"]),
        ("src/net/retry.py", ["src/net/retry.py"]),
        ("net", ["src/net/retry.go", "src/net/retry.py"]),
        ("*.go", ["lib/tests/retry_test.go", "src/net/retry.go"]),
        ("src/*.py", ["src/b[1].py"]),
        ("src/**/*.py", ["src/b[1].py", "src/net/retry.py"]),
        ("**/retry.{py,md}", ["docs/retry.md", "src/net/retry.py"]),
        ("src/b[1].py", ["src/b[1].py"]),
        ("src/net/retry.[!g]*", ["src/net/retry.py"]),
        ("tests", ["lib/tests/retry_test.go", "tests/test_retry.py"]),
        ("tests/", ["tests/test_retry.py"]),
        ("retry.py", ["src/net/retry.py"]),
        ("nowhere", []),
        (".", sorted(FILES)),
    ],
)
def test_a_pattern_names_a_folder_a_file_or_a_glob(
    tree: Tree, pattern: str, expected: list[str]
) -> None:
    assert chosen(tree, paths=(pattern,)) == expected


def test_a_pattern_with_a_mark_leaves_out(tree: Tree) -> None:
    assert chosen(tree, paths=("src", "!*.go")) == ["src/b[1].py", "src/net/retry.py"]


@pytest.mark.parametrize("pattern", ["[", "a/[b", "{a,b", "x[a-"])
def test_a_bad_glob_is_refused_with_a_hint(tree: Tree, pattern: str) -> None:
    with pytest.raises(PatternError) as raised:
        chosen(tree, paths=(pattern,))
    assert raised.value.hint


def test_language_content_and_tests_narrow_together(tree: Tree) -> None:
    assert chosen(tree, languages=("golang",)) == ["lib/tests/retry_test.go", "src/net/retry.go"]
    assert chosen(tree, content=("docs",)) == ["docs/retry.md"]
    assert chosen(tree, content=("config",)) == ["retry.toml"]
    assert chosen(tree, tests=True) == ["lib/tests/retry_test.go", "tests/test_retry.py"]
    assert chosen(tree, languages=("go",), tests=False) == ["src/net/retry.go"]
    assert chosen(tree, within="src", changed=frozenset({"src/b[1].py", "retry.toml"})) == [
        "src/b[1].py"
    ]
    assert masks(tree.index, Filters(content=("all",))).files is None


def test_a_kind_of_symbol_restricts_the_chunks(tree: Tree) -> None:
    assert chosen(tree, kinds=("class",)) == ["src/net/retry.py"]
    assert {hit.path for hit in tree.search("retry", kinds=("class",)).hits} == {"src/net/retry.py"}


def test_an_unknown_name_is_refused_with_the_near_one(tree: Tree) -> None:
    for name, value in [("languages", "pyton"), ("kinds", "clas"), ("content", "doc")]:
        with pytest.raises(QueryError) as raised:
            chosen(tree, **{name: (value,)})
        assert "did you mean" in raised.value.hint


def test_a_known_language_that_is_not_here_lets_nothing_through(tree: Tree) -> None:
    assert chosen(tree, languages=("haskell",)) == []


def test_scopes_in_the_query_narrow_and_unknown_ones_are_noted(tree: Tree) -> None:
    assert tree.paths("retry lang:go path:tests") == ["lib/tests/retry_test.go"]
    assert set(tree.paths("retry lang:go")) == {"lib/tests/retry_test.go", "src/net/retry.go"}
    answer = tree.search("retry lang:en")
    assert answer.hits
    assert any("lang 'en'" in note for note in answer.notes)
