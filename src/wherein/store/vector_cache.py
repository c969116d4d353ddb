"""The vectors of single texts by models that read texts, remembered for a whole family.

Such a model is slow or costs money: a file of which one function changed has one text embedded, a
build that was killed goes on after the last answer, and new settings for parsing cost nothing. As
with records, what is lost or damaged is simply not there.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wherein.store.records import discard_database

__all__ = ["VectorCache"]

_BATCH = 400
_SCALE = np.dtype("<f4")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    key BLOB NOT NULL PRIMARY KEY,
    used INTEGER NOT NULL,
    crc INTEGER NOT NULL,
    vector BLOB NOT NULL
) WITHOUT ROWID
"""


class VectorCache:
    """The vectors of one model.

    Args:
        connection: An open database with the table.
        path: Its file.
        fingerprint: The model's; vectors of another are not seen.
        day: Days since 1970: when what is read or written is used.
    """

    def __init__(
        self, connection: sqlite3.Connection, path: Path, fingerprint: str, day: int
    ) -> None:
        self._connection = connection
        self._path = path
        self._fingerprint = fingerprint
        self._day = day

    @classmethod
    def open(cls, path: Path, fingerprint: str, day: int) -> VectorCache:
        """Open the cache at ``path``, made when missing, made anew when it is no database.

        Raises:
            OSError: It cannot be written.
        """
        try:
            return cls(_connect(path), path, fingerprint, day)
        except sqlite3.OperationalError as error:  # the disk, the rights, another process
            message = f"{path}: {error}"
            raise OSError(message) from error
        except sqlite3.DatabaseError:
            discard_database(path)
        try:
            return cls(_connect(path), path, fingerprint, day)
        except sqlite3.DatabaseError as error:
            message = f"{path}: {error}"
            raise OSError(message) from error

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def __enter__(self) -> VectorCache:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def find(self, texts: Sequence[str]) -> dict[str, tuple[NDArray[np.int8], np.float32]]:
        """Return the vectors that are known, by text: int8 and the scale that makes length one."""
        found: dict[str, tuple[NDArray[np.int8], np.float32]] = {}
        for by_key in self._keys(texts):
            marks = ",".join("?" * len(by_key))
            sql = f"SELECT key, crc, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608
            try:
                rows: list[Any] = self._connection.execute(sql, list(by_key)).fetchall()
            except sqlite3.DatabaseError:
                rows = []  # damaged, or out of reach: they are embedded again
            for key, crc, data in rows:
                if type(data) is bytes and zlib.crc32(data, zlib.crc32(key)) == crc:
                    scale = np.frombuffer(data, _SCALE, 1)[0]
                    vector = np.frombuffer(data, np.int8, offset=_SCALE.itemsize)
                    found[by_key[key]] = (vector, scale)
        self._mark(found)
        return found

    def put(self, vectors: Mapping[str, tuple[NDArray[np.int8], np.float32]]) -> None:
        """Remember vectors by text, in one transaction.

        Raises:
            OSError: The disk is full, or the file cannot be written.
        """
        rows: list[tuple[bytes, int, int, bytes]] = []
        for text, (vector, scale) in vectors.items():
            key, data = self._key(text), _SCALE.type(scale).tobytes() + vector.tobytes()
            rows.append((key, self._day, zlib.crc32(data, zlib.crc32(key)), data))
        try:
            with self._connection:
                self._connection.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows
                )
        except sqlite3.DatabaseError as error:
            message = f"{self._path}: {error}"
            raise OSError(message) from error

    def drop_unused(self, before_day: int) -> int:
        """Remove vectors of any model that were last used before ``before_day``; return how many.

        Raises:
            OSError: The file cannot be written.
        """
        try:
            with self._connection:
                sql = "DELETE FROM vectors WHERE used < ?"
                n_removed = self._connection.execute(sql, (before_day,)).rowcount
            if n_removed:
                self._connection.execute("VACUUM")
        except sqlite3.DatabaseError as error:
            message = f"{self._path}: {error}"
            raise OSError(message) from error
        return n_removed

    def _mark(self, texts: Mapping[str, object]) -> None:
        rows = ((self._day, self._key(text), self._day) for text in texts)
        try:
            with self._connection:
                self._connection.executemany(
                    "UPDATE vectors SET used = ? WHERE key = ? AND used < ?", rows
                )
        except sqlite3.DatabaseError:
            return  # they may be dropped too early, which costs time but nothing else

    def _keys(self, texts: Sequence[str]) -> Iterator[dict[bytes, str]]:
        waiting = iter(texts)
        while batch := list(islice(waiting, _BATCH)):
            yield {self._key(text): text for text in batch}

    def _key(self, text: str) -> bytes:
        """Return 16 bytes of hash over model and text."""
        whole = f"{self._fingerprint}\0{text}".encode("utf-8", "surrogatepass")
        return blake2b(whole, digest_size=16).digest()


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30.0, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        # A killed process loses nothing by this; after a power cut checksums tell what to redo.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(_SCHEMA)
        connection.execute("SELECT key, used, crc FROM vectors LIMIT 1").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection
