"""What holds of `parse` for any bytes in any language."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wherein.parse import grammars
from wherein.parse.tags import DEFINITION_KINDS, REFERENCE_KINDS, can_parse, parse
from wherein.types import Parsed

LANGUAGES = sorted(
    grammars.query_languages() | {"json", "jupyter", "markdown", "rst", "toml", "vue", "yaml"}
)
FRAGMENTS = (
    *(b"def f(x):\n", b"  return g(x)\n", b"class A {\n", b"}\n", b"{", b"}", b"(", b")", b"\r\n"),
    *(b"# note\n", b"/* c */", b"// c\n", b'"""d"""\n', b"import a.b\n", b"func (t *T) M() {\n"),
    *(
        b"\t",
        b"  ",
        b"\n\n",
        b"x = 1\n",
        b"\xff\xfe",
        "ключ".encode(),
        b"\0",
        b"=== \n",
        b"- a: 1\n",
    ),
    *(b"impl A for B {\n", b"<script>\n", b"</script>\n", b"template <class T>\n", b"A::b() {}\n"),
    *(b"end\n", b"| ", b";", b"'", b'"', b"\\", b"[t]\n", b"Title\n-----\n", b"## h\n", b"```\n"),
)
texts = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), max_size=40).map(b"".join), st.binary(max_size=300)
)


def check(text: bytes, parsed: Parsed) -> None:
    """Assert that every offset, line and order in ``parsed`` agrees with ``text``."""
    n_lines = text.count(b"\n") + 1
    for item in parsed.definitions:
        assert item.kind in DEFINITION_KINDS
        assert item.name
        assert "\n" not in item.signature
        assert len(item.signature) <= 200
        assert 0 <= item.start_byte <= item.end_byte <= len(text)
        assert item.start_line == text.count(b"\n", 0, item.start_byte) + 1
        assert item.start_line <= item.name_line <= max(item.end_line, item.name_line) <= n_lines
    starts = [item.start_byte for item in parsed.definitions]
    assert starts == sorted(starts)
    assert all(use.kind in REFERENCE_KINDS and use.name for use in parsed.references)
    lines = [use.line for use in parsed.references]
    assert lines == sorted(lines)
    assert all(1 <= line <= n_lines for line in lines)
    assert all(item.module and 1 <= item.line <= n_lines for item in parsed.imports)
    edges = [offset for span in parsed.comments for offset in span]
    assert edges == sorted(edges)
    assert all(0 <= offset <= len(text) for offset in edges)
    assert list(parsed.cuts) == sorted(set(parsed.cuts))
    assert len(parsed.cut_depths) == len(parsed.cuts)
    assert all(0 < offset < len(text) for offset in parsed.cuts)


@settings(derandomize=True, max_examples=250, deadline=None)
@given(text=texts, language=st.sampled_from(LANGUAGES))
def test_any_bytes_give_offsets_and_lines_that_agree_with_them(text: bytes, language: str) -> None:
    parsed = parse(text, language)
    check(text, parsed)
    assert parse(text, language) == parsed


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_empty_file_holds_nothing(language: str) -> None:
    parsed = parse(b"", language)
    assert (parsed.definitions, parsed.references, parsed.imports) == ((), (), ())
    assert parsed.cuts == ()


@pytest.mark.parametrize("language", [None, "no_such_language", "html"])
def test_a_language_without_a_query_gives_an_empty_answer(language: str | None) -> None:
    assert not can_parse(language)
    assert parse(b"def f(): pass", language) == Parsed((), (), (), (), (), ())


@pytest.mark.parametrize("language", ["python", "go", "ruby", "markdown", "yaml"])
def test_windows_line_ends_change_no_name_and_no_line(language: str) -> None:
    source = {
        "python": b"# a\nclass A:\n    def f(self):\n        return g(1)\n\nimport os\n",
        "go": b"package a\n\n// F does.\nfunc F(x int) {\n\tg(x)\n}\n",
        "ruby": b"require 'x'\n# A.\nclass A\n  def f(x)\n    g(x)\n  end\nend\n",
        "markdown": b"# A\n\ntext\n\n## B\n\n```\n# no\n```\n\nC\n---\n",
        "yaml": b"a:\n  b: 1\nc: 2\n",
    }[language]
    plain, windows = parse(source, language), parse(source.replace(b"\n", b"\r\n"), language)

    def shape(parsed: Parsed) -> list[tuple[object, ...]]:
        return [(d.name, d.kind, d.enclosing, d.name_line, d.signature) for d in parsed.definitions]

    assert shape(windows) == shape(plain)
    assert windows.references == plain.references
    assert windows.imports == plain.imports


def test_a_name_of_seventy_thousand_characters_is_left_out() -> None:
    long = b"a" * 70_000
    parsed = parse(b"def " + long + b"(): pass\n\ndef short(): return " + long + b"()\n", "python")
    assert [item.name for item in parsed.definitions] == ["short"]
    assert parsed.references == ()


@pytest.mark.parametrize(
    "language", ["python", "javascript", "typescript", "go", "c", "java", "rust"]
)
@pytest.mark.parametrize(
    "text",
    [
        b"{" * 100_000 + b"}" * 100_000,
        b"{" * 100_000,
        b"(" * 100_000,
        b"[" * 50_000 + b"]" * 50_000,
    ],
    ids=["closed braces", "open braces", "open brackets", "lists"],
)
def test_a_hundred_thousand_brackets_end_soon_and_crash_nothing(language: str, text: bytes) -> None:
    parsed = parse(text, language)
    check(text, parsed)


@pytest.mark.parametrize(
    ("language", "start", "dense", "end"),
    [
        ("python", b"D = [", b"1,", b"]\ndef f():\n    pass\n"),
        ("javascript", b"", b"a=1;", b"\nfunction f() {}\n"),
        ("go", b"package p\nvar d = []byte{\n", b"1,2,3,4,\n", b"}\nfunc f() {}\n"),
        ("rust", b"const D: [u8; 9] = [\n", b"1,2,3,4,\n", b"];\nfn f() {}\n"),
        ("java", b"class A { int[] d = {\n", b"1,2,3,4,\n", b"};\n void f() {}\n}\n"),
    ],
)
def test_a_table_of_short_values_does_not_hide_what_stands_round_it(
    language: str, start: bytes, dense: bytes, end: bytes
) -> None:
    parsed = parse(start + dense * (250_000 // len(dense)) + end, language)
    assert not parsed.is_partial
    assert "f" in [item.name for item in parsed.definitions]


def test_a_line_that_a_scanner_could_hang_on_is_not_parsed() -> None:
    parsed = parse(b"fun f() {}\n" + b"/*" * 20_000, "kotlin")
    assert parsed.is_partial
    assert parsed.definitions == ()


def test_what_stands_round_broken_code_is_found() -> None:
    text = b"def before(): pass\n\n)))) ((( class\n\ndef after():\n    return before()\n"
    parsed = parse(text, "python")
    assert parsed.is_partial
    assert "before" in {item.name for item in parsed.definitions}


def test_a_file_of_imports_only_is_a_barrel() -> None:
    parsed = parse(b"export { a } from './a';\nexport * from './b';\n", "typescript")
    assert parsed.definitions == ()
    assert [(item.module, item.names) for item in parsed.imports] == [
        ("./a", ("a",)),
        ("./b", ("*",)),
    ]


def test_two_definitions_of_one_name_are_both_kept() -> None:
    parsed = parse(b"def f(): pass\n\ndef f(): pass\n", "python")
    assert [item.name_line for item in parsed.definitions] == [1, 3]


def test_the_script_of_a_component_keeps_its_place() -> None:
    text = b"<template>\n<p>{{ x }}</p>\n</template>\n<script>\nfunction f() {}\n</script>\n"
    (found,) = parse(text, "svelte").definitions
    assert (found.name, found.name_line) == ("f", 5)
    assert text[found.start_byte : found.end_byte] == b"function f() {}"
