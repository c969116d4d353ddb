"""Byte ranges of one file: lines, names and the text before them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

__all__ = ["MAX_NAME_BYTES", "Source", "Span"]

Span = tuple[int, int]
"""First byte and the byte after the last."""

MAX_NAME_BYTES = 200
"""Longer names are left out: nobody asks for them, and generated ones reach 70,000 characters."""

_NEWLINE = re.compile(rb"\n")


class Source:
    """The text of a file with its line starts."""

    __slots__ = ("_newlines", "text")

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._newlines = [match.start() for match in _NEWLINE.finditer(text)]

    def line_of(self, offset: int) -> int:
        """Return the 1-based line that holds the byte at ``offset``."""
        return bisect_left(self._newlines, offset) + 1

    def last_line_of(self, start: int, end: int) -> int:
        """Return the line of the last byte of ``start:end``."""
        return self.line_of(max(start, end - 1))

    def line_start(self, offset: int) -> int:
        """Return the first byte of the line that holds ``offset``."""
        index = bisect_left(self._newlines, offset)
        return self._newlines[index - 1] + 1 if index else 0

    def line_offset(self, line: int) -> int:
        """Return the first byte of the 1-based ``line``."""
        return self._newlines[line - 2] + 1 if line > 1 else 0

    def next_line_start(self, offset: int) -> int:
        """Return the first byte after the line that holds ``offset``."""
        index = bisect_left(self._newlines, offset)
        return self._newlines[index] + 1 if index < len(self._newlines) else len(self.text)

    def newlines_in(self, start: int, end: int) -> int:
        """Return how many newlines stand in ``start:end``."""
        return bisect_right(self._newlines, end - 1) - bisect_left(self._newlines, start)

    def slice(self, span: Span) -> str:
        """Return the text of ``span``; bytes that are not UTF-8 become replacement characters."""
        return self.text[span[0] : span[1]].decode("utf-8", "replace")
