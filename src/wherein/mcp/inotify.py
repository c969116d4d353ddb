"""Linux' own notice of changes in folders: read at once, and never lost without saying so.

The kernel puts an event into the queue before the call that made the change returns. Reading the
queue when a question arrives therefore tells everything that was complete before it, without a
thread and without waiting. Where the queue was full, it says that events were lost.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FolderEvents"]

_MODIFY, _ATTRIBUTES, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF = 0x400, 0x800
_OVERFLOW, _IGNORED, _IS_FOLDER = 0x4000, 0x8000, 0x40000000
_ONLY_FOLDERS, _NO_LINKS = 0x01000000, 0x02000000
_CHANGES = (
    _MODIFY
    | _ATTRIBUTES
    | _CLOSE_WRITE  # a mapped file is written without any other event
    | _MOVED_FROM
    | _MOVED_TO
    | _CREATE
    | _DELETE
    | _DELETE_SELF
    | _MOVE_SELF
)
"""No opening and reading: searches would fill the queue."""

_EVENT = struct.Struct("iIII")
_READ_BYTES = 1 << 18

_MAX_EVENTS = 100_000
"""More at once come from somebody who writes faster than they are read."""


@dataclass(frozen=True, slots=True)
class Noticed:
    """What the queue held."""

    is_changed: bool
    """Anything happened."""
    is_lost: bool
    """Events were dropped, or a watched top folder is another one now: watch anew."""


class FolderEvents:
    """The events of some folders and of all folders below them.

    Args:
        tops: Real paths of the folders.
        left_out: Folders below them that are not watched.

    Raises:
        OSError: They cannot all be watched: too many, one that may not be read, or no Linux.
    """

    def __init__(self, tops: Collection[Path], left_out: Collection[Path] = ()) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)
        self._left_out = frozenset(map(os.fsencode, left_out))
        self._folders: dict[int, bytes] = {}
        """Number of a watch to the folder's path."""
        self._descriptor = self._checked(
            self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC), b"inotify"
        )
        try:
            self._tops = frozenset(self._watch(os.fsencode(top)) for top in tops)
            for top in tops:
                self._watch_below(os.fsencode(top))
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Forget everything."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def take(self) -> Noticed:
        """Empty the queue, and watch the folders that it says are new.

        Raises:
            OSError: The queue cannot be read, or a new folder cannot be watched.
        """
        is_changed = is_lost = False
        for count, (number, mask, name) in enumerate(self._events()):
            is_changed = True
            if count >= _MAX_EVENTS:
                return Noticed(is_changed=True, is_lost=True)
            folder = self._folders.get(number)
            if mask & _OVERFLOW or (mask & (_DELETE_SELF | _MOVE_SELF) and number in self._tops):
                is_lost = True
            elif mask & _IGNORED:
                self._folders.pop(number, None)
            elif mask & _IS_FOLDER and mask & (_CREATE | _MOVED_TO) and folder is not None:
                self._watch_below(folder + b"/" + name)
        return Noticed(is_changed, is_lost)

    def _events(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield watch, kind and name of each event until there is none."""
        while True:
            try:
                data = os.read(self._descriptor, _READ_BYTES)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                number, mask, _cookie, length = _EVENT.unpack_from(data, at)
                at += _EVENT.size + length
                yield number, mask, data[at - length : at].rstrip(b"\0")

    def _watch_below(self, folder: bytes) -> None:
        """Watch a folder and all below it: each before it is listed, so that none slips through."""
        waiting = [folder]
        while waiting:
            folder = waiting.pop()
            if folder in self._left_out:
                continue
            try:
                self._watch(folder)
                with os.scandir(folder) as entries:
                    waiting.extend(
                        entry.path for entry in entries if entry.is_dir(follow_symlinks=False)
                    )
            except (FileNotFoundError, NotADirectoryError):
                continue  # gone again, which is an event of the folder above

    def _watch(self, folder: bytes) -> int:
        flags = _CHANGES | _ONLY_FOLDERS | _NO_LINKS
        number = self._library.inotify_add_watch(self._descriptor, folder, flags)
        self._folders[self._checked(number, folder)] = folder
        return number

    def _checked(self, returned: int, path: bytes) -> int:
        if returned < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), path)
        return returned
