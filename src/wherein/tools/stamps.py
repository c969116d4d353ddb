"""Tells whether files and folders are still what they were, by one stat each."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

from wherein.walk.reading import file_stat
from wherein.walk.signature import is_racy

__all__ = ["Stamp", "Stamps", "UnsettledError", "stamp_of"]

Stamp = tuple[int, int]
"""When a file or folder was last changed, in nanoseconds, and its inode."""

# On Windows the other one is when it was made.
stamp_of = attrgetter("st_mtime_ns" if os.name == "nt" else "st_ctime_ns", "st_ino")
"""Returns the `Stamp` of an `os.stat_result`; a C function, since it runs for every folder."""


class UnsettledError(Exception):
    """A stat does not tell of every change: something changes just now, or cannot be looked at."""


@dataclass(frozen=True, slots=True)
class Stamps:
    """The states of some paths."""

    present: tuple[str, ...]
    stamps: list[Stamp]
    """Of those that are there, in their order."""
    absent: tuple[str, ...]

    @classmethod
    def take(cls, paths: Iterable[str], started_ns: int) -> Stamps:
        """Look at absolute ``paths``, there or not; of links at the links themselves.

        Raises:
            UnsettledError: One is not older than ``started_ns``: it may change and look the same.
        """
        present: dict[str, Stamp] = {}
        absent: list[str] = []
        for path in paths:
            try:
                found = os.lstat(path)
            except OSError:
                absent.append(path)
                continue
            if is_racy(file_stat(found), started_ns):
                raise UnsettledError
            present[path] = stamp_of(found)
        return cls(tuple(present), list(present.values()), tuple(absent))

    def hold(self) -> bool:
        """Return whether everything is as it was."""
        try:
            stamps = list(map(stamp_of, map(os.lstat, self.present)))
        except OSError:
            return False
        return stamps == self.stamps and not any(os.access(path, os.F_OK) for path in self.absent)
