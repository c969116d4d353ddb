"""Byte ranges of one file: lines, names and the text before them."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate, count
from operator import add, sub

__all__ = ["MAX_NAME_BYTES", "Source", "Span"]

Span = tuple[int, int]
"""First byte and the byte after the last."""

MAX_NAME_BYTES = 200
"""Longer names are left out: nobody asks for them, and generated ones reach 70,000 characters."""

_SPACES = frozenset(b" \t")
_LINE_FEED = 0x0A


class Source:
    """The text of a file with its line starts."""

    __slots__ = ("_ascii", "newlines", "text")

    def __init__(self, text: bytes) -> None:
        self.text = text
        # A line's newline stands behind all lines up to it and one newline for each before it;
        # said with itertools it costs a third of a regular expression over the text.
        self.newlines = list(map(add, accumulate(map(len, text.split(b"\n"))), count()))
        """Offsets of the newlines, in order."""
        self.newlines.pop()
        self._ascii = text.decode("ascii") if text.isascii() else None

    def line_of(self, offset: int) -> int:
        """Return the 1-based line that holds the byte at ``offset``."""
        return bisect_left(self.newlines, offset) + 1

    def last_line_of(self, start: int, end: int) -> int:
        """Return the line of the last byte of ``start:end``."""
        return bisect_left(self.newlines, max(start, end - 1)) + 1

    def line_start(self, offset: int) -> int:
        """Return the first byte of the line that holds ``offset``."""
        index = bisect_left(self.newlines, offset)
        return self.newlines[index - 1] + 1 if index else 0

    def next_line_start(self, offset: int) -> int:
        """Return the first byte after the line that holds ``offset``."""
        index = bisect_left(self.newlines, offset)
        return self.newlines[index] + 1 if index < len(self.newlines) else len(self.text)

    def indented_from(self, offset: int) -> int | None:
        """Return where the line begins if only blanks stand before ``offset``, else None."""
        text = self.text
        before = text[offset - 1] if offset else _LINE_FEED
        if before == _LINE_FEED:
            return offset
        if before not in _SPACES:
            return None
        start = text.rfind(b"\n", 0, offset) + 1
        return None if text[start:offset].strip(b" \t") else start

    def longest_line(self) -> int:
        """Return the length of the longest line in bytes."""
        ends = [*self.newlines, len(self.text)]
        return max(map(sub, ends, [-1, *self.newlines])) - 1

    def slice(self, start: int, end: int) -> str:
        """Return the text of a span; bytes that are not UTF-8 become replacement characters."""
        if self._ascii is not None:
            return self._ascii[start:end]
        return self.text[start:end].decode("utf-8", "replace")
