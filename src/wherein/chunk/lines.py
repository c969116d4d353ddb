"""Where text without syntax is cut: at blank lines, at lines, and only then inside a line."""

from __future__ import annotations

import re

from wherein.chunk.sizes import count_ink

__all__ = ["line_cuts", "paragraph_cuts"]

_PARAGRAPH = re.compile(rb"\n[^\S\n]*\n(?=[^\n])")
_INNER_BREAK = re.compile(rb"[\s,;}\]]")
_CONTINUATION = range(0x80, 0xC0)


def paragraph_cuts(text: bytes) -> list[tuple[int, int]]:
    """Return the starts of paragraphs as cuts of depth 0."""
    return [(match.end(), 0) for match in _PARAGRAPH.finditer(text) if match.end() < len(text)]


def line_cuts(text: bytes, start: int, end: int, max_ink: int) -> list[int]:
    """Return offsets that cut ``start:end`` into pieces of at most ``max_ink``.

    Each piece takes as much as fits, up to the last blank line of its second half, else the last
    line end, else the last white space or sign of the line, else any character.
    """
    cuts: list[int] = []
    while (limit := _limit(text, start, end, max_ink)) < end:
        start = _best_cut(text, start, limit)
        cuts.append(start)
    return cuts


def _limit(text: bytes, start: int, end: int, max_ink: int) -> int:
    """Return how far a piece from ``start`` may reach, ``end`` when all of it fits."""
    reach, ink = start, 0
    step = max(max_ink, 1)
    while reach < end:
        # A step of n bytes holds at most n characters, so it never goes too far by more than one.
        more = min(end, reach + max(step, 1))
        added = count_ink(text[reach:more])
        if ink + added > max_ink:
            if more - reach == 1:
                return reach
            step = (more - reach) // 2
            continue
        reach, ink = more, ink + added
        step = max(max_ink - ink, 1)
    return end


def _best_cut(text: bytes, start: int, limit: int) -> int:
    middle = (start + limit) // 2
    for pattern, low in ((b"\n\n", middle), (b"\n", start)):
        found = text.rfind(pattern, low, limit)
        if found >= 0:
            return found + len(pattern)
    cut = limit
    for match in _INNER_BREAK.finditer(text, middle, limit):
        cut = match.end()
    while cut > start + 1 and cut < len(text) and text[cut] in _CONTINUATION:
        cut -= 1
    return max(cut, start + 1)
