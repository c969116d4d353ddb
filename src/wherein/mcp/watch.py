"""Watches a tree, so that an answer need not look at every file, and never guesses.

Any event at all costs one full look, begun after the queue of events was emptied (`FolderEvents`):

* a new folder is watched when the event of its making is read, before the look begins, so changes
  inside it are seen by the look or are events of their own;
* where the queue overflowed or a watched folder was replaced, everything is watched anew;
* what decides the listing from outside the tree (the user's git settings) is looked at by stat.

Network and user-space file systems tell nobody of changes made elsewhere: there is no watch then,
and none on systems that promise less than Linux' inotify.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Lock

from wherein.errors import WhereinError
from wherein.mcp.inotify import FolderEvents

__all__ = ["TreeWatch", "make_watch"]

_LOCAL = frozenset({"btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"})

_REST = 10
"""Watching anew waits so many times as long as it took: a build that floods the queue for minutes
must not have every folder listed for every answer."""

Stamp = tuple[tuple[int, int, int] | None, ...]


class TreeWatch:
    """One watched tree. Make it with `make_watch`.

    Args:
        tops: Real paths of the watched folders: the tree, and git's folders outside it.
        left_out: Folders below them that decide nothing.
        outside: Files outside that decide what git lists.

    Raises:
        OSError: The folders cannot all be watched.
    """

    def __init__(
        self, tops: tuple[Path, ...], left_out: tuple[Path, ...], outside: tuple[Path, ...]
    ) -> None:
        self._tops = tops
        self._left_out = left_out
        self._outside = outside
        self._lock = Lock()
        self._generation = 0
        self._is_closed = False
        self._not_before_s = 0.0
        self._events: FolderEvents | None = None
        self._places = self._look_at_tops()
        self._stamp = self._look_outside()
        self._watch_anew()

    def close(self) -> None:
        """Stop watching; the watch is not relied on any more."""
        with self._lock:
            self._is_closed = True
            self._drop()

    def mark(self) -> int | None:
        """Return the number of the state now; None when the watch cannot be relied on."""
        with self._lock:
            self._take()
            if self._events is None and not self._is_closed:
                self._try_anew()
            return None if self._events is None else self._generation

    def is_quiet(self, mark: int) -> bool:
        """Return True when nothing happened since `mark` returned this number."""
        with self._lock:
            self._take()
            return self._events is not None and self._generation == mark

    def _take(self) -> None:
        """Count what happened; stop relying on the events where some were lost."""
        stamp, places = self._look_outside(), self._look_at_tops()
        if stamp != self._stamp:
            self._stamp = stamp
            self._generation += 1
        if self._events is None:
            return
        try:
            noticed = self._events.take()
        except OSError:
            self._drop()
            return
        self._generation += noticed.is_changed
        if noticed.is_lost or places != self._places:
            self._places = places
            self._drop()

    def _drop(self) -> None:
        self._generation += 1
        if self._events is not None:
            self._events.close()
            self._events = None

    def _try_anew(self) -> None:
        if time.monotonic() >= self._not_before_s:
            try:
                self._watch_anew()
            except OSError:
                self._is_closed = True

    def _watch_anew(self) -> None:
        started = time.monotonic()
        self._places = self._look_at_tops()
        self._events = FolderEvents(self._tops, self._left_out)
        if self._look_at_tops() != self._places:  # replaced meanwhile: which one is watched?
            self._drop()
        now = time.monotonic()
        self._not_before_s = now + _REST * (now - started)

    def _look_outside(self) -> Stamp:
        return tuple(_stat(path) for path in self._outside)

    def _look_at_tops(self) -> tuple[tuple[int, int], ...]:
        """Return which folders the watched paths lead to: one above may have been renamed."""
        try:
            stats = [top.stat() for top in self._tops]
        except OSError:
            return ()
        return tuple((found.st_dev, found.st_ino) for found in stats)


def _stat(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def make_watch(root: Path, environment: Mapping[str, str]) -> TreeWatch | None:
    """Return a watch on ``root``; None where one could not be relied on.

    Args:
        root: Real path of the tree.
        environment: Says where the user's git settings are.
    """
    if not sys.platform.startswith("linux") or _file_system(root) not in _LOCAL:
        return None
    try:
        folders = _git_folders(root)
        if folders is None:
            return None
        objects = tuple(folder / "objects" for folder in (*folders, root / ".git"))
        return TreeWatch((root, *folders), objects, _outside(environment, root))
    except (OSError, WhereinError):  # too many folders for the user's limit
        return None


def _git_folders(root: Path) -> tuple[Path, ...] | None:
    """Return git's folders outside the root; None when rules above the root count, too."""
    from wherein.external.git import Git

    git = Git.find(root)
    if git is None:
        return ()
    if git.top != root:
        return None
    outside = {git.git_dir, git.common_dir}
    return tuple(sorted(folder for folder in outside if not folder.is_relative_to(root)))


def _outside(environment: Mapping[str, str], root: Path) -> tuple[Path, ...]:
    """Return the files outside the tree that decide what git lists."""
    home = Path(environment.get("HOME", "/nonexistent"))
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "git"
    named = [home / ".gitconfig", config / "config", config / "ignore", Path("/etc/gitconfig")]
    variables = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")
    named.extend(Path(environment[name]) for name in variables if environment.get(name))
    excludes = _excludes_file(root)
    return (*named, excludes.expanduser()) if excludes else tuple(named)


def _excludes_file(root: Path) -> Path | None:
    from wherein.external.git import Git

    git = Git.find(root)
    if git is None:
        return None
    done = git.run("config", "--get", "core.excludesFile")
    name = os.fsdecode(done.stdout).strip()
    return Path(name) if name else None


def _file_system(path: Path) -> str:
    """Return the type of the file system that ``path`` is on; empty when it is not known."""
    best, kind = "", ""
    try:
        with Path("/proc/self/mounts").open(encoding="utf-8", errors="surrogateescape") as mounts:
            for line in mounts:
                _device, place, name, *_rest = line.split(" ")
                is_above = path.is_relative_to(place) if place.startswith("/") else False
                if is_above and len(place) >= len(best):
                    best, kind = place, name
    except (OSError, ValueError):
        return ""
    return kind
