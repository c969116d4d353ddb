"""Cuts long lines around what matters in them and makes hidden characters visible."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from wherein.walk.paths import escaped

__all__ = ["MAX_COLUMNS", "Excerpt", "cut_line", "visible"]

MAX_COLUMNS = 500
"""Characters shown of one line: longer ones are data or squeezed code."""

_BYTES_PER_CHARACTER = 4
"""The most UTF-8 takes."""

# Control characters but tab, what reorders or hides text, surrogates, and tag characters.
_HIDDEN = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_NUL_RUN = re.compile("\0{2,}")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The shown part of a line."""

    text: str
    spans: tuple[tuple[int, int], ...]
    """Matches inside ``text``, as half-open character ranges."""
    n_before: int
    """Bytes left out before ``text``."""
    n_after: int
    """Bytes left out after it."""


def cut_line(
    line: bytes,
    matches: Sequence[tuple[int, int]] = (),
    *,
    encoding: str = "utf-8",
    max_columns: int = MAX_COLUMNS,
) -> Excerpt:
    """Return at most ``max_columns`` characters of ``line``, around the first match.

    Args:
        line: The line without its end.
        matches: Byte ranges of the matches, in order.
        encoding: How the line is written; bytes that do not fit it become surrogates.
        max_columns: Most characters to keep.
    """
    if len(line) <= max_columns and encoding == "utf-8" and line.isascii():
        return Excerpt(line.decode("ascii"), _inside(matches, len(line)), 0, 0)
    first, last = matches[0] if matches else (0, 0)
    reach = max_columns * _BYTES_PER_CHARACTER
    start = _next_character(line, max(0, first - reach), encoding)
    before = _decode(line[start:first], encoding)
    match = _decode(line[first : min(last, first + reach)], encoding)[:max_columns]
    after = _decode(line[last : last + reach], encoding) if last <= first + reach else ""
    room = max_columns - len(match)
    n_left = min(len(before), max(room // 2, room - len(after)))
    if start == 0 and len(before) <= room:
        n_left = len(before)  # the match stands near the line's start: show it from there
    left = before[len(before) - n_left :]
    text = left + match + after[: room - n_left]
    start = first - len(_encode(left, encoding))
    end = start + len(_encode(text, encoding))
    return Excerpt(text, _spans(line, matches, (start, end), encoding), start, len(line) - end)


def _decode(piece: bytes, encoding: str) -> str:
    return piece.decode(encoding, "surrogateescape")


def _encode(text: str, encoding: str) -> bytes:
    return text.encode(encoding, "surrogateescape")


def _next_character(line: bytes, at: int, encoding: str) -> int:
    """Move ``at`` forward to the beginning of a character, where the encoding shows one."""
    if encoding == "utf-8":
        while 0 < at < len(line) and line[at] & 0xC0 == 0x80:
            at += 1
    return at


def _spans(
    line: bytes, matches: Sequence[tuple[int, int]], window: tuple[int, int], encoding: str
) -> tuple[tuple[int, int], ...]:
    """Turn the byte ranges inside ``window`` into character ranges of the shown text."""
    start, end = window
    spans: list[tuple[int, int]] = []
    at, column = start, 0
    for first, last in matches:
        if first > end or (first == end and last > first):
            break
        left = column + len(_decode(line[at : max(at, first)], encoding))
        right = left + len(_decode(line[max(at, first) : min(end, last)], encoding))
        spans.append((left, right))
        at, column = max(at, min(end, last)), right
    return tuple(spans)


def _inside(matches: Sequence[tuple[int, int]], end: int) -> tuple[tuple[int, int], ...]:
    """Return what `_spans` does for a whole line of ``end`` characters of one byte each."""
    spans: list[tuple[int, int]] = []
    at = 0
    for first, last in matches:
        if first > end or (first == end and last > first):
            break
        left = max(at, first)
        at = max(left, min(end, last))
        spans.append((left, at))
    return tuple(spans)


def visible(text: str) -> str:
    r"""Return ``text`` with characters that hide, reorder or control shown as escapes.

    A run of NULs becomes one mark with its count (``\0{4096}``).
    """
    text = _NUL_RUN.sub(lambda run: f"\\0{{{len(run.group())}}}", text)
    return _HIDDEN.sub(escaped, text)
