"""Remembers which files ripgrep's walk leaves out and can be named to it beside the walk.

Tracked files that an ignore rule hides are searched all the same. Which they are is known only
after the search, and a second ripgrep for them costs 2 to 3 ms. So those of the last search are
named at once; the caller compares them with what this search says of its walk.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Sequence
from pathlib import Path

from wherein.errors import PathError
from wherein.external.git_index import RACY_NS
from wherein.walk.reading import read_file

__all__ = ["forget", "recall", "remember"]

MAX_FILES = 200
MAX_BYTES = 1_000_000
"""Read once to learn whether ripgrep takes a file for text."""

MAX_ROOTS = 32

_Stamp = tuple[int, int, int, int]

_known: dict[Path, dict[str, _Stamp]] = {}


def remember(root: Path, paths: Sequence[str]) -> None:
    """Remember the files for the next search of ``root``, unless one cannot be named safely.

    One with a NUL is: ripgrep goes on after it in a file that it is named, and stops there in one
    that it finds.
    """
    if len(paths) > MAX_FILES:
        return
    stamps: dict[str, _Stamp] = {}
    n_bytes = 0
    for path in paths:
        stamp = _stamp(root, path)
        n_bytes += stamp[1] if stamp else 0
        if stamp is None or n_bytes > MAX_BYTES or _may_be_binary(root, path):
            return
        stamps[path] = stamp
    if all(_stamp(root, path) == stamp for path, stamp in stamps.items()):
        if len(_known) >= MAX_ROOTS:
            _known.clear()
        _known[root] = stamps


def recall(root: Path) -> list[str]:
    """Return what was remembered, nothing when one of the files is no longer the same."""
    stamps = _known.get(root, {})
    if all(_stamp(root, path) == stamp for path, stamp in stamps.items()):
        return list(stamps)
    forget(root)
    return []


def forget(root: Path) -> None:
    """Name no files in the next search of ``root``."""
    _known.pop(root, None)


def _stamp(root: Path, path: str) -> _Stamp | None:
    """Return what names the state of a regular file; None when it was written a moment ago."""
    try:
        found = os.lstat(f"{root}/{path}")
    except OSError:
        return None
    is_recent = max(found.st_mtime_ns, found.st_ctime_ns) + RACY_NS >= time.time_ns()
    if is_recent or not stat.S_ISREG(found.st_mode):
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _may_be_binary(root: Path, path: str) -> bool:
    try:
        return b"\0" in read_file(root, path, MAX_BYTES).data
    except PathError:
        return True
