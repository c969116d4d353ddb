"""Where text without syntax is cut: at blank lines, at lines, and only then inside a line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["line_cuts", "paragraph_cuts"]

_PARAGRAPH = re.compile(rb"\n[^\S\n]*\n\s*(?=\S)")
_INNER_BREAK = re.compile(rb"[\s,;}\]]")
_CONTINUATION = range(0x80, 0xC0)


def paragraph_cuts(text: bytes) -> list[tuple[int, int]]:
    """Return the starts of paragraphs as cuts of depth 0."""
    cuts: list[tuple[int, int]] = []
    for match in _PARAGRAPH.finditer(text):
        start = text.rfind(b"\n", 0, match.end()) + 1
        cuts.append((start, 0))
    return cuts


def line_cuts(
    text: bytes, ink: NDArray[np.uint32], start: int, end: int, max_ink: int
) -> list[int]:
    """Return offsets that cut ``start:end`` into pieces of at most ``max_ink``.

    Each piece takes as much as fits, up to the last blank line of its second half, else the last
    line end, else the last white space or sign of the line, else any character.
    """
    import numpy as np

    cuts: list[int] = []
    while int(ink[end] - ink[start]) > max_ink:
        # The first offset at which the piece would hold more than max_ink.
        window = ink[start : end + 1] - ink[start]
        limit = start + int(np.searchsorted(window, max_ink, "right")) - 1
        cut = _best_cut(text, start, limit)
        cuts.append(cut)
        start = cut
    return cuts


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
    return cut
