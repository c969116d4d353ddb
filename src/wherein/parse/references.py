"""Which symbols a file uses, each with what is written before it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container
from functools import partial

from wherein.parse.spans import MAX_NAME_BYTES, Source, Span
from wherein.parse.words import IMPORT_CALLS, OPEN_SCOPES, PASSED_OVER, PLAIN_TYPES
from wherein.types import Reference

__all__ = ["REFERENCE_KINDS", "find_references"]

REFERENCE_KINDS = ("inherit", "call", "type", "read")
"""Kinds of references, most telling first.

A name is kept once a line, and once more when it stands there again under a more telling kind.
"""

_MAX_REFERENCES = 100_000
_RECEIVER = re.compile(rb"(?:\.\??|::|>-|:)\s*[!?]?([\w$\x80-\xff]+)")
"""What stands before a name, read backwards from it: ``obj.``, ``Module::``, ``p->``. Anchored
there, it costs a third of a search forwards. What a call returned has no name."""

_LINKS = frozenset(b".:>")
_IMPORT_BYTES = 200
_READ = REFERENCE_KINDS.index("read")
_TYPE = REFERENCE_KINDS.index("type")
_NO_RANK = len(REFERENCE_KINDS)
_NO_WORDS = frozenset[str]()
_reference = partial(tuple.__new__, Reference)
"""Makes a `Reference` of a row in a third of the time its constructor takes."""


def find_references(
    source: Source, language: str, spans: dict[str, list[Span]], known: Container[str]
) -> tuple[tuple[Reference, ...], list[Span]]:
    """Return the references by line, once a line each, and the calls that import (``require``).

    Args:
        source: The text.
        language: Grammar name.
        spans: Spans by capture name.
        known: Names that the file defines or imports: where the language has no other way to name
            something of another file, a plain ``read`` of any other name is a local variable's.
    """
    text, newlines = source.text, source.newlines
    import_calls = IMPORT_CALLS.get(language, _NO_WORDS)
    passed_over = PASSED_OVER.get(language, _NO_WORDS)
    special = import_calls | passed_over | PLAIN_TYPES
    links = _LINKS
    is_julia = language == "julia"  # its ``::`` says a type, it does not look one up
    backwards = text[::-1]
    imports: list[Span] = []
    rows: list[tuple[str, str, int, str]] = []
    n_bytes, n_lines, line, line_end = len(text), len(newlines), 0, -1
    best_on_line: dict[str, int] = {}
    for start, rank, end, name in _ordered(
        source, spans, None if language in OPEN_SCOPES else known
    ):
        if start > line_end:
            best_on_line.clear()
            line = bisect_left(newlines, start, line)
            line_end = newlines[line] if line < n_lines else n_bytes
        elif best_on_line.get(name, _NO_RANK) <= rank:
            continue
        qualifier = ""
        if start and text[start - 1] in links and not (is_julia and rank == _TYPE):
            match = _RECEIVER.match(backwards, n_bytes - start)
            if match is not None:
                qualifier = match[1][::-1].decode("utf-8", "replace")
        if name in special:
            if name in import_calls and not qualifier:
                imports.append((start, min(n_bytes, end + _IMPORT_BYTES)))
            if name in passed_over or (rank == _TYPE and name in PLAIN_TYPES):
                continue
        best_on_line[name] = rank
        rows.append((name.strip("\"'`"), REFERENCE_KINDS[rank], line + 1, qualifier))
    return tuple(map(_reference, rows[:_MAX_REFERENCES])), imports


def _ordered(
    source: Source, spans: dict[str, list[Span]], known: Container[str] | None
) -> list[tuple[int, int, int, str]]:
    """Return first byte, rank of the kind, byte after the last, and name of each, in order.

    Args:
        source: The text.
        spans: Spans by capture name.
        known: The only names that a ``read`` may have, None when it may have any.
    """
    defined_ends = {end for name in ("name", "qualified") for _, end in spans.get(name, ())}
    slice_ = source.slice
    found: list[tuple[int, int, int, str]] = []
    for rank, kind in enumerate(REFERENCE_KINDS):
        rows = [
            (start, rank, end, slice_(start, end))
            for start, end in spans.get(f"r.{kind}", ())
            if end - start <= MAX_NAME_BYTES and end not in defined_ends
        ]
        if rank == _READ and known is not None:
            rows = [row for row in rows if row[3] in known]
        found += rows
    found.sort()
    return found
