"""Each language's sample file against what must be found in it.

``samples/<language>.txt`` is the source, ``expected/<language>.txt`` what `parse` says of it, one
fact a line. To make one anew after a change that is meant, run this file with the language's name.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from wherein.parse import grammars
from wherein.parse.keys import KEYS
from wherein.parse.outline import OUTLINES
from wherein.parse.tags import DEFINITION_KINDS, REFERENCE_KINDS, can_parse, parse

HERE = Path(__file__).parent
LANGUAGES = sorted(path.stem for path in (HERE / "samples").glob("*.txt"))
ASKED_FOR = (
    *("python", "javascript", "typescript", "tsx", "go", "rust", "java", "kotlin", "c", "cpp"),
    *("csharp", "ruby", "php", "swift", "scala", "lua", "bash", "elixir", "haskell", "zig"),
    *("dart", "sql", "hcl", "solidity", "ocaml", "julia", "perl", "r"),
)


def describe(language: str) -> str:
    """Return all that is found in the sample, one fact a line."""
    source = (HERE / "samples" / f"{language}.txt").read_bytes()
    parsed = parse(source, language)
    lines = ["definitions: kind, path, first-last line, line of the name, head"]
    for item in parsed.definitions:
        path = " > ".join((*item.enclosing, item.name))
        lines.append(
            f"  {item.kind} {path} [{item.start_line}-{item.end_line}, {item.name_line}]"
            f" {item.signature}"
        )
    lines.append("references: line, kind, name")
    for use in parsed.references:
        before = f"{use.qualifier} . " if use.qualifier else ""
        lines.append(f"  {use.line} {use.kind} {before}{use.name}")
    lines.append("imports: line, module, names")
    lines += [
        f"  {item.line} {item.module} {' '.join(item.names)}".rstrip() for item in parsed.imports
    ]
    lines.append("comments")
    lines += [f"  {source[a:b].decode().splitlines()[0]}" for a, b in parsed.comments]
    lines.append(f"whole: {not parsed.is_partial}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_sample_of_a_language_gives_what_is_expected_of_it(language: str) -> None:
    assert describe(language) == (HERE / "expected" / f"{language}.txt").read_text(encoding="utf-8")


def test_every_language_users_ask_for_has_a_query_and_a_sample() -> None:
    assert set(ASKED_FOR) <= grammars.query_languages()
    assert set(ASKED_FOR) <= set(LANGUAGES)
    assert all(can_parse(language) for language in LANGUAGES)


@pytest.mark.parametrize("language", sorted(grammars.query_languages()))
def test_every_query_compiles_and_captures_only_what_is_read(language: str) -> None:
    known = {f"d.{kind}" for kind in DEFINITION_KINDS} | {f"r.{kind}" for kind in REFERENCE_KINDS}
    known |= {"name", "qualified", "owner", "scope", "tail", "comment", "doc", "leading", "import"}
    known |= {"inside"}
    for query in filter(None, grammars.queries(language)):
        captures = {query.capture_name(i) for i in range(query.capture_count)}
        assert {name for name in captures if not name.startswith("_")} <= known


def test_a_language_has_one_reader() -> None:
    assert not OUTLINES.keys() & KEYS.keys()
    assert not (OUTLINES.keys() | KEYS.keys()) & grammars.query_languages()


if __name__ == "__main__":
    for name in sys.argv[1:] or LANGUAGES:
        (HERE / "expected" / f"{name}.txt").write_text(describe(name), encoding="utf-8")
