"""Opens the history of one tree, reading first what is new."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import msgspec

from wherein.errors import CorruptIndexError, ExternalError
from wherein.external.git import Git
from wherein.history.block import Block
from wherein.history.source import cut_of
from wherein.history.store import HistoryStore, Progress
from wherein.history.view import HistoryView

__all__ = ["HISTORY_FILE", "History", "HistoryState"]

HISTORY_FILE = "history.sqlite"
"""Name of the store's file in a family's folder."""

_CUT_NOTES = {
    "shallow": "the clone is shallow: earlier commits are unknown, so history is weaker here",
    "grafted": "commits have other parents by info/grafts: what came before them is unknown",
    "replaced": "git replace exchanged commits: they are read as stored, and what those changed is"
    " unknown",
}


@dataclass(frozen=True, slots=True)
class HistoryState:
    """How much history there is, and why it may be less than all."""

    n_commits: int
    cut: str
    """``shallow``, ``grafted`` or ``replaced`` where earlier commits may be missing, else empty."""
    head: str | None

    def __str__(self) -> str:
        """Return it in words, as reports show it."""
        if self.cut:
            return f"{self.cut}: {self.n_commits} commits of unknown total"
        return f"{self.n_commits} commit{'' if self.n_commits == 1 else 's'}"

    @property
    def note(self) -> str:
        """What a reader of figures must know of it; empty for a full history."""
        return _CUT_NOTES.get(self.cut, "")


class History:
    """The commits of one repository family, and views of them that end where asked.

    May be used from several threads.

    Args:
        git: The repository, from `source.open_source`.
        family: The family's folder; None, or a folder that cannot be written, keeps what is read
            in memory.
    """

    def __init__(self, git: Git, family: Path | None = None) -> None:
        self.git = git
        self._store = HistoryStore(family / HISTORY_FILE if family is not None else None)
        self._lock = threading.Lock()
        self._blocks: list[Block] = []
        self._read: set[str] = set()
        self._views: dict[tuple[str, int], tuple[tuple[str, ...], HistoryView]] = {}

    def read(self, tip: str, progress: Progress | None = None) -> None:
        """Read the commits up to ``tip`` that are not known yet.

        Interrupted, or ended by what ``progress`` raises, the next call goes on where it stopped.

        Raises:
            ExternalError: Git cannot show them.
        """
        with self._lock:
            if tip in self._read:
                return
            try:
                self._store.update(self.git, tip, progress)
            except (OSError, sqlite3.OperationalError, CorruptIndexError):
                self._store = _in_memory(self._store)
                self._store.update(self.git, tip, progress)
            self._blocks = self._store.blocks()
            self._read.add(tip)

    def knows(self, until: str) -> bool:
        """Return whether any commit up to ``until`` says what it changed."""
        return self.view((), until) is not None

    def view(
        self, paths: Sequence[str], until: str | None = None, progress: Progress | None = None
    ) -> HistoryView | None:
        """Return the history of the files ``paths`` up to a commit, None when it is unknown.

        Args:
            paths: The tree's paths relative to the git object's root.
            until: The last commit that counts (a full id); None takes the one checked out.
            progress: Called with commits read and commits to read.

        Returns:
            None where there is no commit, git cannot be asked, or a shallow clone holds nothing
            but its boundary: then nothing is known, which is not the same as a quiet file.
        """
        try:
            tip = self.git.head() if until is None else until
            if tip is None:
                return None
            self.read(tip, progress)
        except ExternalError:
            return None
        prefix = self.git.prefix
        key = tuple(prefix + path for path in paths)
        cached = self._views.get((tip, len(key)))
        if cached is not None and cached[0] == key:
            return cached[1]
        view = HistoryView(self._blocks, tip, key)
        if not view.knows_changes:
            return None
        self._views = {(tip, len(key)): (key, view)}
        return view

    def state(self, until: str | None = None) -> HistoryState:
        """Return how much history there is up to a commit.

        Raises:
            ExternalError: Git cannot show it.
        """
        tip = self.git.head() if until is None else until
        cut = cut_of(self.git)
        if tip is None:
            return HistoryState(0, cut, None)
        self.read(tip)
        view = HistoryView(self._blocks, tip, ())
        return HistoryState(view.n_commits, cut, tip)


def _in_memory(store: HistoryStore) -> HistoryStore:
    """Return a store that goes on in memory with what a read-only file holds."""
    memory = HistoryStore(None)
    if store.path is None or not store.path.is_file():
        return memory
    try:
        uri = f"{store.path.resolve().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(uri, uri=True)) as database:
            memory.take(database)
    except (sqlite3.DatabaseError, msgspec.DecodeError, ValueError):
        return HistoryStore(None)
    return memory
