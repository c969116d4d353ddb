"""Gives a search the earlier commits of its tree, without letting it wait long for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.errors import ExternalError
from wherein.indexing.progress import Progress, ProgressCallback

if TYPE_CHECKING:
    from wherein.history.open import History
    from wherein.history.store import Progress as CommitProgress
    from wherein.search.retrievers import SignalSource

__all__ = ["Earlier", "EarlierCommits", "commits_told"]

_MANY = 1000
"""Commits from which on reading them is worth telling: it takes a second."""

_PATIENCE_S = 1.0
"""How long a search waits for, or itself reads, what another thread reads or is about to: a few new
commits are there by then, a whole history is not."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """The earlier commits as evidence, as far as they are there."""

    sources: tuple[SignalSource, ...] = ()
    notes: tuple[str, ...] = ()
    """What the asker should know, when they do not count yet."""


class _OutOfTimeError(Exception):
    """The reading took longer than the search may wait."""


class EarlierCommits:
    """The earlier commits of one tree; may be used from several threads.

    Args:
        root: The tree.
        family: Folder of the repository's family in the index.
    """

    def __init__(self, root: Path, family: Path) -> None:
        self._root = root
        self._family = family
        self._turn = threading.Lock()
        self._history: tuple[str, History | None] | None = None
        self._found: tuple[str, tuple[SignalSource, ...]] | None = None
        self._is_read_aside = False

    @contextmanager
    def read_aside(self) -> Generator[None]:
        """Say that the caller is about to read them: searches meanwhile do not wait for many."""
        self._is_read_aside = True
        try:
            yield
        finally:
            self._is_read_aside = False

    def read(self, commit: str, report: ProgressCallback | None = None) -> None:
        """Read the commits up to ``commit``, however long it takes.

        Interrupted, or ended by what ``report`` raises, the next reading goes on where it stopped.
        """
        with self._turn:
            history = self._history_at(commit)
            if history is not None:
                self._take(history, commit, commits_told(report))

    def until(
        self, commit: str, deadline: float, report: ProgressCallback | None = None
    ) -> Earlier:
        """Return the commits up to ``commit`` as evidence, reading those that are new.

        Args:
            commit: The last one that counts.
            deadline: `time.monotonic` after which the reading stops until the next search; the
                answer is then without them, and says so.
            report: Told how far the reading is when there are many to read.
        """
        found = self._found
        if found is not None and found[0] == commit:
            return Earlier(found[1])
        if not self._turn.acquire(timeout=_PATIENCE_S):
            return _not_yet()
        try:
            history = self._history_at(commit)
            if history is None:
                return Earlier()
            if self._is_read_aside:
                deadline = min(deadline, time.monotonic() + _PATIENCE_S)
            return Earlier(self._take(history, commit, commits_told(report, deadline)))
        except _OutOfTimeError as error:
            return _not_yet(str(error))
        finally:
            self._turn.release()

    def _history_at(self, commit: str) -> History | None:
        """Return the history to read for ``commit``, the same one while it is the same."""
        from wherein.external.git import Git
        from wherein.history.open import History

        if self._history is None or self._history[0] != commit:
            git = Git.find(self._root)
            self._history = (commit, History(git, self._family) if git is not None else None)
        return self._history[1]

    def _take(
        self, history: History, commit: str, told: CommitProgress
    ) -> tuple[SignalSource, ...]:
        from wherein.search.history_source import HistorySource

        if self._found is None or self._found[0] != commit:
            try:
                history.read(commit, told)
            except ExternalError:  # git cannot show them: nothing is known
                return ()
            # Of a shallow clone's boundary nothing is known, which is not the same as a quiet file.
            sources = (HistorySource(history, commit),) if history.knows(commit) else ()
            self._found = (commit, sources)
        return self._found[1]


def commits_told(report: ProgressCallback | None, deadline: float | None = None) -> CommitProgress:
    """Return what `History.read` tells of commits: it passes on large readings, and keeps the time.

    Args:
        report: Told how far it is; what it raises ends the reading.
        deadline: `time.monotonic` after which the reading is ended.
    """
    started = time.monotonic()

    def tell(n_done: int, n_total: int) -> None:
        now = time.monotonic()
        if report is not None and n_total >= _MANY:
            left = (now - started) / n_done * (n_total - n_done) if n_done else None
            report(Progress("reading", n_done, n_total, 0, left, "commits"))
        # One step at least, or a reading in many short turns would never get on.
        if deadline is not None and now > deadline and 0 < n_done < n_total:
            raise _OutOfTimeError(f"{n_done} of {n_total} read")

    return tell


def _not_yet(how_far: str = "") -> Earlier:
    rest = f" ({how_far})" if how_far else ""
    note = f"earlier commits are still being read{rest}: they do not count in this answer yet"
    return Earlier(notes=(note,))
