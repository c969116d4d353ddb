"""Keeps the commits a family of trees has read, and reads those that are new."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from hashlib import blake2b
from pathlib import Path

import msgspec
import numpy as np

from wherein.errors import CorruptIndexError, ExternalError
from wherein.external.git import Git
from wherein.history.block import (
    BLOCK_VERSION,
    Block,
    decode_block,
    encode_block,
    hex_shas,
    raw_shas,
)
from wherein.history.log import LOG_ARGUMENTS, Commit, parse_log
from wherein.history.source import boundary_commits
from wherein.store.layout import REBUILD_HINT
from wherein.store.lock import FileLock
from wherein.tokens import TERMS_VERSION

__all__ = ["MAX_COMMITS", "HistoryStore"]

MAX_COMMITS = 100_000
"""Newest commits that are read. Older ones decide little: half a history halves a vote."""

_BATCH = 4096
"""Commits in a block."""

_STEP = 1024
"""Commits read at a time, some 2 MB of git's output: what is told of progress, and lost when it is
interrupted, is a second's work."""

_ALONE = 1024
"""Commits from which on one process of several reads, and the others wait for it."""

_WAIT_S = 0.2

_MAX_SMALL_BLOCKS = 24
"""A question reads every block; more small ones than this are read again as one."""

_SMALL = 1024

_GIT_TIMEOUT_S = 600.0
"""A first read of a very large history on a cold disk."""

_BUSY_TIMEOUT_S = 30.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS blocks (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS tips (sha TEXT PRIMARY KEY) WITHOUT ROWID;
"""

Progress = Callable[[int, int], None]
"""Called with commits read and commits to read; what it raises ends the reading, and what was read
until then is kept."""


class HistoryStore:
    """Blocks of commits in one SQLite file of a family.

    Args:
        path: The file; None keeps the commits in memory.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._memory = _memory() if path is None else None
        if self._memory is not None:
            weakref.finalize(self, self._memory.close)
        self._decoded: dict[int, Block] = {}

    def update(self, git: Git, tip: str, progress: Progress | None = None) -> int:
        """Read the ancestors of ``tip`` that are not known yet; return how many there were.

        Raises:
            ExternalError: Git cannot list or show the commits.
            CorruptIndexError: The file stays unreadable after one rebuild.
        """
        try:
            return self._update(git, tip, progress)
        except (sqlite3.DatabaseError, msgspec.DecodeError, ValueError) as error:
            if isinstance(error, sqlite3.OperationalError) or self.path is None:
                raise
            self._discard()
        try:
            return self._update(git, tip, progress)
        except (sqlite3.DatabaseError, msgspec.DecodeError, ValueError) as error:
            message = f"the history at {str(self.path)!r} cannot be read"
            raise CorruptIndexError(message, hint=REBUILD_HINT) from error

    def blocks(self) -> list[Block]:
        """Return all blocks, oldest first."""
        with self._open() as database:
            return self._blocks(database)

    def take(self, database: sqlite3.Connection) -> None:
        """Copy what another store's database holds; for a store in memory."""
        with self._open() as mine:
            for table, marks in (("meta", "?, ?"), ("blocks", "?, ?, ?"), ("tips", "?")):
                rows = database.execute(f"SELECT * FROM {table}")  # noqa: S608 - our own names
                mine.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", rows)  # noqa: S608

    def _update(self, git: Git, tip: str, progress: Progress | None) -> int:
        boundary = boundary_commits(git)
        with self._open() as database:
            self._check_recipe(database, boundary)
            blocks = self._blocks(database)  # first: damage shows here
            if database.execute("SELECT 1 FROM tips WHERE sha = ?", (tip,)).fetchone():
                return 0
            tips = [row[0] for row in database.execute("SELECT sha FROM tips ORDER BY sha")]
            new = _unknown(_list_commits(git, tip, tips), blocks)
            with self._alone(len(new), progress) as has_waited:
                if has_waited:  # another process has read them meanwhile
                    blocks = self._blocks(database)
                    new = _unknown(new, blocks)
                self._read(database, git, new, blocks, boundary, progress)
            database.execute("INSERT OR IGNORE INTO tips VALUES (?)", (tip,))
            self._join_small(database, git, boundary)
            return len(new)

    def _read(
        self,
        database: sqlite3.Connection,
        git: Git,
        new: Sequence[str],
        blocks: list[Block],
        boundary: frozenset[str],
        progress: Progress | None,
    ) -> None:
        """Read commits, parents first, into new blocks; interrupted, keep those that were read."""
        for start in range(0, len(new), _BATCH):
            commits: list[Commit] = []
            try:
                for at in range(start, min(start + _BATCH, len(new)), _STEP):
                    if progress is not None:
                        progress(at, len(new))
                    step = new[at : min(at + _STEP, start + _BATCH)]
                    commits += read_commits(git, step, boundary)
            finally:
                if commits:
                    data = encode_block(commits, _known_orders(blocks, commits))
                    block_id = self._insert(database, len(commits), data)
                    self._decoded[block_id] = decode_block(data)
                    blocks.append(self._decoded[block_id])
        if new and progress is not None:
            progress(len(new), len(new))

    @contextmanager
    def _alone(self, n: int, progress: Progress | None) -> Generator[bool]:
        """Let one process at a time read many commits; yield whether another one was waited for."""
        if self.path is None or n < _ALONE:
            yield False
            return
        lock = FileLock(self.path.with_suffix(".lock"))
        has_waited = False
        while not lock.acquire(_WAIT_S if has_waited else 0):
            has_waited = True
            if progress is not None:
                progress(0, n)
        try:
            yield has_waited
        finally:
            lock.release()

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        if self._memory is not None:
            self._memory.executescript(_SCHEMA)
            yield self._memory
            return
        assert self.path is not None  # noqa: S101 - one of the two is set
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
        with closing(connection) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            database.executescript(_SCHEMA)
            yield database

    def _blocks(self, database: sqlite3.Connection) -> list[Block]:
        ids = [row[0] for row in database.execute("SELECT id FROM blocks ORDER BY id")]
        for at in ids:
            if at not in self._decoded:
                row = database.execute("SELECT data FROM blocks WHERE id = ?", (at,)).fetchone()
                if row is not None:  # another process may have joined it with others
                    self._decoded[at] = decode_block(row[0])
        return [self._decoded[at] for at in ids if at in self._decoded]

    def _insert(self, database: sqlite3.Connection, n: int, data: bytes) -> int:
        done = database.execute("INSERT INTO blocks (n, data) VALUES (?, ?)", (n, data))
        return int(done.lastrowid or 0)

    def _check_recipe(self, database: sqlite3.Connection, boundary: frozenset[str]) -> None:
        """Forget everything when it was read in another way, or from a clone cut elsewhere."""
        cut = blake2b("\n".join(sorted(boundary)).encode(), digest_size=8).hexdigest()
        recipe = f"{BLOCK_VERSION}.{TERMS_VERSION}.{cut}"
        stored = database.execute("SELECT value FROM meta WHERE name = 'recipe'").fetchone()
        if stored is not None and stored[0] == recipe:
            return
        database.execute("BEGIN IMMEDIATE")
        database.execute("DELETE FROM blocks")
        database.execute("DELETE FROM tips")
        database.execute("INSERT OR REPLACE INTO meta VALUES ('recipe', ?)", (recipe,))
        database.execute("COMMIT")
        self._decoded.clear()

    def _join_small(self, database: sqlite3.Connection, git: Git, boundary: frozenset[str]) -> None:
        """Read the commits of many small blocks again as one block."""
        small = [
            row[0]
            for row in database.execute("SELECT id FROM blocks WHERE n < ? ORDER BY id", (_SMALL,))
        ]
        if len(small) <= _MAX_SMALL_BLOCKS:
            return
        known = {at: block for at, block in self._decoded.items() if at not in small}
        rest = [known[at] for at in sorted(known)]
        shas = [sha for at in small for sha in hex_shas(self._decoded[at].shas)]
        commits = read_commits(git, list(dict.fromkeys(shas)), boundary)
        data = encode_block(commits, _known_orders(rest, commits))
        database.execute("BEGIN IMMEDIATE")
        marks = ",".join("?" * len(small))
        database.execute(f"DELETE FROM blocks WHERE id IN ({marks})", small)  # noqa: S608 - only marks
        at = self._insert(database, len(commits), data)
        database.execute("COMMIT")
        self._decoded = {**known, at: decode_block(data)}

    def _discard(self) -> None:
        self._decoded.clear()
        if self.path is not None:
            for suffix in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)


def _memory() -> sqlite3.Connection:
    # `open.History` lets one thread at a time in.
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)


def read_commits(git: Git, shas: Sequence[str], boundary: frozenset[str]) -> list[Commit]:
    """Return the commits ``shas`` in their order.

    Renames are found by content; in a partial clone, where contents may be missing and must not be
    fetched, by identity alone.

    Raises:
        ExternalError: Git cannot show them.
    """
    if not shas:
        return []
    stdin = "".join(f"{sha}\n" for sha in shas).encode()
    done = git.run(*LOG_ARGUMENTS, stdin=stdin, timeout_s=_GIT_TIMEOUT_S)
    if done.returncode != 0:
        exact = ["-M100%" if argument == "-M" else argument for argument in LOG_ARGUMENTS]
        done = git.run(*exact, stdin=stdin, timeout_s=_GIT_TIMEOUT_S)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()[:1]
        message = f"git cannot show the history: {said[0] if said else 'no reason given'}"
        raise ExternalError(message)
    return list(parse_log(done.stdout, boundary))


def _list_commits(git: Git, tip: str, tips: Sequence[str]) -> list[str]:
    """Return the ancestors of ``tip`` that no known tip has, parents first."""
    arguments = ("rev-list", "--date-order", "--reverse", f"--max-count={MAX_COMMITS}", "--stdin")
    asked = "".join(f"{line}\n" for line in (tip, *(f"^{known}" for known in tips)))
    done = git.run(*arguments, stdin=asked.encode(), timeout_s=_GIT_TIMEOUT_S)
    if done.returncode != 0 and tips:  # a known tip was rewritten away and collected
        done = git.run(*arguments, stdin=f"{tip}\n".encode(), timeout_s=_GIT_TIMEOUT_S)
    if done.returncode != 0:
        message = f"git cannot list the history of {tip!r}"
        raise ExternalError(message)
    return done.stdout.decode("ascii", "replace").split()


def _unknown(shas: Sequence[str], blocks: Sequence[Block]) -> list[str]:
    """Return those of ``shas`` that no block has; an interrupted read left some."""
    if not shas or not blocks:
        return list(shas)
    known = np.concatenate([block.shas for block in blocks])
    asked = raw_shas(shas)
    return [sha for sha, is_known in zip(shas, np.isin(asked, known), strict=True) if not is_known]


def _known_orders(blocks: Sequence[Block], commits: Sequence[Commit]) -> dict[str, int]:
    """Return the corrected dates of parents that earlier blocks hold."""
    inside = {commit.sha for commit in commits}
    asked = sorted({p for commit in commits for p in commit.parents if p not in inside})
    if not asked or not blocks:
        return {}
    column = np.concatenate([block.shas for block in blocks])
    order = np.concatenate([block.order for block in blocks])
    by_sha = np.argsort(column, kind="stable")
    wanted = raw_shas(asked)
    at = np.minimum(np.searchsorted(column[by_sha], wanted), len(column) - 1)
    rows = by_sha[at]
    return {
        sha: int(order[row])
        for sha, row, found in zip(asked, rows.tolist(), column[rows] == wanted, strict=True)
        if found
    }
