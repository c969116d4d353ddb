"""Answers which contents can hold a text, from the three-byte sequences each of them has.

A part is immutable: the contents of up to 16,384 files, each named by its blob id. For each
sequence it keeps the ordinals of the contents that have it (16 bits each), or one bit for each
content where that is smaller. Sequences across a line end are left out: no match needs them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import IntFlag
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.store.needed import All, Needed, Text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wherein.store.array_file import ArrayFile

__all__ = [
    "MAX_CONTENTS",
    "ContentFlag",
    "NgramPart",
    "content_flag",
    "remove_parts",
    "write_parts",
]

MAX_CONTENTS = 1 << 14
"""Contents of a part: a row of bits then takes 2 KB."""

MAX_PART_BYTES = 256 << 20
"""Text of a part: bounds the memory of building one to about 0.6 GB."""

MAX_CONTENT_BYTES = 64 << 20
"""A larger file is not looked into: it is searched each time."""

NUL_BYTES = 1 << 16
"""Ripgrep looks for a NUL in so much of a file before it searches it at all."""

_N_GRAMS = 1 << 24
_FORMAT = b"ngrams 1"
"""1: first form (2026-11)."""

_BOMS = (b"\xff\xfe", b"\xfe\xff")
_FOLDING = (b"\xc5\xbf", b"\xe2\x84\xaa")
"""The long s and the Kelvin sign: the letters beyond ASCII that are s and k in another case."""


class ContentFlag(IntFlag):
    """What has to be known of a content besides its sequences."""

    NONE = 0
    OPAQUE = 1
    """Searched in another form than its bytes, or too large: it is always a candidate."""
    FOLDS = 2
    """It has a letter beyond ASCII that is an ASCII one in another case."""


def content_flag(data: bytes) -> ContentFlag:
    """Return the flag of a content."""
    if data.startswith(_BOMS) or len(data) > MAX_CONTENT_BYTES:
        return ContentFlag.OPAQUE
    if any(letter in data for letter in _FOLDING):
        return ContentFlag.FOLDS
    return ContentFlag.NONE


class _Extractor:
    """Finds the distinct sequences of contents; keeps a table of 64 MB."""

    def __init__(self) -> None:
        import numpy as np

        self._np = np
        self._last = np.zeros(_N_GRAMS, np.uint32)
        self._numbers = np.arange(1 << 20, dtype=np.uint32)

    def sequences(self, data: bytes) -> NDArray[np.uint32]:
        """Return the distinct sequences of ``data``, not sorted."""
        np = self._np
        nul = data.find(b"\0", 0, NUL_BYTES)
        if nul >= 0:
            data = data[:nul]  # ripgrep stops there
        if len(data) < 3:
            return np.zeros(0, np.uint32)
        raw = np.frombuffer(data, np.uint8)
        codes = raw[:-2].astype(np.uint32)
        codes <<= 8
        codes |= raw[1:-1]
        codes <<= 8
        codes |= raw[2:]
        is_end = raw == ord("\n")
        codes = codes[~(is_end[:-2] | is_end[1:-1] | is_end[2:])]
        if len(codes) > len(self._numbers):
            self._numbers = np.arange(len(codes), dtype=np.uint32)
        # Each sequence remembers where it was seen last: those places are one for each. This is
        # half again as fast as sorting.
        numbers = self._numbers[: len(codes)]
        self._last[codes] = numbers
        return codes[self._last[codes] == numbers]


def write_parts(folder: Path, contents: Iterable[tuple[str, bytes]]) -> list[str]:
    """Write contents into as many parts as they need.

    Args:
        folder: Where the parts lie; made when it is not there.
        contents: Blob id (40 hex digits) and bytes, each id once.

    Returns:
        Names of the new parts.
    """
    folder.mkdir(parents=True, exist_ok=True)
    extractor = _Extractor()
    names: list[str] = []
    batch: list[tuple[bytes, ContentFlag, NDArray[np.uint32]]] = []
    n_bytes = 0
    for blob, data in contents:
        flag = content_flag(data)
        text = b"" if flag & ContentFlag.OPAQUE else data
        batch.append((bytes.fromhex(blob), flag, extractor.sequences(text)))
        n_bytes += len(text)
        if len(batch) == MAX_CONTENTS or n_bytes >= MAX_PART_BYTES:
            names.append(_write_part(folder, batch))
            batch, n_bytes = [], 0
    if batch:
        names.append(_write_part(folder, batch))
    return names


def _write_part(
    folder: Path, batch: Sequence[tuple[bytes, ContentFlag, NDArray[np.uint32]]]
) -> str:
    """Write one part under the hash of its blob ids, whole or not at all."""
    import hashlib

    import numpy as np

    from wherein.store.array_file import write_arrays

    blobs = np.frombuffer(b"".join(blob for blob, _, _ in batch), np.uint8).reshape(-1, 20)
    flags = np.array([int(flag) for _, flag, _ in batch], np.uint8)
    counts = np.zeros(_N_GRAMS, np.uint32)
    for _, _, codes in batch:
        counts[codes] += 1
    grams = np.flatnonzero(counts).astype(np.uint32)
    counts = counts[grams]
    row_bytes = -(-len(batch) // 8)
    is_dense = counts * 2 > row_bytes
    sizes = np.where(is_dense, 0, counts)
    starts = np.zeros(len(grams) + 1, np.uint64)
    np.cumsum(sizes, out=starts[1:])
    dense_rows = np.cumsum(is_dense) - 1
    postings = np.zeros(int(starts[-1]), np.uint16)
    bits = np.zeros((int(is_dense.sum()), row_bytes), np.uint8)
    place = np.zeros(_N_GRAMS, np.uint32)
    place[grams] = np.arange(len(grams), dtype=np.uint32)
    nexts = starts[:-1].copy()
    for ordinal, (_, _, codes) in enumerate(batch):
        rows = place[codes]
        dense = is_dense[rows]
        bits[dense_rows[rows[dense]], ordinal >> 3] |= np.uint8(1 << (ordinal & 7))
        rows = rows[~dense]
        postings[nexts[rows]] = ordinal
        nexts[rows] += np.uint64(1)
    name = hashlib.blake2b(blobs.tobytes(), digest_size=10).hexdigest()
    target = folder / f"{name}.ngrams"
    temporary = folder / f".{name}.{os.getpid()}.tmp"
    temporary.unlink(missing_ok=True)
    arrays = {
        "blobs": blobs,
        "flags": flags,
        "grams": grams,
        "starts": starts.astype("<u4"),
        "rows": np.where(is_dense, dense_rows, -1).astype("<i4"),
        "postings": postings,
        "bits": bits,
    }
    try:
        write_arrays(temporary, arrays, _FORMAT)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    return name


@dataclass(slots=True)
class NgramPart:
    """One opened part; build it with `NgramPart.open`."""

    name: str
    _file: ArrayFile
    n_contents: int

    @classmethod
    def open(cls, folder: Path, name: str) -> NgramPart:
        """Open the part ``name``.

        Raises:
            CorruptIndexError: It is missing or damaged.
        """
        from wherein.errors import CorruptIndexError
        from wherein.store.array_file import ArrayFile

        file = ArrayFile(folder / f"{name}.ngrams")
        if file.metadata != _FORMAT:
            message = f"ngram part {name!r} has an unknown form"
            raise CorruptIndexError(message, hint="it is built again at the next search")
        return cls(name, file, len(file.array("flags")))

    def blobs(self) -> list[str]:
        """Return the blob ids of its contents, in the order of their ordinals."""
        raw = self._file.array("blobs").tobytes()
        return [raw[i : i + 20].hex() for i in range(0, len(raw), 20)]

    def candidates(self, needed: Needed, *, ignore_case: bool) -> NDArray[np.bool_]:
        """Return for each content whether it can hold what is needed.

        Args:
            needed: From `store.needed`.
            ignore_case: Texts are in lower case and match in either.

        Raises:
            CorruptIndexError: What had to be read is damaged.
        """
        flags = self._file.array("flags")
        always = ContentFlag.OPAQUE | (ContentFlag.FOLDS if ignore_case else ContentFlag.NONE)
        return self._holds(needed, ignore_case=ignore_case) | ((flags & int(always)) != 0)

    def _holds(self, needed: Needed, *, ignore_case: bool) -> NDArray[np.bool_]:
        import numpy as np

        if isinstance(needed, Text):
            return self._has_text(needed.data, ignore_case=ignore_case)
        is_all = isinstance(needed, All)
        found = np.full(self.n_contents, is_all)
        for part in needed.parts:
            holds = self._holds(part, ignore_case=ignore_case)
            found = found & holds if is_all else found | holds
        return found

    def _has_text(self, data: bytes, *, ignore_case: bool) -> NDArray[np.bool_]:
        """Return which contents have every sequence of ``data``, the rarest sequences first."""
        import numpy as np

        found = np.ones(self.n_contents, np.bool_)
        codes = sorted(
            {data[i : i + 3] for i in range(len(data) - 2) if b"\n" not in data[i : i + 3]}
        )
        if not codes:
            return found
        variants = [list(_cases(code)) if ignore_case else [code] for code in codes]
        places = [self._places(spellings) for spellings in variants]
        starts = self._file.array("starts")
        rows = self._file.array("rows")

        def cost(item: Sequence[int]) -> int:
            return sum(
                self.n_contents if rows[i] >= 0 else int(starts[i + 1] - starts[i]) for i in item
            )

        for item in sorted(places, key=cost):
            found &= self._union(item)
            if not found.any():
                break
        return found

    def _cost(self, places: Sequence[int]) -> int:
        """Return how many contents the sequences at ``places`` can have together."""
        starts = self._file.array("starts")
        rows = self._file.array("rows")
        return sum(
            self.n_contents if rows[i] >= 0 else int(starts[i + 1]) - int(starts[i]) for i in places
        )

    def _places(self, spellings: Sequence[bytes]) -> list[int]:
        import numpy as np

        grams = self._file.array("grams")
        codes = np.array([int.from_bytes(code, "big") for code in spellings], np.uint32)
        at = np.searchsorted(grams, codes)
        return [
            int(i) for i, code in zip(at, codes, strict=True) if i < len(grams) and grams[i] == code
        ]

    def _union(self, places: Sequence[int]) -> NDArray[np.bool_]:
        """Return which contents have one of the sequences at ``places``."""
        import numpy as np

        found = np.zeros(self.n_contents, np.bool_)
        starts = self._file.array("starts")
        rows = self._file.array("rows")
        for place in places:
            row = int(rows[place])
            if row >= 0:
                self._file.check("bits", row, row + 1)
                bits = self._file.raw("bits")[row]
                found |= np.unpackbits(bits, count=self.n_contents, bitorder="little").view(
                    np.bool_
                )
            else:
                first, last = int(starts[place]), int(starts[place + 1])
                self._file.check("postings", first, last)
                found[self._file.raw("postings")[first:last]] = True
        return found


def _cases(code: bytes) -> Iterator[bytes]:
    """Yield the spellings of a sequence in upper and lower case."""
    spellings = [b""]
    for byte in code:
        letter = bytes([byte])
        both = {letter.lower(), letter.upper()}
        spellings = [spelled + other for spelled in spellings for other in sorted(both)]
    yield from spellings


def remove_parts(folder: Path, kept: Iterable[str]) -> None:
    """Remove the parts that nothing names any more."""
    names = {f"{name}.ngrams" for name in kept}
    for path in sorted(folder.glob("*.ngrams")):
        if path.name not in names:
            with suppress(OSError):
                path.unlink()
