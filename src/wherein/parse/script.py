"""Leaves only the script of a component file (Vue, Svelte, Astro), in its place."""

from __future__ import annotations

import re

__all__ = ["blank_markup", "part_starts"]

_SCRIPT = re.compile(rb"<script\b[^>]*>(.*?)</script\s*>", re.DOTALL | re.IGNORECASE)
_FRONT_MATTER = re.compile(rb"\A\s*---[^\S\n]*\n(.*?)^---", re.DOTALL | re.MULTILINE)
_PART = re.compile(rb"^<(?![/!])\w", re.MULTILINE)
_BLANKS = bytes(byte if byte in b"\r\n" else 0x20 for byte in range(256))


def blank_markup(text: bytes) -> bytes:
    """Return ``text`` with all but its script parts replaced by spaces, every offset kept."""
    blank = text.translate(_BLANKS)
    pieces: list[bytes] = []
    position = 0
    spans = [match.span(1) for match in _SCRIPT.finditer(text)]
    front = _FRONT_MATTER.match(text)
    if front is not None:
        spans.append(front.span(1))
    for start, end in sorted(spans):
        if start >= position:
            pieces += (blank[position:start], text[start:end])
            position = end
    pieces.append(blank[position:])
    return b"".join(pieces)


def part_starts(text: bytes) -> list[int]:
    """Return where the parts of a component file (template, script, style) begin."""
    return [match.start() for match in _PART.finditer(text)]
