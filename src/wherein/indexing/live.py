"""The index of one tree as its files are now, for several threads at once."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Generator, Set
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from wherein.embed.protocol import Embedder
from wherein.errors import CorruptIndexError, LockedError, StoreError
from wherein.indexing.coverage import Coverage
from wherein.indexing.freshness import Freshness
from wherein.indexing.opened import OpenedIndex
from wherein.indexing.progress import Clock, Progress, ProgressCallback
from wherein.settings import Settings
from wherein.store.layout import Layout
from wherein.store.lock import FileLock
from wherein.store.tree_index import TreeIndex

__all__ = ["LiveIndex"]

_T = TypeVar("_T")

_CLEAR_SECONDS = 10.0


class LiveIndex:
    """One thread at a time brings it up to date; a damaged part is built again.

    Args:
        root: The tree.
        settings: The effective settings.
        embedder: Makes the vectors; None makes none.
        is_isolated: True parses nothing in this process.
    """

    def __init__(
        self, root: Path, settings: Settings, embedder: Embedder | None, *, is_isolated: bool
    ) -> None:
        self.root = root
        self.freshness = Freshness(root, settings, embedder, is_isolated=is_isolated)
        self._refresh_seconds = settings.refresh_seconds
        self._lock = threading.Lock()
        self._progress: Progress | None = None
        self._opened = OpenedIndex()

    @property
    def layout(self) -> Layout:
        """Where the index lies."""
        return self.freshness.layout

    def opened(self, coverage: Coverage) -> TreeIndex:
        """Return the index that a refresh gave.

        Raises:
            CorruptIndexError: A part of it is gone or damaged; `healed` mends that.
        """
        return self._opened.of(coverage)

    def close(self) -> None:
        """Let go of the index; it is opened again when asked for."""
        self._opened.close()
        self.freshness.close()

    def refresh(self, progress: ProgressCallback | None = None) -> Coverage:
        """Bring the index up to date, however long it takes.

        Raises:
            StoreError: The index cannot be written anywhere, or was written by a newer version.
            ProviderError: The model gave no vectors; what it gave before is kept.
        """
        with self._lock:

            def note(step: Progress) -> None:
                self._progress = step
                if progress is not None:
                    progress(step)

            try:
                coverage = self.healed(lambda: self.freshness.refresh(Clock(note)))
            finally:
                self._progress = None
        if coverage.failure is not None:
            raise coverage.failure
        return coverage

    def refresh_in_time(self, doubted: Set[str], progress: ProgressCallback | None) -> Coverage:
        """Refresh within the time there is; where another thread refreshes, wait as long for it.

        Args:
            doubted: Files that are read again whatever their stat says.
            progress: Told how far it is.
        """
        deadline = time.monotonic() + self._refresh_seconds
        with self._held(deadline, progress) as is_held:
            if not is_held:
                return self.freshness.uncovered()
            return self.freshness.refresh(Clock(progress, deadline), doubted)

    def healed(self, work: Callable[[], _T]) -> _T:
        """Do ``work``; where a part of the index is damaged, build it again and do it once more.

        The first time, what is missing may only have been replaced by another process meanwhile.
        """
        for repair in (self._opened.close, self.freshness.heal):
            try:
                return work()
            except CorruptIndexError:
                self._opened.close()
                repair()
        return work()

    def clear(self) -> int:
        """Remove the index of this tree, and the family's records when no other tree has one.

        Returns:
            Bytes freed.

        Raises:
            LockedError: Another process is writing it and did not finish in time.
            StoreError: It cannot be removed.
        """
        self.close()
        layout = self.layout
        if not layout.family.is_dir():
            return 0
        before = layout.size()
        lock = FileLock(layout.use_lock)
        try:
            if not lock.acquire(_CLEAR_SECONDS):
                message = f"another process is indexing {str(self.root)!r}"
                raise LockedError(message, hint="wait until it is done, or end it")
            shutil.rmtree(layout.tree, ignore_errors=True)
            if not any((tree / "manifest").exists() for tree in layout.tree_folders()):
                layout.wipe()
            return before - layout.size()
        except OSError as error:
            message = f"the index in {str(layout.family)!r} cannot be removed: {error.strerror}"
            raise StoreError(message, hint="check the folder's permissions") from error
        finally:
            lock.release()

    @contextmanager
    def _held(self, deadline: float, progress: ProgressCallback | None) -> Generator[bool]:
        """Hold the lock; False as soon as it is clear that it will not be free in time.

        While another thread has it, ``progress`` is told how far that one is.
        """
        is_held = self._lock.acquire(blocking=False)
        while not is_held:
            now = time.monotonic()
            step = self._progress
            if progress is not None:
                progress(step or Progress("waiting", 0, 0, 0, None))
            left = step.seconds_left if step is not None else None
            if now >= deadline or (left is not None and now + left > deadline):
                break
            is_held = self._lock.acquire(timeout=min(0.05, deadline - now))
        is_held = is_held or self._lock.acquire(blocking=False)
        try:
            yield is_held
        finally:
            if is_held:
                self._lock.release()
