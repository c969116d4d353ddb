"""Watches a tree, so that an answer need not look at every file, and never guesses.

Any event at all costs one full look, begun after the queue of events was emptied (`FolderEvents`):

* a new folder is watched when the event of its making is read, before the look begins, so changes
  inside it are seen by the look or are events of their own;
* where the queue overflowed or a watched folder was replaced, everything is watched anew;
* what decides the listing from outside the tree (the user's git settings, a repository made above)
  is looked at by stat, and what is mounted is asked for (`surroundings`).

Network and user-space file systems tell nobody of changes made elsewhere: there is no watch then,
and none on systems that promise less than Linux' inotify. Two kinds of change make no event in the
folder: through a name of the file outside the tree, so a tree with files of several names is not
left without a look (`indexing.look`); and through a memory map, which is seen when it ends.
"""

from __future__ import annotations

import stat
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from threading import Lock

from wherein.errors import WhereinError
from wherein.mcp.inotify import FolderEvents
from wherein.mcp.surroundings import MountEvents, Surroundings, find_surroundings

__all__ = ["TreeWatch", "make_watch"]

_REST = 10
"""Watching anew waits so many times as long as it took: a build that floods the queue for minutes
must not have every folder listed for every answer."""

Stamp = tuple[tuple[int, int, int] | None, ...]


class TreeWatch:
    """One watched tree. Make it with `make_watch`.

    Args:
        look_around: Finds what is watched, None when nothing could be relied on.

    Raises:
        OSError: The folders cannot all be watched, or nothing could be relied on.
    """

    def __init__(self, look_around: Callable[[], Surroundings | None]) -> None:
        self._look_around = look_around
        self._lock = Lock()
        self._generation = 0
        self._is_closed = False
        self._not_before_s = 0.0
        self._events: FolderEvents | None = None
        self._mounts = MountEvents()
        try:
            self._around, self._stamp = self._settled()
            self._places = self._look_at_tops()
            self._watch_anew()
        except BaseException:
            self._mounts.close()
            raise

    def close(self) -> None:
        """Stop watching; the watch is not relied on any more."""
        with self._lock:
            self._give_up()

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
        if self._is_closed:
            return
        is_mounted = self._mounts.take()
        if is_mounted or _look_at(self._around.outside) != self._stamp:
            self._look_around_again(is_mounted=is_mounted)
        places = self._look_at_tops()
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

    def _look_around_again(self, *, is_mounted: bool) -> None:
        """Find what is to be watched now; give up where that is something else."""
        self._generation += 1
        try:
            around, self._stamp = self._settled()
        except (OSError, WhereinError):
            self._give_up()
            return
        if (around.tops, around.left_out) != (self._around.tops, self._around.left_out):
            self._give_up()
            return
        self._around = around
        if is_mounted:  # a folder may lie under another one now
            self._drop()

    def _settled(self) -> tuple[Surroundings, Stamp]:
        """Return what is watched with the state of its files, which did not change meanwhile."""
        around = self._look_around()
        while around is not None:
            stamp = _look_at(around.outside)
            now = self._look_around()
            if now == around:
                return around, stamp
            around = now
        message = "the tree cannot be watched"
        raise OSError(message)

    def _give_up(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._mounts.close()
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
                self._give_up()

    def _watch_anew(self) -> None:
        started = time.monotonic()
        self._places = self._look_at_tops()
        self._events = FolderEvents(self._around.tops, self._around.left_out)
        if self._look_at_tops() != self._places:  # replaced meanwhile: which one is watched?
            self._drop()
        now = time.monotonic()
        self._not_before_s = now + _REST * (now - started)

    def _look_at_tops(self) -> tuple[tuple[int, int], ...]:
        """Return which folders the watched paths lead to: one above may have been renamed."""
        try:
            stats = [top.stat() for top in self._around.tops]
        except OSError:
            return ()
        return tuple((found.st_dev, found.st_ino) for found in stats)


def _look_at(paths: tuple[Path, ...]) -> Stamp:
    return tuple(_stat(path) for path in paths)


def _stat(path: Path) -> tuple[int, int, int] | None:
    """Return the state of a file; of a folder only whether it is the same one."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    if stat.S_ISDIR(found.st_mode):
        return 0, 0, found.st_ino
    return found.st_mtime_ns, found.st_size, found.st_ino


def make_watch(root: Path, environment: Mapping[str, str]) -> TreeWatch | None:
    """Return a watch on ``root``; None where one could not be relied on.

    Args:
        root: Real path of the tree.
        environment: Says where the user's git settings are.
    """
    if not sys.platform.startswith("linux"):
        return None
    try:
        return TreeWatch(partial(find_surroundings, root, environment))
    except (OSError, WhereinError):  # too many folders for the user's limit
        return None
