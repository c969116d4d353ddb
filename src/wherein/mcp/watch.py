"""Watches a tree, so that an answer need not look at every file, and never guesses.

Events reach us late and some can be lost, so a quiet queue alone proves nothing. Each question
writes a file of our own into a watched folder and waits until its event comes back: the kernel
keeps order, so all that happened before is then known. What may have been lost is covered by the
rule that any event at all costs one full look, begun after the queue was drained:

* the queue overflows only after thousands of events were delivered;
* a new folder is watched when the events read with its own have been handled, so a mark is taken
  after two round trips, and changes inside the folder before that are seen by the look;
* what decides the listing from outside the tree (the user's git settings) is looked at by stat.

Network and user-space file systems tell nobody of changes made elsewhere: there is no watch then,
and none on systems that promise less than Linux' inotify.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from wherein.errors import WhereinError

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

__all__ = ["TreeWatch", "make_watch"]

_LOCAL = frozenset({"btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"})
_STEP_MS = 1
_DEBOUNCE_MS = 20
_POLL_DELAY_MS = 300
_PATIENCE_S = 1.0
"""A round trip takes 2 ms; one that takes this long means the watch is broken."""

Stamp = tuple[tuple[int, int, int] | None, ...]


class TreeWatch:
    """One watched tree. Make it with `make_watch`."""

    def __init__(self, notify: RustNotify, cookies: Path, outside: tuple[Path, ...]) -> None:
        self._notify = notify
        self._cookies = cookies
        self._outside = outside
        self._lock = Lock()
        self._n_cookies = 0
        self._generation = 0
        self._is_broken = False
        self._stamp = self._look_outside()

    def close(self) -> None:
        """Remove the folder of our own events; the watch is not relied on any more."""
        with self._lock:
            self._is_broken = True
            shutil.rmtree(self._cookies, ignore_errors=True)

    def mark(self) -> int | None:
        """Return the number of the state now; None when the watch cannot be relied on."""
        with self._lock:
            if self._round_trip() and self._round_trip():
                self._note_outside()
                return self._generation
            return None

    def is_quiet(self, mark: int) -> bool:
        """Return True when nothing happened since `mark` returned this number."""
        with self._lock:
            if not self._round_trip():
                return False
            self._note_outside()
            return self._generation == mark

    def _round_trip(self) -> bool:
        """Wait until an event of our own comes back; count all others that came before it."""
        if self._is_broken:
            return False
        self._n_cookies += 1
        cookie = self._cookies / f"{self._n_cookies}"
        try:
            cookie.touch()
            cookie.unlink()
            is_back = self._wait_for(str(cookie))
        except OSError:
            is_back = False
        self._is_broken = not is_back
        return is_back

    def _wait_for(self, cookie: str) -> bool:
        deadline = time.monotonic() + _PATIENCE_S
        own = f"{self._cookies}{os.sep}"
        while time.monotonic() < deadline:
            found = self._notify.watch(_DEBOUNCE_MS, _STEP_MS, int(_PATIENCE_S * 1000), None)
            if not isinstance(found, set):
                continue
            paths = {path for _change, path in found}
            if any(not path.startswith(own) for path in paths):
                self._generation += 1
            if cookie in paths:
                return True
        return False

    def _note_outside(self) -> None:
        stamp = self._look_outside()
        if stamp != self._stamp:
            self._stamp = stamp
            self._generation += 1

    def _look_outside(self) -> Stamp:
        return tuple(_stat(path) for path in self._outside)


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
    from watchfiles._rust_notify import RustNotify

    try:
        folders = _git_folders(root)
        if folders is None:
            return None
        cookies = Path(tempfile.mkdtemp(prefix="wherein-watch-"))
        watched = [str(folder) for folder in (root, *folders, cookies)]
        notify = RustNotify(watched, False, False, _POLL_DELAY_MS, True, False)
    except (OSError, WhereinError, RuntimeError):  # too many folders for the user's limit
        return None
    return TreeWatch(notify, cookies, _outside(environment, root))


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
