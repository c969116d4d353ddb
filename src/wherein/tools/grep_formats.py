"""In which form ripgrep is asked to print, and how that is read."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Protocol

from wherein.external.ripgrep_options import SearchOptions
from wherein.external.ripgrep_report import clean_path
from wherein.tools.grep_found import CountedFile, Found
from wherein.tools.grep_json import JsonFormat
from wherein.tools.grep_marked import MarkedFormat
from wherein.tools.grep_types import GrepRequest, OutputMode

__all__ = ["CountFormat", "Format", "PathFormat", "choose_format", "json_format"]

# With --crlf ripgrep ends its own lines so, too.
_COUNT = re.compile(rb"\./([^\0]*)\0(\d+)\r?\n")
_SEARCHED = re.compile(rb"(?m)^(\d+) files searched\r?$")


class Format(Protocol):
    """One way to have ripgrep print what it finds."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The options that make ripgrep print so."""
        ...

    def read(self, output: bytes) -> Found:
        """Return the files in the output."""
        ...


@dataclass(frozen=True, slots=True)
class PathFormat:
    """Paths alone; how many files were searched is not said."""

    arguments: tuple[str, ...] = ("--files-with-matches", "--null")

    def read(self, output: bytes) -> Found:
        """Return the files in the output."""
        return Found.of([CountedFile(clean_path(path)) for path in output.split(b"\0")[:-1]])


@dataclass(frozen=True, slots=True)
class CountFormat:
    """Paths with the number of matching lines, or of matches."""

    counts_matches: bool = False
    stops_at_first: bool = False

    @property
    def arguments(self) -> tuple[str, ...]:
        """The options that make ripgrep print so."""
        return (
            "--count",
            "--null",
            "--with-filename",
            "--stats",
            *(("--count-matches",) if self.counts_matches else ()),
            *(("--max-count=1",) if self.stops_at_first else ()),
        )

    def read(self, output: bytes) -> Found:
        """Return the files in the output."""
        files = [CountedFile(os.fsdecode(path), int(n)) for path, n in _COUNT.findall(output)]
        searched = _SEARCHED.search(output, output.rfind(b"\0") + 1)
        return Found.of(files, int(searched[1]) if searched else 0)


def choose_format(request: GrepRequest, *, are_files_named: bool) -> Format:
    """Return the form with the least work that tells what ``request`` asks for.

    Args:
        request: What is asked.
        are_files_named: Whether one of the paths is a file.
    """
    options = request.options
    may_be_long = options.is_multiline or options.dot_matches_newline
    if request.mode is OutputMode.COUNT:
        return CountFormat(counts_matches=options.only_matching)
    if request.mode is OutputMode.FILES:
        # Counting up to one lists the files, too, and says how many were searched. Ripgrep then
        # stops at the first match as it does when listing (without the limit, it reads on and drops
        # a file that turns out binary at its end), but not with inverted matches, and it errs with
        # matches over several lines.
        is_listed = options.is_inverted or may_be_long
        return PathFormat() if is_listed else CountFormat(stops_at_first=True)
    # A named file may hold a NUL. Marks are a replacement: of an inverted search, there is none.
    is_plain = not (may_be_long or options.only_matching or options.is_inverted)
    if is_plain and not are_files_named and not options.is_pcre2:
        return MarkedFormat(options.before, options.after, options.plain_expression())
    return json_format(options)


def json_format(options: SearchOptions) -> JsonFormat:
    """Return the form that tells everything of every line."""
    return JsonFormat(
        options.before, options.after, options.only_matching, options.may_span_lines()
    )
