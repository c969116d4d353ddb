"""Remembers what ripgrep's walk leaves out, for as long as nothing that decides about it changes.

Ripgrep accounts for what it leaves out with ``--debug``, at 15 µs a line, and a line for each file
that a negated rule brings back, too. Git is asked which of that is tracked, and such files are
searched by a second ripgrep, for 3 ms. All of this stays the same until an entry is added to or
taken from a folder, or an ignore file or git's index changes: one stat a folder tells, 2 µs each.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from wherein.errors import PathError
from wherein.external.ripgrep_options import VERSION_CONTROL_FOLDERS
from wherein.settings import Settings
from wherein.walk.reading import read_file
from wherein.walk.signature import ABSENT, Row, look_unchanged, make_signature, stat_row

if TYPE_CHECKING:
    from wherein.external.git import Git
    from wherein.external.ripgrep import Ripgrep

__all__ = ["LeftOut", "Walk", "WalkMemory"]

IGNORE_FILES = frozenset({".gitignore", ".ignore", ".rgignore"})
"""Files in which ripgrep finds rules."""

MAX_FOLDERS = 2_000
"""With more, looking at all of them costs as much as ripgrep's account."""

MAX_NAMED_FILES = 200
MAX_NAMED_BYTES = 1_000_000
"""Read once to learn whether ripgrep takes a file for text."""

MAX_WALKS = 32

_NO_SETTINGS = Settings(home=Path(os.devnull))
"""None of ours decides about ripgrep's own walk."""


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk that ripgrep can do: of some folders inside a repository."""

    ripgrep: Ripgrep
    paths: tuple[str, ...]
    """Relative to ripgrep's folder, which is the empty path."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a walk leaves out."""

    ignored: tuple[str, ...] = ()
    """Files and whole folders that git's rules hide."""
    extra: tuple[str, ...] = ()
    """Those files among them, and below them, that are searched all the same, sorted."""
    may_be_named: bool = False
    """Whether ripgrep can be given ``extra`` as further paths with the same result as if its walk
    had found them. Not with a NUL: ripgrep goes on behind it in a file that is named."""


@dataclass(frozen=True, slots=True)
class _Folder:
    row: Row
    folders: tuple[str, ...]
    rules: tuple[str, ...]
    """Its ignore files."""


class _UnknownTreeError(Exception):
    """The tree has something that the stats do not tell of."""


@dataclass(slots=True)
class _Known:
    left_out: LeftOut
    signature: bytes = b""
    """Empty: not to be recalled."""
    folders: dict[str, _Folder] = field(default_factory=dict[str, _Folder])


class WalkMemory:
    """What earlier searches learned of their trees; threads may share it."""

    def __init__(self) -> None:
        self.n_files: dict[Path, int] = {}
        """Files that the last search of a whole root went through."""
        self.talkative: set[Path] = set()
        """Roots with so many ignored entries that the account of them costs more than git."""
        self._known: dict[Walk, _Known] = {}
        self._lock = Lock()

    def recall(self, walk: Walk) -> LeftOut | None:
        """Return what ``walk`` leaves out as it would now; None when only a walk can tell."""
        with self._lock:
            known = self._known.get(walk)
        if known is None or not known.signature:
            return None
        is_same = look_unchanged(walk.ripgrep.folder, _NO_SETTINGS, known.signature)
        return known.left_out if is_same else None

    def remember(
        self, walk: Walk, git: Git, left_out: LeftOut, tracked: Iterable[str], started_ns: int
    ) -> None:
        """Remember what a walk left out that began at ``started_ns``.

        The folders are listed for it when the same walk was done before: a command line searches
        once.

        Args:
            walk: What ripgrep was asked for.
            git: The repository.
            left_out: What came out.
            tracked: Every path below ``left_out.ignored`` that git tracks, there or not.
            started_ns: Time before it began.
        """
        with self._lock:
            before = self._known.pop(walk, None)
            if len(self._known) >= MAX_WALKS:
                self._known.clear()
            self._known[walk] = known = _Known(left_out)
        if before is None:
            return
        try:
            folders = dict(_list_folders(walk, left_out, before.folders))
        except _UnknownTreeError:
            return
        root = walk.ripgrep.folder
        rules = {
            *(str(path) for path in walk.ripgrep.ignore_files),
            *(f"{root}/{path}" for folder in folders.values() for path in folder.rules),
            *_places_above(walk),
            str(git.common_dir / "info" / "exclude"),
        }
        watched = {
            *rules,
            *(os.path.realpath(path) for path in rules if os.path.islink(path)),  # noqa: PTH114
            *(f"{root}/{path}" for path in tracked),
            str(git.git_dir / "index"),
        }
        known.folders = folders
        known.left_out = replace(left_out, may_be_named=_may_be_named(root, left_out.extra))
        known.signature = make_signature(root, _NO_SETTINGS, (), folders, watched, started_ns)


def _list_folders(
    walk: Walk, left_out: LeftOut, known: dict[str, _Folder]
) -> Iterator[tuple[str, _Folder]]:
    """Yield the folders that ripgrep walks; those that are as they were are not read again."""
    hidden = frozenset(left_out.ignored)
    todo = list(walk.paths)
    n_listed = 0
    while todo:
        path = todo.pop()
        n_listed += 1
        if n_listed > MAX_FOLDERS:
            raise _UnknownTreeError
        row = stat_row(f"{walk.ripgrep.folder}/{path}")
        before = known.get(path)
        if before is None or before.row != row or row is ABSENT:
            before = _read_folder(walk.ripgrep.folder, path, row)
        yield path, before
        todo.extend(below for below in before.folders if below not in hidden)


def _read_folder(root: Path, path: str, row: Row) -> _Folder:
    folders: list[str] = []
    rules: list[str] = []
    try:
        with os.scandir(f"{root}/{path}") as entries:
            for entry in entries:
                below = f"{path}/{entry.name}" if path else entry.name
                if entry.name in IGNORE_FILES:
                    rules.append(below)
                elif entry.name not in VERSION_CONTROL_FOLDERS and entry.is_dir(
                    follow_symlinks=False
                ):
                    folders.append(below)
    except OSError:
        raise _UnknownTreeError from None
    return _Folder(row, tuple(folders), tuple(rules))


def _places_above(walk: Walk) -> Iterator[str]:
    """Yield where ignore files would be in the folders above those walked."""
    above = {walk.ripgrep.folder / path for path in walk.paths}
    for folder in {parent for path in above for parent in path.parents}:
        for name in IGNORE_FILES:
            yield str(folder / name)


def _may_be_named(root: Path, paths: tuple[str, ...]) -> bool:
    if len(paths) > MAX_NAMED_FILES:
        return False
    left = MAX_NAMED_BYTES
    for path in paths:
        try:
            read = read_file(root, path, left)
        except PathError:
            return False
        if not read.is_whole or b"\0" in read.data:
            return False
        left -= len(read.data)
    return True
