"""One writer at a time, across processes, by locks that the kernel drops with their holder."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

__all__ = ["FileLock"]

_POLL_S = 0.02
"""flock has no time limit of its own; 20 ms is not felt and costs no CPU."""


class FileLock:
    """A lock on a file, exclusive or shared, for one holder in one thread.

    Two `FileLock` objects on one path exclude each other in one process as well as across them.
    """

    def __init__(self, path: Path, *, is_shared: bool = False) -> None:
        self.path = path
        self._mode = fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        """True between `acquire` and `release`."""
        return self._descriptor is not None

    def acquire(
        self, timeout_s: float | None = None, on_wait: Callable[[], None] | None = None
    ) -> bool:
        """Take the lock; return False when it is not free within ``timeout_s``.

        Args:
            timeout_s: None waits as long as it takes, 0 tries once.
            on_wait: Called between two tries; what it raises ends the waiting.

        Raises:
            OSError: The file cannot be made, as in a read-only home.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._try():
            if deadline is not None and time.monotonic() >= deadline:
                return False
            if on_wait is not None:
                on_wait()
            time.sleep(_POLL_S)
        return True

    def _try(self) -> bool:
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, self._mode | fcntl.LOCK_NB)
            # A holder may have removed the file: then this is a lock on nothing.
            held = os.fstat(descriptor)
            named = self.path.stat()
            is_same = (held.st_dev, held.st_ino) == (named.st_dev, named.st_ino)
        except (BlockingIOError, FileNotFoundError):
            is_same = False
        except BaseException:
            os.close(descriptor)
            raise
        if is_same:
            self._descriptor = descriptor
        else:
            os.close(descriptor)
        return is_same

    def release(self) -> None:
        """Let go; a lock that is not held is left alone."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def is_taken(self) -> bool:
        """Return True when somebody else holds the lock now."""
        if self.is_held or not self.path.exists():
            return False
        try:
            if not self._try():
                return True
        except OSError:
            return False
        self.release()
        return False

    def __enter__(self) -> FileLock:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.release()
