"""Keeps the glossary between markers in a file for agents; every other byte of it stays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from wherein.errors import UsageError
from wherein.glossary import MAX_LINES, Glossary, GlossaryLine, format_line, parse_line

__all__ = [
    "GLOSSARY_FILES",
    "Block",
    "block_text",
    "glossary_in",
    "read_block",
    "with_block",
    "without_block",
]

GLOSSARY_FILES = ("AGENTS.md", "CLAUDE.md")
"""The files at a repository's top that may hold a glossary, in the order they are looked at."""

_START = re.compile(
    rb"<!-- wherein:glossary(?: mined-until=(?P<until>[0-9a-f]{7,64}))?(?P<joined> joined)? -->"
)
_END = b"<!-- wherein:glossary-end -->"
_TITLE = "What we say → what the code says (search for the name first):"
_MAX_TEXT_CHARS = 1_000_000
_MAX_LINE_CHARS = 1000
"""Longer files and lines are not written for agents; a search does not look at them."""

_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Block:
    """A glossary as it stands in a file."""

    lines: tuple[GlossaryLine, ...]
    mined_until: str
    """The last commit the lines may have been mined from; empty when it is not said."""
    unread: tuple[str, ...] = ()
    """List items between the markers that are not in the glossary's form."""


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    """Where the start marker begins, in bytes."""
    end: int
    """After the end marker and its line break."""
    body: bytes
    until: str
    is_joined: bool
    """Whether the text before had no line break at its end."""


def block_text(lines: Sequence[GlossaryLine]) -> str:
    """Return the block's lines without markers, for counting what they cost."""
    return "\n".join([_TITLE, "", *(format_line(line) for line in lines)])


def read_block(data: bytes) -> Block | None:
    """Return the glossary of a file, None when it has none.

    Raises:
        UsageError: A marker stands without the other one.
    """
    place = _find(data)
    if place is None:
        return None
    text = place.body.decode("utf-8", "replace")
    items = [item.strip() for item in text.splitlines() if item.lstrip().startswith(("-", "*"))]
    read = [(item, parse_line(item)) for item in items]
    lines = tuple(line for _, line in read if line is not None)
    return Block(lines, place.until, tuple(item for item, line in read if line is None))


def glossary_in(text: str) -> Glossary | None:
    """Return the glossary of a file's text to widen queries with, None when it has none.

    A search never fails for it: broken markers are no glossary, and what is too long is cut.
    """
    if len(text) > _MAX_TEXT_CHARS:
        return None
    try:
        place = _find(text.encode("utf-8", "replace"))
    except UsageError:
        return None
    if place is None:
        return None
    items = place.body.decode("utf-8", "replace").splitlines()
    lines = (parse_line(item) for item in items[: 2 * MAX_LINES] if len(item) <= _MAX_LINE_CHARS)
    return Glossary(line for line in lines if line is not None)


def with_block(data: bytes, lines: Sequence[GlossaryLine], mined_until: str = "") -> bytes:
    """Return the file's bytes with the block at its end, or put anew where it stands.

    Line breaks are those of the file. The same lines give the same bytes, however often.

    Raises:
        UsageError: A marker stands without the other one, or the file is UTF-16.
    """
    if data.startswith(_UTF16):
        message = "the file is UTF-16"
        raise UsageError(message, hint="save it as UTF-8; agents read it so")
    place = _find(data)
    newline = _newline(data)
    is_joined = place.is_joined if place else bool(data) and not data.endswith((b"\n", b"\r"))
    until = f" mined-until={mined_until}" if mined_until else ""
    marker = f"<!-- wherein:glossary{until}{' joined' if is_joined else ''} -->"
    body = [marker, *block_text(lines).split("\n"), _END.decode()]
    block = newline.join(line.encode() for line in body) + newline
    if place is not None:
        return data[: place.start] + block + data[place.end :]
    if not data:
        return block
    return data + (newline * 2 if is_joined else newline) + block


def without_block(data: bytes) -> bytes:
    """Return the file's bytes as they were before the block came.

    Raises:
        UsageError: A marker stands without the other one.
    """
    place = _find(data)
    if place is None:
        return data
    before, after = data[: place.start], data[place.end :]
    if after:  # written after the block came: the blank line before it now parts the two
        return before + after
    newline = _newline(before)
    for _ in range(2 if place.is_joined else 1):
        before = before.removesuffix(newline)
    return before


def _find(data: bytes) -> _Place | None:
    found = _START.search(data)
    end = data.find(_END, found.end() if found else 0)
    if found is None and end < 0:
        return None
    if found is None or end < 0:
        message = "a marker of the glossary stands without the other one"
        raise UsageError(message, hint=f"put back or take out {_END.decode()!r} and its start")
    after = end + len(_END)
    for ending in (b"\r\n", b"\n", b"\r"):
        if data.startswith(ending, after):
            after += len(ending)
            break
    until = (found["until"] or b"").decode()
    body = data[found.end() : end]
    return _Place(found.start(), after, body, until, found["joined"] is not None)


def _newline(data: bytes) -> bytes:
    """Return the line break that most lines of the file end with."""
    n_crlf = data.count(b"\r\n")
    return b"\r\n" if n_crlf * 2 > data.count(b"\n") else b"\n"
