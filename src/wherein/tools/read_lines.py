"""Takes ranges of lines out of a file, in memory or, when it is large, block by block.

Lines end at a newline and nowhere else, as for ``wc``, git and ripgrep; only a file without any
newline is cut at its carriage returns.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wherein.errors import PathError
from wherein.tools.excerpt import visible
from wherein.walk.paths import show_path

__all__ = ["Lines", "Range", "open_regular", "read_large", "split_lines", "take"]

MAX_LINE_CHARS = 2_000
"""Characters shown of a line; a longer one is data."""

BLOCK_BYTES = 1 << 20

_NULS = bytes(BLOCK_BYTES)

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a pipe waits for a writer.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Range:
    """Lines asked for, 1-based and inclusive."""

    start: int = 1
    end: int | None = None
    """None: to the end."""
    tail: int = 0
    """When set, the last so many lines instead."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Consecutive lines of a file."""

    start: int
    """Number of the first line, 1-based."""
    texts: tuple[str, ...]
    """Without their ends; long ones cut."""
    n_lines: int
    """Lines of the whole file; 0 when it was not read to its end."""
    ending: str = ""
    """``lf``, ``crlf``, ``cr``, ``mixed``, or empty for a file without line ends."""
    n_cut: int = 0
    """Lines that were cut."""

    @property
    def end(self) -> int:
        """Number of the last line."""
        return self.start + len(self.texts) - 1


def split_lines(text: str) -> tuple[list[str], str]:
    """Return the lines of ``text`` without their ends, and how they end."""
    if "\n" not in text and "\r" in text:
        lines = text.split("\r")
        ending = "cr"
    else:
        lines = text.split("\n")
        n_crlf = text.count("\r\n")
        ending = _ending(len(lines) - 1, n_crlf)
        if n_crlf:
            lines = [line.removesuffix("\r") for line in lines]
    if lines[-1] == "":
        lines.pop()
    return lines, ending


def _ending(n_ends: int, n_crlf: int) -> str:
    if not n_ends:
        return ""
    if n_crlf == n_ends:
        return "crlf"
    return "mixed" if n_crlf else "lf"


def take(lines: Sequence[str], ending: str, wanted: Range, limit: int) -> Lines:
    """Return the wanted lines, at most ``limit``."""
    start = max(1, len(lines) - wanted.tail + 1) if wanted.tail else wanted.start
    end = len(lines) if wanted.end is None or wanted.tail else min(wanted.end, len(lines))
    end = min(end, start + limit - 1)
    chosen = lines[start - 1 : end]
    texts = tuple(_shorten(line) for line in chosen)
    n_cut = sum(len(line) > MAX_LINE_CHARS for line in chosen)
    return Lines(start, texts, len(lines), ending, n_cut)


def _shorten(line: str) -> str:
    if len(line) <= MAX_LINE_CHARS:
        return line
    return f"{line[:MAX_LINE_CHARS]}… [{len(line) - MAX_LINE_CHARS} characters]"


@contextmanager
def open_regular(root: Path, path: str) -> Generator[int]:
    """Open ``path`` under ``root`` without following a link; give its descriptor.

    Raises:
        PathError: It is gone, no regular file, behind a link, or unreadable.
    """
    *folders, name = path.split("/")
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            below = os.open(folder, _FOLDER_FLAGS, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        file = os.open(name, _FILE_FLAGS, dir_fd=descriptor)
    except OSError as error:
        message = f"{show_path(path)!r} cannot be opened: {error.strerror}"
        raise PathError(message) from None
    finally:
        os.close(descriptor)
    try:
        yield file
    finally:
        os.close(file)


class _Line:
    """A line that is being read: its beginning, and what the rest of it is made of."""

    room = 4 * MAX_LINE_CHARS

    def __init__(self) -> None:
        self.head = bytearray()
        self.n_bytes = 0
        self.rest_is_nul = True

    def add(self, piece: bytes) -> None:
        room = self.room - len(self.head)
        if room > 0:
            self.head += piece[:room]
        if self.rest_is_nul:
            rest = piece[max(0, room) :]
            self.rest_is_nul = rest == (_NULS if len(rest) == BLOCK_BYTES else bytes(len(rest)))
        self.n_bytes += len(piece)

    def text(self) -> str:
        head = bytes(self.head)
        n_rest = self.n_bytes - len(head)
        if n_rest == 0:
            return _shorten(head.removesuffix(b"\r").decode("utf-8", "backslashreplace"))
        if self.rest_is_nul and head.endswith(b"\0"):
            kept = head.rstrip(b"\0")
            shown = kept.decode("utf-8", "backslashreplace")
            return f"{_shorten(shown)}\\0{{{self.n_bytes - len(kept)}}}"
        shown = head.decode("utf-8", "ignore")[:MAX_LINE_CHARS]
        return f"{visible(shown)}… [{self.n_bytes - len(shown.encode())} bytes]"


def read_large(descriptor: int, wanted: Range, limit: int) -> Lines:
    """Return the wanted lines of an open file of any size, in bounded memory.

    It is read to the last wanted line, or to its end when there is no such line.
    """
    start = wanted.start
    if wanted.tail:
        start = max(1, _find_line(descriptor, None)[1] - wanted.tail + 1)
    at, n_lines = _find_line(descriptor, start)
    if at is None:
        return Lines(start, (), n_lines)
    last = start + limit - 1
    if wanted.end is not None and not wanted.tail:
        last = min(last, wanted.end)
    lines: list[_Line] = []
    line = _Line()
    is_end = True
    for block in _blocks(descriptor, at):
        is_end = False
        if b"\n" not in block:  # finding is a hundred times faster than splitting
            line.add(block)
            is_end = True
            continue
        *whole, rest = block.split(b"\n", last - start + 1 - len(lines))
        for piece in whole:
            line.add(piece)
            lines.append(line)
            line = _Line()
        if len(lines) == last - start + 1:
            break
        line.add(rest)
        is_end = True
    if line.n_bytes:
        lines.append(line)
    n_cut = sum(line.n_bytes > _Line.room for line in lines)
    n_lines = start + len(lines) - 1 if is_end else 0
    return Lines(start, tuple(line.text() for line in lines), n_lines, "", n_cut)


def _blocks(descriptor: int, at: int = 0) -> Iterator[bytes]:
    while block := os.pread(descriptor, BLOCK_BYTES, at):
        yield block
        at += len(block)


def _find_line(descriptor: int, number: int | None) -> tuple[int | None, int]:
    """Return where line ``number`` begins, None past the end, and then the number of lines."""
    n_ends = at = 0
    ends_open = False
    for block in _blocks(descriptor):
        n = block.count(b"\n") if b"\n" in block else 0
        if number is not None and n_ends + n >= number - 1:
            inside = 0
            for _ in range(number - 1 - n_ends):
                inside = block.index(b"\n", inside) + 1
            if at + inside < os.fstat(descriptor).st_size:
                return at + inside, 0
        n_ends += n
        at += len(block)
        ends_open = not block.endswith(b"\n")
    return None, n_ends + ends_open
