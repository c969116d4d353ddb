"""A table in a SQLite file that is a cache: what is lost or damaged in it is made again.

SQLite in WAL mode lets many read while one writes. Every row has a key, and the day it was used
last.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from wherein.errors import CorruptIndexError
from wherein.store.layout import REBUILD_HINT

__all__ = ["CacheTable", "discard_database"]

_T = TypeVar("_T")

_BATCH = 400
"""SQLite takes at least 999 variables in one statement."""

_SURROUNDINGS = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
    }
)


class CacheTable:
    """The one table of a database, made when missing, made anew when the file is no database.

    Use as a context, or call `close`. Every method raises `OSError` where the disk, the rights or
    another process are at fault, and `CorruptIndexError` where the file is damaged.

    Args:
        path: The database's file.
        name: The table's.
        columns: Names of the columns beside ``key`` and ``used``, with their types in SQL.
    """

    def __init__(self, path: Path, name: str, columns: Mapping[str, str]) -> None:
        self.path = path
        self._name = name
        self._columns = columns
        try:
            self._connection = self._connect()
        except sqlite3.DatabaseError as error:
            if _is_surroundings(error):
                raise self._error(error) from error
            self._connection = self._made_anew()

    def close(self) -> None:
        """Close the database; the last to close folds the write-ahead log in."""
        self._connection.close()

    def __enter__(self) -> CacheTable:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def make_anew(self) -> None:
        """Put an empty database in place of a damaged one."""
        self.close()
        self._connection = self._made_anew()

    def find(
        self, wanted: Iterable[_T], key: Callable[[_T], bytes], columns: str = "key"
    ) -> Iterator[tuple[_T, Any]]:
        """Yield those of ``wanted`` that have a row, each with its row, in any order.

        Args:
            wanted: Read a few hundred at a time.
            key: Gives the key of each.
            columns: What a row holds, in SQL.
        """
        waiting = iter(wanted)
        while batch := list(islice(waiting, _BATCH)):
            by_key = {key(item): item for item in batch}
            marks = ",".join("?" * len(by_key))
            sql = f"SELECT key, {columns} FROM {self._name} WHERE key IN ({marks})"  # noqa: S608
            try:
                for found, *row in self._connection.execute(sql, list(by_key)):
                    if found in by_key:  # damage may show another key than was asked for
                        yield by_key[found], row
            except sqlite3.DatabaseError as error:
                raise self._error(error) from error

    def put(self, rows: Iterable[Sequence[object]]) -> None:
        """Store whole rows (key, day, columns) in one transaction, over what is there."""
        marks = ",".join("?" * (2 + len(self._columns)))
        self._write(f"INSERT OR REPLACE INTO {self._name} VALUES ({marks})", rows)  # noqa: S608

    def mark_used(self, keys: Iterable[bytes], day: int) -> None:
        """Note that the rows of ``keys`` were used on ``day``."""
        sql = f"UPDATE {self._name} SET used = ? WHERE key = ? AND used < ?"  # noqa: S608
        self._write(sql, ((day, key, day) for key in keys))

    def drop_unused(self, before_day: int) -> int:
        """Remove rows last used before ``before_day``; return how many."""
        sql = f"DELETE FROM {self._name} WHERE used < ?"  # noqa: S608
        try:
            with self._connection:
                n_removed = self._connection.execute(sql, (before_day,)).rowcount
            if n_removed:
                self._connection.execute("VACUUM")
        except sqlite3.DatabaseError as error:
            raise self._error(error) from error
        return n_removed

    def _write(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        try:
            with self._connection:
                self._connection.executemany(sql, rows)
        except sqlite3.DatabaseError as error:
            raise self._error(error) from error

    def _made_anew(self) -> sqlite3.Connection:
        discard_database(self.path)
        try:
            return self._connect()
        except sqlite3.DatabaseError as error:
            raise self._error(error) from error

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=30.0, check_same_thread=False)
        columns = {"key": "BLOB PRIMARY KEY", "used": "INTEGER", **self._columns}
        schema = ", ".join(f"{name} {kind} NOT NULL" for name, kind in columns.items())
        try:
            connection.execute("PRAGMA page_size = 16384")  # rows are 0.3 to 50 KB
            connection.execute("PRAGMA journal_mode = WAL")
            # A killed process loses nothing by this; after a power cut checksums tell what to redo.
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("PRAGMA journal_size_limit = 16777216")
            connection.execute(f"CREATE TABLE IF NOT EXISTS {self._name} ({schema})")
            sql = f"SELECT {', '.join(columns)} FROM {self._name} LIMIT 1"  # noqa: S608
            connection.execute(sql).fetchall()
        except BaseException:
            connection.close()
            raise
        return connection

    def _error(self, error: sqlite3.DatabaseError) -> Exception:
        if _is_surroundings(error):
            return OSError(f"{self.path}: {error}")
        return CorruptIndexError(f"{str(self.path)!r} is damaged: {error}", hint=REBUILD_HINT)


def discard_database(path: Path) -> None:
    """Remove a damaged database with its log; a process that has it open keeps the old file."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _is_surroundings(error: sqlite3.DatabaseError) -> bool:
    """Return True when the disk, the rights or another process are at fault, not the file."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None or code == sqlite3.SQLITE_IOERR_SHORT_READ:  # the file was cut
        return False
    return code & 0xFF in _SURROUNDINGS
