"""Which symbols a file uses, each with what is written before it."""

from __future__ import annotations

import re

from wherein.parse.spans import MAX_NAME_BYTES, Source, Span
from wherein.types import Reference

__all__ = ["REFERENCE_KINDS", "find_references"]

REFERENCE_KINDS = ("inherit", "call", "type", "read")
"""Kinds of references, most telling first: a name is kept once a line, under the first kind."""

_MAX_REFERENCES = 100_000
_RECEIVER = re.compile(rb"([A-Za-z_$@\x80-\xff][\w$\x80-\xff]*)[)\]!?]*\s*(?:\.|::|->|:)\Z")
_RECEIVER_BYTES = 60
_LINKS = frozenset(b".:>")
_IMPORT_CALLS: dict[str, frozenset[str]] = {
    "javascript": frozenset({"require", "import"}),
    "typescript": frozenset({"require", "import"}),
    "tsx": frozenset({"require", "import"}),
    "lua": frozenset({"require", "dofile", "loadfile"}),
    "ruby": frozenset({"require", "require_relative", "load", "autoload"}),
    "r": frozenset({"library", "require", "source", "requireNamespace", "box::use"}),
    "groovy": frozenset({"library"}),
}
_IMPORT_BYTES = 200
_PLAIN_TYPES = frozenset(
    (  # noqa: SIM905 - a list would take a page
        "any bool boolean byte char double error float int int8 int16 int32 int64 long never none "
        "null number object rune short size_t str string u8 u16 u32 u64 uint uint8 uint16 uint32 "
        "uint64 uintptr unknown usize void None i8 i16 i32 i64 f32 f64 isize String Int Bool"
    ).split()
)
"""Types that every file uses; a reference to one says nothing."""


def find_references(
    source: Source, language: str, spans: dict[str, list[Span]]
) -> tuple[tuple[Reference, ...], list[Span]]:
    """Return the references by line, once a line each, and the calls that import (``require``)."""
    text = source.text
    import_calls = _IMPORT_CALLS.get(language, frozenset[str]())
    defined = {*spans.get("name", ()), *spans.get("qualified", ())}
    imports: list[Span] = []
    found: dict[tuple[int, str], tuple[str, str]] = {}
    for kind in REFERENCE_KINDS:
        for span in spans.get(f"r.{kind}", ()):
            start, end = span
            if end - start > MAX_NAME_BYTES or span in defined:
                continue
            name = text[start:end].decode("utf-8", "replace")
            if kind == "type" and name in _PLAIN_TYPES:
                continue
            qualifier = _receiver(text, start) if start and text[start - 1] in _LINKS else ""
            if name in import_calls and not qualifier:
                imports.append((start, min(len(text), end + _IMPORT_BYTES)))
            found.setdefault((source.line_of(start), name), (kind, qualifier))
    ordered = sorted(found.items())[:_MAX_REFERENCES]
    references = tuple(
        Reference(name, kind, line, qualifier) for (line, name), (kind, qualifier) in ordered
    )
    return references, imports


def _receiver(text: bytes, start: int) -> str:
    match = _RECEIVER.search(text, max(0, start - _RECEIVER_BYTES), start)
    return match.group(1).decode("utf-8", "replace") if match else ""
