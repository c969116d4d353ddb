"""What follows from the bytes of a file alone, remembered by content for a whole family.

A cache, so it heals itself: a row that is lost or whose checksum differs is simply not there, and
what is not there is made again.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from wherein.store.cache_table import CacheTable
from wherein.store.record_format import decode_record
from wherein.types import Record

__all__ = ["RecordKey", "RecordStore", "StoredRecord"]

_COLUMNS = {
    "core_crc": "INTEGER",
    "references_crc": "INTEGER",
    "core": "BLOB",
    "refs": "BLOB",
}


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
        table: Where they are kept.
        recipe: Records made by another recipe are not seen.
    """

    def __init__(self, table: CacheTable, recipe: str) -> None:
        self._table = table
        self.recipe = recipe

    @classmethod
    def open(cls, path: Path, recipe: str) -> RecordStore:
        """Open the store at ``path``, made when missing, made anew when it is no database.

        Raises:
            CorruptIndexError: It is damaged and cannot be replaced.
            OSError: It cannot be written, or the disk is full.
        """
        return cls(CacheTable(path, "records", _COLUMNS), recipe)

    def close(self) -> None:
        """Close the database."""
        self._table.close()

    def __enter__(self) -> RecordStore:
        return self

    def __exit__(self, *_: object) -> None:
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
        return {key for key, _ in self._table.find(keys, self.key_bytes)}

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
        columns = "core_crc, core, references_crc, refs" if with_references else "core_crc, core"
        for key, row in self._table.find(keys, self.key_bytes, columns):
            record = _decode(self.key_bytes(key), *row)
            if record is not None:
                yield key, record

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
        self._table.put(rows)

    def mark_used(self, keys: Iterable[RecordKey], day: int) -> None:
        """Note that a tree used ``keys`` on ``day``."""
        self._table.mark_used(map(self.key_bytes, keys), day)

    def drop_unused(self, before_day: int) -> int:
        """Remove records last used before ``before_day``, of any recipe; return how many.

        Raises:
            CorruptIndexError: The database is damaged.
        """
        return self._table.drop_unused(before_day)


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
