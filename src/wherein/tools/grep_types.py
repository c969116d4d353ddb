"""What a grep is asked and what it answers, as frozen values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from wherein.external.ripgrep_options import SearchOptions
from wherein.tools.excerpt import visible
from wherein.walk.paths import show_path

__all__ = [
    "FileCount",
    "GrepRequest",
    "GrepResult",
    "GrepRow",
    "OutputMode",
    "SkipCount",
    "pattern_notes",
    "row_lines",
]

HEAD_LIMIT = 250
"""Rows of an answer, as agents know it from their own tools."""


class OutputMode(StrEnum):
    """What an answer lists."""

    FILES = "files_with_matches"
    CONTENT = "content"
    COUNT = "count"


@dataclass(frozen=True, slots=True)
class GrepRequest:
    """One search. ``options.globs`` are as the caller wrote them."""

    options: SearchOptions
    paths: tuple[str, ...] = ()
    mode: OutputMode = OutputMode.FILES
    limit: int = HEAD_LIMIT
    offset: int = 0
    by_symbol: bool = False
    """Name the definition around each match."""


@dataclass(frozen=True, slots=True)
class GrepRow:
    """One matching or surrounding line; with multiline, one match over several lines."""

    path: str
    line: int
    text: str
    """Without its end; at most 500 characters of each line, around the match."""
    is_match: bool = True
    end_line: int = 0
    """Last line of the match."""
    column: int = 0
    """Where the first match begins in the line: 1-based, in bytes; 0 when nothing is marked."""
    spans: tuple[tuple[int, int], ...] = ()
    """The matches inside ``text``, as half-open character ranges."""
    n_bytes: int = 0
    """Length of the whole line without its end."""
    n_cut_before: int = 0
    """Bytes of the line left out before ``text``."""
    n_cut_after: int = 0
    is_whole_line: bool = True
    """False with ``only_matching``: ``text`` is the match and nothing else."""
    symbol: str = ""
    """With ``by_symbol``: the definition the line lies in (``Ledger.post``)."""


@dataclass(frozen=True, slots=True)
class FileCount:
    """A file with matches; ``count`` is 0 where it was not asked for."""

    path: str
    count: int = 0


@dataclass(frozen=True, slots=True)
class SkipCount:
    """How many files (or whole folders) were not searched for one reason."""

    reason: str
    count: int
    examples: tuple[str, ...] = ()
    """Up to three of them."""


@dataclass(frozen=True, slots=True)
class GrepResult:
    """The answer of a grep, in the order of the paths."""

    mode: OutputMode
    rows: tuple[GrepRow, ...] = ()
    """Mode ``content``: lines."""
    files: tuple[FileCount, ...] = ()
    """Modes ``files_with_matches`` and ``count``: files."""
    n_total: int = 0
    """All there is to page through: matching lines, or files in the other modes."""
    is_total_exact: bool = True
    """False: at least so many."""
    n_matches: int = 0
    """Matches in all files; in mode ``files_with_matches`` the number of files."""
    n_files: int = 0
    """Files with a match."""
    n_files_searched: int = 0
    """0 where ripgrep does not say: in mode ``files_with_matches``, when something was found."""
    offset: int = 0
    next_offset: int = 0
    """Where to go on; 0 when this is the end."""
    is_truncated: bool = False
    """More is there than was returned."""
    is_partial: bool = False
    """The search itself was stopped: what was not reached is not in any number here."""
    skipped: tuple[SkipCount, ...] = ()
    notes: tuple[str, ...] = ()
    engine: str = ""
    """The program that searched and where it came from."""
    is_indexed: bool = False
    """True when an n-gram index chose the files that ripgrep searched."""
    n_candidates: int = 0
    """Files the index left to search."""

    def lines(self) -> list[str]:
        """Return the plain form: a path, ``path:count`` or ``path:line:text`` a line."""
        if self.mode is OutputMode.FILES:
            return [show_path(file.path) for file in self.files]
        if self.mode is OutputMode.COUNT:
            return [f"{show_path(file.path)}:{file.count}" for file in self.files]
        return list(self._content_lines())

    def _content_lines(self) -> Iterator[str]:
        has_context = any(not row.is_match for row in self.rows)
        previous: GrepRow | None = None
        for (path, symbol), rows in groupby(self.rows, key=lambda row: (row.path, row.symbol)):
            if symbol:
                yield f"{show_path(path)} in {visible(symbol)}"
            for row in rows:
                if has_context and previous is not None and not _follows(previous, row):
                    yield "--"
                previous = row
                yield from row_lines(row)


def _follows(previous: GrepRow, row: GrepRow) -> bool:
    return previous.path == row.path and row.line <= max(previous.line, previous.end_line) + 1


def pattern_notes(options: SearchOptions) -> list[str]:
    """Return what the asker should know of the pattern itself."""
    if not options.is_fixed and any("\\|" in pattern for pattern in options.patterns):
        return ["'\\|' is a literal bar here; write '|' for alternatives"]
    return []


def row_lines(row: GrepRow) -> Iterator[str]:
    """Yield a row in the form ``path:line:text``, context lines as ``path-line-text``."""
    mark = ":" if row.is_match else "-"
    shown = row.text.split("\n")
    for number, text in enumerate(shown, row.line):
        if not text and not row.is_whole_line and row.end_line > row.line:
            continue  # a line of the match of which only the line end is matched
        before = f"[{row.n_cut_before} bytes] …" if row.n_cut_before else ""
        after = f"… [{row.n_cut_after} bytes]" if row.n_cut_after and number == row.line else ""
        yield f"{show_path(row.path)}{mark}{number}{mark}{before}{visible(text)}{after}"
