"""The vectors of single texts by models that read texts, remembered for a whole family.

Such a model is slow or costs money: a file of which one function changed has one text embedded, a
build that was killed goes on after the last answer, and new settings for parsing cost nothing. As
with records, what is lost or damaged is simply not there.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wherein.errors import CorruptIndexError
from wherein.store.cache_table import CacheTable

__all__ = ["VectorCache"]

_COLUMNS = {"crc": "INTEGER", "vector": "BLOB"}
_SCALE = np.dtype("<f4")


class VectorCache:
    """The vectors of one model.

    Args:
        table: Where they are kept.
        fingerprint: The model's; vectors of another are not seen.
        day: Days since 1970: when what is read or written is used.
    """

    def __init__(self, table: CacheTable, fingerprint: str, day: int) -> None:
        self._table = table
        self._fingerprint = fingerprint
        self._day = day

    @classmethod
    def open(cls, path: Path, fingerprint: str, day: int) -> VectorCache:
        """Open the cache at ``path``, made when missing, made anew when it is no database.

        Raises:
            CorruptIndexError: It is damaged and cannot be replaced.
            OSError: It cannot be written.
        """
        return cls(CacheTable(path, "vectors", _COLUMNS), fingerprint, day)

    def close(self) -> None:
        """Close the database."""
        self._table.close()

    def __enter__(self) -> VectorCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def find(self, texts: Sequence[str]) -> dict[str, tuple[NDArray[np.int8], np.float32]]:
        """Return the vectors that are known, by text: int8 and the scale that makes length one."""
        found: dict[str, tuple[NDArray[np.int8], np.float32]] = {}
        # Damaged, or out of reach: what is not found is embedded again; what is not marked may be
        # dropped too early, which costs time but nothing else.
        with suppress(OSError, CorruptIndexError):
            for text, (crc, data) in self._table.find(texts, self._key, "crc, vector"):
                if type(data) is bytes and zlib.crc32(data, zlib.crc32(self._key(text))) == crc:
                    scale = np.frombuffer(data, _SCALE, 1)[0]
                    vector = np.frombuffer(data, np.int8, offset=_SCALE.itemsize)
                    found[text] = (vector, scale)
            self._table.mark_used(map(self._key, found), self._day)
        return found

    def put(self, vectors: Mapping[str, tuple[NDArray[np.int8], np.float32]]) -> None:
        """Remember vectors by text, in one transaction; a damaged cache is begun anew for them.

        Raises:
            CorruptIndexError: It is damaged and cannot be replaced.
            OSError: The disk is full, or the file cannot be written.
        """
        rows: list[tuple[bytes, int, int, bytes]] = []
        for text, (vector, scale) in vectors.items():
            key, data = self._key(text), _SCALE.type(scale).tobytes() + vector.tobytes()
            rows.append((key, self._day, zlib.crc32(data, zlib.crc32(key)), data))
        try:
            self._table.put(rows)
        except CorruptIndexError:
            self._table.make_anew()
            self._table.put(rows)

    def drop_unused(self, before_day: int) -> int:
        """Remove vectors of any model that were last used before ``before_day``; return how many.

        Raises:
            CorruptIndexError: The database is damaged.
            OSError: The file cannot be written.
        """
        return self._table.drop_unused(before_day)

    def _key(self, text: str) -> bytes:
        """Return 16 bytes of hash over model and text."""
        whole = f"{self._fingerprint}\0{text}".encode("utf-8", "surrogatepass")
        return blake2b(whole, digest_size=16).digest()
