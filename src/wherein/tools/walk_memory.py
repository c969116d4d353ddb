"""Remembers what ripgrep's walk leaves out, for as long as nothing that decides about it changes.

Ripgrep accounts for what it leaves out with ``--debug``, at 15 µs a line, and a line for each file
that a negated rule brings back, too. Git is asked which of that is tracked, and such files are
searched by a second ripgrep, for 3 ms. All of this stays the same until an entry is added to or
taken from a folder, or an ignore file or git's index changes: one stat a folder tells, 2 µs each.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from wherein.errors import PathError
from wherein.external.ripgrep_options import VERSION_CONTROL_FOLDERS
from wherein.tools.stamps import Stamp, Stamps, UnsettledError, stamp_of
from wherein.walk.reading import read_file

if TYPE_CHECKING:
    from wherein.external.git import Git
    from wherein.external.ripgrep import Ripgrep

__all__ = ["KnownWalk", "LeftOut", "Walk", "WalkMemory"]

IGNORE_FILES = frozenset({".gitignore", ".ignore", ".rgignore"})
"""Files in which ripgrep finds rules."""

MAX_FOLDERS = 2_000
"""With more, looking at all of them costs as much as ripgrep's account."""

MAX_NAMED_FILES = 200
MAX_NAMED_BYTES = 1_000_000
"""Read once to learn whether ripgrep takes a file for text."""

MAX_WALKS = 32


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk that ripgrep can do: of some folders below a root."""

    program: Ripgrep
    """As it was found, for no folder yet."""
    root: Path
    paths: tuple[str, ...]
    """Relative to the root, which is the empty path."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a walk leaves out."""

    ignored: tuple[str, ...] = ()
    """Files and whole folders that git's rules hide."""
    extra: tuple[str, ...] = ()
    """Those files among them, and below them, that are searched all the same, sorted."""


@dataclass(frozen=True, slots=True)
class KnownWalk:
    """What an earlier search learned of a walk, and what it had to find out to begin with."""

    git: Git
    ripgrep: Ripgrep
    """Ready to work in the root."""
    left_out: LeftOut
    may_be_named: bool = False
    """Whether ripgrep can be given the extra files as further paths with the same result as if its
    walk had found them. Not with a NUL: ripgrep goes on behind it in a file that is named."""


@dataclass(frozen=True, slots=True)
class _Folder:
    stamp: Stamp
    folders: tuple[str, ...]
    rules: tuple[str, ...]
    """Its ignore files."""


@dataclass(slots=True)
class _Entry:
    known: KnownWalk | None = None
    stamps: Stamps | None = None
    folders: dict[str, _Folder] = field(default_factory=dict[str, _Folder])
    is_too_large: bool = False


class _Tracked(NamedTuple):
    ignored: Sequence[str]
    stamps: Stamps
    paths: Sequence[str]


class WalkMemory:
    """What earlier searches learned of their trees; threads may share it."""

    def __init__(self) -> None:
        self.n_files: dict[Path, int] = {}
        """Files that the last search of a whole root went through."""
        self.talkative: set[Path] = set()
        """Roots with so many ignored entries that the account of them costs more than git."""
        self._entries: dict[Walk, _Entry] = {}
        self._tracked: dict[Path, _Tracked] = {}
        self._lock = Lock()

    def recall(self, walk: Walk) -> KnownWalk | None:
        """Return what is known of ``walk`` and still holds; None when only a walk can tell."""
        with self._lock:
            entry = self._entries.get(walk)
        return entry.known if entry and entry.stamps and entry.stamps.hold() else None

    def tracked(
        self, git: Git, ignored: Sequence[str], ask: Callable[[], Sequence[str]]
    ) -> Sequence[str]:
        """Return what ``ask`` does, or did while git's index and ``ignored`` were the same."""
        known = self._tracked.get(git.root)
        if known is not None and known.ignored == ignored and known.stamps.hold():
            return known.paths
        started_ns = time.time_ns()
        paths = ask()
        with suppress(UnsettledError):
            stamps = Stamps.take([str(git.git_dir / "index")], started_ns)
            if len(self._tracked) >= MAX_WALKS:
                self._tracked.clear()
            self._tracked[git.root] = _Tracked(ignored, stamps, paths)
        return paths

    def remember(
        self, walk: Walk, known: KnownWalk, tracked: Iterable[str], started_ns: int
    ) -> None:
        """Remember what a walk left out that began at ``started_ns``.

        The folders are listed for it when the same walk was done before: a command line searches
        once.

        Args:
            walk: What ripgrep was asked for.
            known: What came out.
            tracked: Every path below what is ignored that git tracks, there or not.
            started_ns: Time before it began.
        """
        with self._lock:
            before = self._entries.pop(walk, None)
            if len(self._entries) >= MAX_WALKS:
                self._entries.clear()
            self._entries[walk] = entry = _Entry()
        if before is None or before.is_too_large:
            entry.is_too_large = before is not None
            return
        with suppress(UnsettledError):
            listed = _list_folders(walk, known.left_out, before.folders)
            entry.folders = dict(islice(listed, MAX_FOLDERS + 1))
            entry.is_too_large = len(entry.folders) > MAX_FOLDERS
            if entry.is_too_large:
                return
            decisive = {
                *(f"{walk.root}/{path}" for path in (*entry.folders, *tracked)),
                *_rules(walk, known.git, entry.folders),
                *_repository_files(walk, known.git),
            }
            stamps = Stamps.take(decisive, started_ns)
            may_be_named = _may_be_named(walk.root, known.left_out.extra)
            entry.known = replace(known, may_be_named=may_be_named)
            entry.stamps = stamps


def _rules(walk: Walk, git: Git, folders: Mapping[str, _Folder]) -> Iterator[str]:
    """Yield the files with ignore rules, there or not; of a link what it leads to, too."""
    inside = (f"{walk.root}/{path}" for folder in folders.values() for path in folder.rules)
    excludes = git.folder.excludes_file()
    others = (git.common_dir / "info" / "exclude", *((excludes,) if excludes else ()))
    for path in (*inside, *_places_above(walk), *map(str, others)):
        yield path
        if os.path.islink(path):  # noqa: PTH114 - strings, for speed
            yield os.path.realpath(path)


def _repository_files(walk: Walk, git: Git) -> Iterator[str]:
    """Yield what says which repository this is, what it tracks, and how rules are read."""
    yield str(git.git_dir / "index")
    yield str(git.git_dir / "commondir")
    for path in git.folder.settings_files():
        yield str(path)
    for folder in (walk.root, *walk.root.parents):
        if not (folder / ".git").is_dir():  # one that is a folder shows in the index below it
            yield str(folder / ".git")
        if folder == git.top:
            return


def _list_folders(
    walk: Walk, left_out: LeftOut, known: dict[str, _Folder]
) -> Iterator[tuple[str, _Folder]]:
    """Yield the folders that ripgrep walks; those that are as they were are not read again."""
    hidden = frozenset(left_out.ignored)
    todo = list(walk.paths)
    while todo:
        path = todo.pop()
        before = known.get(path)
        try:
            stamp = stamp_of(os.lstat(f"{walk.root}/{path}"))
            if before is None or before.stamp != stamp:
                before = _read_folder(walk.root, path, stamp)
        except OSError:
            raise UnsettledError from None
        yield path, before
        todo.extend(below for below in before.folders if below not in hidden)


def _read_folder(root: Path, path: str, stamp: Stamp) -> _Folder:
    folders: list[str] = []
    rules: list[str] = []
    with os.scandir(f"{root}/{path}") as entries:
        for entry in entries:
            below = f"{path}/{entry.name}" if path else entry.name
            if entry.name in IGNORE_FILES:
                rules.append(below)
            elif entry.name not in VERSION_CONTROL_FOLDERS and entry.is_dir(follow_symlinks=False):
                folders.append(below)
    return _Folder(stamp, tuple(folders), tuple(rules))


def _places_above(walk: Walk) -> Iterator[str]:
    """Yield where ignore files would be in the folders above those walked."""
    above = {walk.root / path for path in walk.paths}
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
