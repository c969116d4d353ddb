"""Which symbols a file uses, each with what is written before it."""

from __future__ import annotations

import re

from wherein.parse.spans import MAX_NAME_BYTES, Source, Span
from wherein.parse.words import IMPORT_CALLS, PASSED_OVER, PLAIN_TYPES
from wherein.types import Reference

__all__ = ["REFERENCE_KINDS", "find_references"]

REFERENCE_KINDS = ("inherit", "call", "type", "read")
"""Kinds of references, most telling first: a name is kept once a line, under the first kind."""

_MAX_REFERENCES = 100_000
_RECEIVER = re.compile(rb"([A-Za-z_$@\x80-\xff][\w$\x80-\xff]*)[)\]!?]*\s*(?:\.|::|->|:)\Z")
_RECEIVER_BYTES = 60
_LINKS = frozenset(b".:>")
_IMPORT_BYTES = 200


def find_references(
    source: Source, language: str, spans: dict[str, list[Span]]
) -> tuple[tuple[Reference, ...], list[Span]]:
    """Return the references by line, once a line each, and the calls that import (``require``)."""
    text = source.text
    import_calls = IMPORT_CALLS.get(language, frozenset[str]())
    passed_over = PASSED_OVER.get(language, frozenset[str]())
    defined_ends = {end for name in ("name", "qualified") for _, end in spans.get(name, ())}
    imports: list[Span] = []
    found: dict[tuple[int, str], tuple[str, str]] = {}
    for kind in REFERENCE_KINDS:
        for start, end in spans.get(f"r.{kind}", ()):
            if end - start > MAX_NAME_BYTES or end in defined_ends:
                continue
            name = text[start:end].decode("utf-8", "replace").strip("\"'`")
            if kind == "type" and name in PLAIN_TYPES:
                continue
            qualifier = _receiver(text, start) if start and text[start - 1] in _LINKS else ""
            if name in import_calls and not qualifier:
                imports.append((start, min(len(text), end + _IMPORT_BYTES)))
            if name in passed_over:
                continue
            found.setdefault((source.line_of(start), name), (kind, qualifier))
    ordered = sorted(found.items())[:_MAX_REFERENCES]
    references = tuple(
        Reference(name, kind, line, qualifier) for (line, name), (kind, qualifier) in ordered
    )
    return references, imports


def _receiver(text: bytes, start: int) -> str:
    match = _RECEIVER.search(text, max(0, start - _RECEIVER_BYTES), start)
    return match.group(1).decode("utf-8", "replace") if match else ""
