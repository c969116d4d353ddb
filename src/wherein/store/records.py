"""What follows from the bytes of a file alone, remembered by content for a whole family.

A cache, so it heals itself: a row that is lost or whose checksum differs is simply not there, and
what is not there is made again. SQLite in WAL mode lets many read while one writes.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from wherein.errors import CorruptIndexError
from wherein.store.layout import REBUILD_HINT
from wherein.store.record_format import decode_record
from wherein.types import Record

__all__ = ["RecordKey", "RecordStore", "StoredRecord"]

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

_SCHEMA = """
CREATE TABLE IF NOT EXISTS records (
    key BLOB NOT NULL PRIMARY KEY,
    used INTEGER NOT NULL,
    core_crc INTEGER NOT NULL,
    references_crc INTEGER NOT NULL,
    core BLOB NOT NULL,
    refs BLOB NOT NULL
)
"""


class RecordKey(NamedTuple):
    """What a record is found by; the recipe is the store's."""

    blob_id: str
    language: str | None


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """An encoded record, as workers send it (`record_format`)."""

    key: RecordKey
    core: bytes
    references: bytes


class RecordStore:
    """The records of a family under one recipe.

    Args:
        connection: An open database with the table.
        recipe: Records made by another recipe are not seen.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, recipe: str) -> None:
        self._connection = connection
        self.path = path
        self.recipe = recipe

    @classmethod
    def open(cls, path: Path, recipe: str, *, is_read_only: bool = False) -> RecordStore:
        """Open the store at ``path``, made when missing, made anew when it is no database.

        Raises:
            CorruptIndexError: It is damaged and cannot be replaced.
            OSError: It cannot be written, or the disk is full.
        """
        if is_read_only:
            return cls(_read_only(path), path, recipe)
        try:
            return cls(_connect(path), path, recipe)
        except sqlite3.DatabaseError as error:
            if _is_surroundings(error):
                raise OSError(f"{path}: {error}") from error
            discard_database(path)
        try:
            return cls(_connect(path), path, recipe)
        except sqlite3.DatabaseError as error:
            raise _damaged(path, error) from error

    def close(self) -> None:
        """Close the database; the last to close folds the write-ahead log in."""
        self._connection.close()

    def __enter__(self) -> RecordStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def key_bytes(self, key: RecordKey) -> bytes:
        """Return the primary key of a record: 16 bytes of hash over content, language, recipe."""
        text = f"{key.blob_id}\0{key.language or ''}\0{self.recipe}"
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    def known(self, keys: Iterable[RecordKey]) -> set[RecordKey]:
        """Return those of ``keys`` that the store has, without reading them.

        Raises:
            CorruptIndexError: The database is damaged.
        """
        found: set[RecordKey] = set()
        for by_bytes in self._batches(keys):
            sql = f"SELECT key FROM records WHERE key IN ({_marks(len(by_bytes))})"  # noqa: S608
            found.update(by_bytes[row[0]] for row in self._rows(sql, list(by_bytes)))
        return found

    def load(
        self, keys: Iterable[RecordKey], *, with_references: bool = False
    ) -> Iterator[tuple[RecordKey, Record]]:
        """Yield the records found; damaged rows are left out.

        Args:
            keys: Whose records are wanted.
            with_references: Only the call graph needs them; else the records have none.

        Raises:
            CorruptIndexError: The database is damaged.
        """
        refs = "references_crc, refs" if with_references else "0, ''"
        for by_bytes in self._batches(keys):
            marks = _marks(len(by_bytes))
            sql = f"SELECT key, core_crc, core, {refs} FROM records WHERE key IN ({marks})"  # noqa: S608
            for row in self._rows(sql, list(by_bytes)):
                record = _decode(*row) if with_references else _decode(*row[:3])
                if record is not None:
                    yield by_bytes[row[0]], record

    def put(self, records: Sequence[StoredRecord], day: int) -> None:
        """Store encoded records in one transaction, over what is there.

        Args:
            records: What to store.
            day: Days since 1970, for `collect`.

        Raises:
            CorruptIndexError: The database is damaged.
            OSError: The disk is full or the store is read-only.
        """
        rows: list[tuple[bytes, int, int, int, bytes, bytes]] = []
        for record in records:
            key = self.key_bytes(record.key)
            seed = zlib.crc32(key)
            crcs = zlib.crc32(record.core, seed), zlib.crc32(record.references, seed)
            rows.append((key, day, *crcs, record.core, record.references))
        self._write("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?)", rows)

    def mark_used(self, keys: Iterable[RecordKey], day: int) -> None:
        """Note that a tree used ``keys`` on ``day``."""
        rows = ((day, self.key_bytes(key), day) for key in keys)
        self._write("UPDATE records SET used = ? WHERE key = ? AND used < ?", rows)

    def drop_unused(self, before_day: int) -> int:
        """Remove records last used before ``before_day``, of any recipe; return how many.

        Raises:
            CorruptIndexError: The database is damaged.
        """
        try:
            with self._connection:
                removed = self._connection.execute(
                    "DELETE FROM records WHERE used < ?", (before_day,)
                ).rowcount
            if removed:
                self._connection.execute("VACUUM")
        except sqlite3.DatabaseError as error:
            raise self._error(error) from error
        return removed

    def count(self) -> int:
        """Return the number of records, of any recipe."""
        return int(next(iter(self._rows("SELECT count(*) FROM records", [])))[0])

    def _batches(self, keys: Iterable[RecordKey]) -> Iterator[dict[bytes, RecordKey]]:
        waiting = iter(keys)
        while batch := list(islice(waiting, _BATCH)):
            yield {self.key_bytes(key): key for key in batch}

    def _rows(self, sql: str, values: Sequence[bytes]) -> Iterator[Any]:
        try:
            yield from self._connection.execute(sql, values)
        except sqlite3.DatabaseError as error:
            raise self._error(error) from error

    def _error(self, error: sqlite3.DatabaseError) -> Exception:
        if _is_surroundings(error):
            return OSError(f"{self.path}: {error}")
        return _damaged(self.path, error)

    def _write(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        try:
            with self._connection:
                self._connection.executemany(sql, rows)
        except sqlite3.DatabaseError as error:
            raise self._error(error) from error


def _decode(
    key: bytes, core_crc: int, core: bytes, references_crc: int = 0, references: bytes = b""
) -> Record | None:
    """Return the record of a row, None when the row is damaged."""
    if type(core) is not bytes or type(references) is not bytes:
        return None  # zeros over a cell change the type SQLite reads
    seed = zlib.crc32(key)
    if zlib.crc32(core, seed) != core_crc:
        return None
    if references and zlib.crc32(references, seed) != references_crc:
        return None
    try:
        return decode_record(core, references)
    except ValueError:  # the checksum was made of the wrong bytes
        return None


def discard_database(path: Path) -> None:
    """Remove a damaged database with its log; a process that has it open keeps the old file."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30.0, check_same_thread=False)
    try:
        connection.execute("PRAGMA page_size = 16384")  # rows are 5 to 50 KB
        connection.execute("PRAGMA journal_mode = WAL")
        # A killed process loses nothing by this; after a power cut checksums tell what to redo.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA journal_size_limit = 16777216")
        connection.execute(_SCHEMA)
        connection.execute(
            "SELECT key, used, core_crc, references_crc FROM records LIMIT 1"
        ).fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def _read_only(path: Path) -> sqlite3.Connection:
    """Open what is there without writing a byte beside it; nothing there gives an empty store."""
    if path.is_file():
        # immutable: WAL mode would want to make its shared memory in a folder we cannot write.
        uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        try:
            connection.execute("SELECT key FROM records LIMIT 1").fetchall()
        except sqlite3.DatabaseError:
            connection.close()
        else:
            return connection
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.execute(_SCHEMA)
    return connection


def _is_surroundings(error: sqlite3.DatabaseError) -> bool:
    """Return True when the disk, the rights or another process are at fault, not the file."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None or code == sqlite3.SQLITE_IOERR_SHORT_READ:  # the file was cut
        return False
    return code & 0xFF in _SURROUNDINGS


def _marks(count: int) -> str:
    return ",".join("?" * count)


def _damaged(path: Path, error: Exception) -> CorruptIndexError:
    return CorruptIndexError(f"record store {str(path)!r} is damaged: {error}", hint=REBUILD_HINT)
