"""What ripgrep found, file by file; lines are taken apart only where they are shown."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

__all__ = ["CountedFile", "Found", "FoundFile", "Line", "matching_part", "path_order"]


class Line(NamedTuple):
    """A line of ripgrep's answer; with multiline, one match over several lines."""

    number: int
    """1-based; of the first line."""
    raw: bytes
    """With its end or without, as it came."""
    spans: tuple[tuple[int, int], ...] = ()
    """The matches as half-open bytes of ``raw``."""
    is_match: bool = True
    """False for a line around a match."""


class FoundFile(Protocol):
    """A file with matches as ripgrep reported it."""

    @property
    def path(self) -> str:
        """Relative to the folder that ripgrep ran in."""
        ...

    @property
    def count(self) -> int:
        """Matching lines, or matches where these are counted."""
        ...

    @property
    def is_cut_at_nul(self) -> bool:
        """True when ripgrep stopped at a NUL: the rest was not searched."""
        ...

    def read(
        self, first: int = 0, last: int | None = None, around: int = 0
    ) -> tuple[Sequence[Line], int]:
        """Return some matches with the lines around them.

        Args:
            first: Matches to leave out from the start.
            last: The match to stop before; None for all.
            around: Lines around a match that must be among them.

        Returns:
            The lines in order, and how many matches before them are left out.
        """
        ...


@dataclass(slots=True)
class CountedFile:
    """A file of which only the path or the count was asked for."""

    path: str
    count: int = 1
    is_cut_at_nul: bool = False

    def read(
        self, first: int = 0, last: int | None = None, around: int = 0
    ) -> tuple[Sequence[Line], int]:
        """Return no lines; see `FoundFile`."""
        del first, last, around
        return (), 0


@dataclass(frozen=True, slots=True)
class Found:
    """What one run of ripgrep found."""

    files: Sequence[FoundFile]
    n_matches: int
    """The sum of the files' counts."""
    n_searched: int = 0
    """Files it went through; 0 where it does not say."""

    @classmethod
    def of(cls, files: Sequence[FoundFile], n_searched: int = 0) -> Found:
        """Add up what was found."""
        return cls(files, sum(file.count for file in files), n_searched)


def path_order(path: str) -> bytes:
    """Return the sort key of ripgrep's ``--sort=path``: component by component, by bytes."""
    return os.fsencode(path).replace(b"/", b"\0")


def matching_part(
    are_matches: Sequence[bool], first: int, last: int | None, around: int
) -> tuple[slice, int]:
    """Return which records hold the matches ``first`` to ``last`` and the lines around them.

    Args:
        are_matches: Of each record, whether it is a match.
        first: Matches to leave out from the start; one more is there.
        last: The match to stop before; None for all.
        around: Records around a match that must be among them.

    Returns:
        The records, and how many matches before them are left out.
    """
    matching = [index for index, is_match in enumerate(are_matches) if is_match]
    if first == 0 and (last is None or last >= len(matching)):
        return slice(None), 0
    start = max(0, matching[first] - around)
    end = matching[first:last][-1] + around + 1
    return slice(start, end), bisect_left(matching, start)
