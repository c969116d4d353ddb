"""Chunks concatenate to the file, keep their size, and follow its syntax."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wherein.chunk.chunker import chunk_file
from wherein.chunk.sizes import count_ink
from wherein.parse.tags import parse
from wherein.types import Chunk

FRAGMENTS = (
    *(
        b"def f(x):\n",
        b"    return g(x)\n",
        b"class A:\n",
        b"{\n",
        b"}\n",
        b"x = 1\n",
        b"\n\n",
        b"\r\n",
    ),
    *(
        b"# note\n",
        b'"""doc"""\n',
        "значение = 2\n".encode(),
        b"word " * 30,
        b"\xe6\x97\xa5" * 40,
        b"\xff",
    ),
    *(
        b"# Title\n",
        b"## Sub\n",
        b"Text.\n\n",
        b"function f() {\n",
        b"(" * 20,
        b"a: 1\n",
        b"  b: 2\n",
    ),
)
texts = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), max_size=60).map(b"".join), st.binary(max_size=400)
)
LANGUAGES = (None, "python", "javascript", "c", "markdown", "yaml", "json", "vue")


def chunks_of(text: bytes, language: str | None, chunk_chars: int = 1500) -> tuple[Chunk, ...]:
    return chunk_file(text, language, parse(text, language), chunk_chars)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(
    text=texts,
    language=st.sampled_from(LANGUAGES),
    chunk_chars=st.sampled_from((1, 7, 40, 200, 1500)),
)
def test_chunks_are_the_file_in_pieces_of_bounded_size(
    text: bytes, language: str | None, chunk_chars: int
) -> None:
    chunks = chunks_of(text, language, chunk_chars)
    assert b"".join(text[c.start_byte : c.end_byte] for c in chunks) == text
    for chunk in chunks:
        assert chunk.start_byte < chunk.end_byte
        assert count_ink(text[chunk.start_byte : chunk.end_byte]) <= chunk_chars
        assert chunk.start_line == text.count(b"\n", 0, chunk.start_byte) + 1
        assert chunk.end_line == text.count(b"\n", 0, chunk.end_byte - 1) + 1
    assert chunks_of(text, language, chunk_chars) == chunks


@settings(derandomize=True, max_examples=60, deadline=None)
@given(text=texts)
def test_characters_of_valid_text_are_never_cut_apart(text: bytes) -> None:
    text = text.decode("utf-8", "replace").encode()
    for chunk in chunks_of(text, None, 5):
        text[chunk.start_byte : chunk.end_byte].decode("utf-8")


def test_an_empty_file_has_no_chunk() -> None:
    assert chunks_of(b"", "python") == ()
    assert chunks_of(b"", None) == ()


def body(name: str, n: int = 30, indent: int = 4) -> str:
    return "".join(f"{' ' * indent}{name}_value_{i} = compute({i})\n" for i in range(n))


def test_a_function_with_the_comments_above_it_is_one_chunk_where_it_fits() -> None:
    text = f"import os\n\n# About a.\n@cache\ndef a(x):\n{body('a')}\n\n"
    text += f"# About b.\ndef b():\n{body('b')}"
    chunks = chunks_of(text.encode(), "python")
    assert [(c.symbol, c.kind, c.names) for c in chunks] == [
        ("a", "function", ("a",)),
        ("b", "function", ("b",)),
    ]
    assert text.encode()[chunks[1].start_byte :].startswith(b"# About b.")


def test_small_neighbours_are_joined() -> None:
    text = "".join(f"def small_{i}():\n    return {i}\n\n\n" for i in range(6))
    (chunk,) = chunks_of(text.encode(), "python")
    assert chunk.names == tuple(f"small_{i}" for i in range(6))


def test_the_head_of_a_large_class_stands_apart_from_its_methods() -> None:
    methods = "".join(f"    def method_{i}(self):\n{body('m', 20, 8)}\n" for i in range(4))
    doc = "    " + "Explains the class at some length. " * 4
    text = f'class Large(Base):\n    """\n{doc}\n    """\n\n    limit = 10\n\n{methods}'
    chunks = chunks_of(text.encode(), "python")
    assert chunks[0].symbol == "Large"
    assert chunks[0].names == ("Large", "limit")
    assert [(c.symbol, c.enclosing) for c in chunks[1:]] == [
        (f"method_{i}", ("Large",)) for i in range(4)
    ]


def test_a_piece_of_a_long_function_knows_the_function() -> None:
    text = f"class A:\n    def long(self):\n{body('x', 200, 8)}"
    chunks = chunks_of(text.encode(), "python", 500)
    assert len(chunks) > 3
    assert {(c.symbol, c.enclosing) for c in chunks[1:]} == {("long", ("A",))}
    assert all(c.names == () for c in chunks[1:])


def test_prose_is_cut_at_headings_and_knows_the_headings_above() -> None:
    words = "Some words on this matter. " * 20
    parts = ("# Guide", words, "## Set up", words, "### Ports", words, "# Other", words)
    text = "\n\n".join(parts) + "\n"
    chunks = chunks_of(text.encode(), "markdown", 500)
    assert [(c.kind, c.symbol, c.enclosing) for c in chunks] == [
        ("section", "Guide", ()),
        ("section", "Set up", ("Guide",)),
        ("section", "Ports", ("Guide", "Set up")),
        ("section", "Other", ()),
    ]


def test_text_without_a_grammar_is_cut_at_paragraphs() -> None:
    paragraph = "Plain words in a row.\n" * 12
    text = "\n".join([paragraph] * 5)
    chunks = chunks_of(text.encode(), None, 250)
    assert [c.kind for c in chunks] == ["text"] * 5
    assert all(text.encode()[c.start_byte :].startswith(b"Plain") for c in chunks)


@pytest.mark.parametrize("language", ["javascript", None])
def test_minified_code_on_one_line_is_cut(language: str | None) -> None:
    text = ";".join(
        f"function f{i}(a,b){{return a+b+{i}*call(a,'x')}}" for i in range(400)
    ).encode()
    chunks = chunks_of(text, language)
    assert len(chunks) > 5
    assert all(count_ink(text[c.start_byte : c.end_byte]) <= 1500 for c in chunks)
