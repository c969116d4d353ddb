"""A file of named arrays, memory-mapped, whose bytes are checked before they are first used.

Layout: magic, version, length and CRC of the header, the header (msgpack: metadata, the place of
each array, a CRC-32 for each 64 KiB block of data), then the arrays, each aligned to 64 bytes.
Opening reads the header and compares the file's size; a block's CRC (4 GB/s) is compared when the
block is first touched, so a cold query pays only for what it reads. `verify` compares all.
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
from numpy.typing import NDArray

from wherein.errors import CorruptIndexError, NewerIndexError

__all__ = ["ARRAY_FILE_VERSION", "ArrayFile", "write_arrays"]

ARRAY_FILE_VERSION = 1
"""1: first form (2026-11)."""

_MAGIC = b"WHEREIN\x00"
_HEAD = struct.Struct("<8sIIQ")  # magic, version, CRC of the header, its length
_ALIGN = 64
_BLOCK = 1 << 16
_HINT = "run 'wherein index' to build it again"


class _Place(msgspec.Struct, frozen=True, array_like=True):
    """Where one array lies: offset from the start of the data, dtype and shape."""

    offset: int
    dtype: str
    shape: tuple[int, ...]


class _Header(msgspec.Struct, frozen=True, array_like=True):
    metadata: bytes
    places: dict[str, _Place]
    data_bytes: int
    block_crcs: bytes


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], metadata: bytes) -> None:
    """Write ``arrays`` to a new file, flushed to the disk, read back and compared.

    Args:
        path: File to make; it must not exist.
        arrays: Name to array (any dtype of fixed size, little-endian).
        metadata: Kept in the header as it is.

    Raises:
        CorruptIndexError: The disk did not give back what was written.
    """
    places: dict[str, _Place] = {}
    offset = 0
    for name, array in arrays.items():
        places[name] = _Place(offset, array.dtype.str, array.shape)
        offset = _aligned(offset + array.nbytes)
    crcs: list[int] = []
    pending = bytearray()
    with path.open("xb") as file:
        # The header's size does not depend on the CRCs' values, so its room is known beforehand.
        n_blocks = -(-offset // _BLOCK)
        draft = msgspec.msgpack.encode(_Header(metadata, places, offset, bytes(4 * n_blocks)))
        data_start = _aligned(_HEAD.size + len(draft))
        file.seek(data_start)
        for array in arrays.values():
            _write_data(file, _bytes_of(array), crcs, pending)
        if pending:
            crcs.append(zlib.crc32(pending))
        file.truncate(data_start + offset)
        header = msgspec.msgpack.encode(
            _Header(metadata, places, offset, np.array(crcs, "<u4").tobytes())
        )
        file.seek(0)
        file.write(_HEAD.pack(_MAGIC, ARRAY_FILE_VERSION, zlib.crc32(header), len(header)))
        file.write(header)
        file.flush()
        os.fsync(file.fileno())
    with ArrayFile(path) as written:
        written.verify()


def _write_data(file: BinaryIO, data: memoryview, crcs: list[int], pending: bytearray) -> None:
    """Write one array with its padding; add the CRCs of the blocks that are full now."""
    file.write(data)
    padding = bytes(-len(data) % _ALIGN)
    file.write(padding)
    start = 0
    if pending:
        start = min(_BLOCK - len(pending), len(data))
        pending += data[:start]
        if len(pending) == _BLOCK:
            crcs.append(zlib.crc32(pending))
            pending.clear()
    while len(data) - start >= _BLOCK:
        crcs.append(zlib.crc32(data[start : start + _BLOCK]))
        start += _BLOCK
    pending += data[start:]
    pending += padding
    if len(pending) >= _BLOCK:  # the padding ends exactly at the block: both are multiples of 64
        crcs.append(zlib.crc32(pending[:_BLOCK]))
        del pending[:_BLOCK]


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGN) * _ALIGN


class ArrayFile:
    """An open file of arrays; views stay valid while the object lives."""

    def __init__(self, path: Path) -> None:
        """Map the file at ``path``.

        Raises:
            CorruptIndexError: The file is missing, cut, or its header is damaged.
            NewerIndexError: It was written by a later version.
        """
        self.path = path
        header, data_start, mapped = _read_header(path)
        self.metadata = header.metadata
        self._places = header.places
        self._start = data_start
        self._end = header.data_bytes
        self._map = mapped
        self._view = memoryview(mapped)[data_start:]
        self._crcs = np.frombuffer(header.block_crcs, "<u4")
        self._checked = bytearray(len(self._crcs))  # 1 for each block that was compared
        self._arrays: dict[str, NDArray[Any]] = {}
        self._whole: dict[str, NDArray[Any]] = {}

    def __enter__(self) -> ArrayFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Forget the arrays; the mapping goes when the last view of it does."""
        self._arrays.clear()
        self._whole.clear()
        self._view = memoryview(b"")

    @property
    def size(self) -> int:
        """Size of the file in bytes."""
        return self._start + self._end

    def raw(self, name: str) -> NDArray[Any]:
        """Return an array whose bytes are not checked yet: call `check` for what is read.

        Raises:
            CorruptIndexError: The file has no such array.
        """
        array = self._arrays.get(name)
        if array is None:
            place = self._places.get(name)
            if place is None:
                raise _damaged(self.path, f"no array {name!r}")
            count = int(np.prod(place.shape, dtype=np.int64))
            array = np.frombuffer(self._view, place.dtype, count, place.offset)
            array = array.reshape(place.shape)
            self._arrays[name] = array
        return array

    def array(self, name: str) -> NDArray[Any]:
        """Return a whole array, checked.

        Raises:
            CorruptIndexError: It is damaged or missing.
        """
        array = self._whole.get(name)
        if array is None:
            array = self.raw(name)
            self.check(name, 0, len(array))
            self._whole[name] = array
        return array

    def check(self, name: str, start: int, stop: int) -> None:
        """Compare the CRCs of the blocks that hold the rows ``start:stop`` of an array, once each.

        Raises:
            CorruptIndexError: A block is not what was written.
        """
        array = self.raw(name)
        stop = min(stop, len(array))
        row_bytes = array.strides[0]
        if start >= stop or not row_bytes:
            return
        offset = self._places[name].offset
        last = (offset + stop * row_bytes - 1) // _BLOCK
        block = (offset + start * row_bytes) // _BLOCK
        while (block := self._checked.find(0, block, last + 1)) >= 0:
            self._check_block(block)

    def part(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """Return the rows ``start:stop`` of an array, checked.

        Raises:
            CorruptIndexError: They are damaged, or the array is missing.
        """
        whole = self._whole.get(name)
        if whole is None:
            self.check(name, start, stop)
            whole = self.raw(name)
        return whole[start:stop]

    def _check_block(self, block: int) -> None:
        if self._checked[block]:
            return
        data = self._view[block * _BLOCK : min((block + 1) * _BLOCK, self._end)]
        if zlib.crc32(data) != self._crcs[block]:
            raise _damaged(self.path, f"block {block} does not match its checksum")
        self._checked[block] = 1

    def verify(self) -> None:
        """Compare every block.

        Raises:
            CorruptIndexError: One is not what was written.
        """
        for block in range(len(self._crcs)):
            self._check_block(block)


def _read_header(path: Path) -> tuple[_Header, int, mmap.mmap]:
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD.size)
            size = os.fstat(file.fileno()).st_size
            if len(head) < _HEAD.size:
                raise _damaged(path, "it is cut short")
            magic, version, crc, length = _HEAD.unpack(head)
            if magic != _MAGIC:
                raise _damaged(path, "it does not begin as one of ours")
            if version > ARRAY_FILE_VERSION:
                message = f"index file {path.name!r} has version {version}, newer than this program"
                raise NewerIndexError(message, hint="update wherein, or run 'wherein clear'")
            raw = file.read(min(length, size))
            if zlib.crc32(raw) != crc:
                raise _damaged(path, "its header does not match its checksum")
            header = msgspec.msgpack.decode(raw, type=_Header)
            data_start = _aligned(_HEAD.size + length)
            if size != data_start + header.data_bytes:
                raise _damaged(path, f"it has {size} bytes, not {data_start + header.data_bytes}")
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise _damaged(path, error.strerror or str(error)) from error
    except msgspec.MsgspecError as error:
        raise _damaged(path, "its header cannot be read") from error
    return header, data_start, mapped


def _damaged(path: Path, reason: str) -> CorruptIndexError:
    return CorruptIndexError(f"index file {str(path)!r} is damaged: {reason}", hint=_HINT)
