"""Notebooks are indexed by their cells' sources, each line where it stands in the file."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search.trees import Tree

from wherein.parse.notebook import cell_sources, is_python
from wherein.parse.tags import parse

CELLS: list[dict[str, object]] = [
    {"cell_type": "markdown", "source": ["# Why customers leave\n", "We look at *churn*."]},
    {
        "cell_type": "code",
        "outputs": [
            {"data": {"image/png": "iVBOR" + "QmFzZTY0" * 2000}},
            {"text": ["row 17 of the table\n"]},
        ],
        "source": ["%matplotlib inline\n", "def load(path):\n", '    """Größe \\"x\\"."""\n'],
    },
    {"cell_type": "code", "source": "class Model:\n    pass"},
]


def notebook(language: str = "python", indent: int | None = 1) -> bytes:
    meta = {"kernelspec": {"language": language}, "language_info": {"name": language}}
    return json.dumps({"cells": CELLS, "metadata": meta}, indent=indent).encode()


def test_sources_keep_their_lines_and_outputs_are_gone() -> None:
    raw = notebook()
    shown = cell_sources(raw)
    assert len(shown) == len(raw)
    lines = shown.decode().split("\n")
    assert [line.strip() for line in lines if line.strip()] == [
        "# # Why customers leave",
        "# We look at *churn*.",
        "#matplotlib inline",
        "def load(path):",
        '"""Größe \\"x\\"."""',
        "class Model:     pass",
    ]
    at = lines.index(next(line for line in lines if line.startswith("def load(path):")))
    assert "def load(path):" in raw.decode().split("\n")[at]


def test_definitions_of_the_cells_stand_where_the_file_has_them() -> None:
    raw = notebook()
    found = {item.name: item for item in parse(raw, "jupyter").definitions}
    line = raw[: raw.index(b"def load")].count(b"\n") + 1
    assert (found["load"].kind, found["load"].name_line) == ("function", line)
    assert found["load"].signature == "def load(path)"
    assert parse(notebook("R"), "jupyter").definitions == ()


def test_the_language_is_pythons_unless_the_notebook_says_otherwise() -> None:
    assert is_python(notebook())
    assert is_python(b'{"cells": []}')
    assert not is_python(notebook("julia"))
    nested = {"language_info": {"codemirror_mode": {"name": "x"}, "name": "R"}}
    assert not is_python(
        json.dumps({"metadata": {"kernelspec": {"language": "R"}, **nested}}).encode()
    )


PARTS = (
    *(b'"cell_type": "code"', b'"cell_type": "markdown"', b'"source": [', b'"a\\n",', b"]"),
    *(b'"source": "b"', b"{", b"}", b'"', b"\\", b"%x", b"\n", b"\r\n", b"\xc3\xbc", b"\xff"),
)


@given(st.lists(st.sampled_from(PARTS), max_size=40).map(b"".join))
@settings(derandomize=True, max_examples=300, deadline=None)
def test_any_text_keeps_its_length_and_its_line_ends(text: bytes) -> None:
    shown = cell_sources(text)
    assert len(shown) == len(text)
    assert [i for i, b in enumerate(shown) if b == 10] == [i for i, b in enumerate(text) if b == 10]


@pytest.mark.parametrize("indent", [1, None])
def test_a_search_finds_sources_and_not_outputs(tmp_path: Path, indent: int | None) -> None:
    tree = Tree(tmp_path, {"churn.ipynb": notebook(indent=indent), "a.py": "x = 1\n"})
    assert tree.search("why customers leave").hits[0].path == "churn.ipynb"
    assert tree.search("QmFzZTY0").hits == ()
    assert tree.search("row of the table").hits == ()
    hit = tree.search("load").hits[0]
    assert (hit.path, hit.language) == ("churn.ipynb", "jupyter")
    assert (hit.symbol == "load") is (indent is not None)
