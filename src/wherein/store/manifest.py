"""What one tree holds: which segments, which of their files are dead, and every entry.

One file, published by atomic rename. Its head says all that a search needs when nothing has
changed; the longer parts behind it (entries, folder ids, skipped files) are decoded when asked for.
Every part has a checksum.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from wherein.errors import CorruptIndexError, NewerIndexError
from wherein.store.layout import FORMAT_VERSION, REBUILD_HINT
from wherein.types import Skipped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wherein.store.entries import Entries

__all__ = ["Head", "Manifest", "SegmentUse", "read_head", "read_manifest", "write_manifest"]

_MAGIC = b"WHTREE\r\n"
_PREFIX = struct.Struct("<8sIIQ")  # magic, version, CRC of the head, its length
_MAX_HEAD_BYTES = 1 << 30
"""A damaged length must not make us read for ever; a real head of a million files has 10 MB."""
_T = TypeVar("_T")


class SegmentUse(msgspec.Struct, frozen=True, array_like=True):
    """A segment of the tree with the files of it that the tree no longer holds."""

    segment_id: str
    n_files: int
    dead: bytes = b""
    """One bit for each file, set when dead; empty when all live."""

    def dead_files(self) -> NDArray[np.bool_] | None:
        """Return which files are dead, None when all live."""
        import numpy as np

        if not self.dead:
            return None
        bits = np.unpackbits(np.frombuffer(self.dead, np.uint8), count=self.n_files)
        return bits.view(np.bool_)

    def with_dead(self, dead: NDArray[np.bool_]) -> SegmentUse:
        """Return the same use with other dead files."""
        import numpy as np

        packed = np.packbits(dead).tobytes() if dead.any() else b""
        return SegmentUse(self.segment_id, self.n_files, packed)


class Head(msgspec.Struct, frozen=True, array_like=True):
    """What a search reads of the manifest when nothing has changed."""

    root: bytes
    """Real path of the tree, as the file system spells it."""
    anchor: bytes
    """Real path of git's common folder, or of the root outside git."""
    commit: str | None
    """Commit checked out."""
    snapshot_id: str
    recipe: str
    listing_key: str
    """Hash of the settings that decide which files are listed."""
    is_complete: bool
    """False while a first build is under way: only some of the files are covered."""
    generation: int
    day: int
    """Days since 1970 when it was written."""
    segments: tuple[SegmentUse, ...]
    n_files: int
    """Files whose content is indexed."""
    n_pending: int
    notes: tuple[str, ...] = ()
    """What the listing said that the asker should know."""


class _Wire(msgspec.Struct, array_like=True):
    head: Head
    parts: dict[str, tuple[int, int, int]]
    """Name to offset behind the head, length, CRC."""


@dataclass(frozen=True)
class Manifest:
    """A manifest as read or about to be written; parts are decoded when first asked for."""

    head: Head
    path: Path
    _parts: dict[str, tuple[memoryview, int]] = field(repr=False)

    @classmethod
    def of(
        cls,
        head: Head,
        path: Path,
        *,
        entries: Entries,
        folders: dict[str, bytes],
        skipped: Sequence[Skipped],
        pending: Sequence[str],
        signature: bytes,
    ) -> Manifest:
        """Return a manifest to be written at ``path``."""
        encoder = msgspec.msgpack.Encoder()
        raw: dict[str, bytes] = {
            "entries": entries.to_bytes(),
            "folders": encoder.encode(
                ([_raw_name(name) for name in folders], b"".join(folders.values()))
            ),
            "skipped": encoder.encode(
                [(_raw_name(item.path), item.reason, item.detail) for item in skipped]
            ),
            "pending": encoder.encode([_raw_name(path) for path in pending]),
            "signature": signature,
        }
        made = cls(
            head,
            path,
            {name: (memoryview(data), zlib.crc32(data)) for name, data in raw.items()},
        )
        # What was just encoded need not be decoded again.
        made.__dict__["entries"] = entries
        made.__dict__["folders"] = dict(folders)
        return made

    @property
    def signature(self) -> bytes:
        """What `walk.look_unchanged` compares; empty when the tree must be listed again.

        Raises:
            CorruptIndexError: The part is damaged.
        """
        return self._part("signature").tobytes()

    def _part(self, name: str) -> memoryview:
        if name not in self._parts:
            raise _damaged(self.path, f"it has no {name}")
        data, crc = self._parts[name]
        if zlib.crc32(data) != crc:
            raise _damaged(self.path, f"its {name} do not match their checksum")
        return data

    def _decoded(self, name: str, kind: type[_T]) -> _T:
        try:
            return msgspec.msgpack.decode(self._part(name), type=kind)
        except msgspec.MsgspecError as error:
            raise _damaged(self.path, f"its {name} cannot be read") from error

    @cached_property
    def entries(self) -> Entries:
        """The tree's files.

        Raises:
            CorruptIndexError: The part is damaged.
        """
        from wherein.store.entries import Entries

        try:
            return Entries.from_bytes(self._part("entries"))
        except ValueError as error:
            raise _damaged(self.path, "its entries cannot be read") from error

    @cached_property
    def folders(self) -> dict[str, bytes]:
        """Merkle id of every folder, the root's under ``""``.

        Raises:
            CorruptIndexError: The part is damaged.
        """
        names, ids = self._decoded("folders", tuple[list[bytes], bytes])
        return {_name(raw): ids[place * 20 : place * 20 + 20] for place, raw in enumerate(names)}

    @cached_property
    def skipped(self) -> tuple[Skipped, ...]:
        """Files that are not indexed, sorted by path.

        Raises:
            CorruptIndexError: The part is damaged.
        """
        rows = self._decoded("skipped", list[tuple[bytes, str, str]])
        return tuple(Skipped(_name(path), reason, detail) for path, reason, detail in rows)

    @cached_property
    def pending(self) -> tuple[str, ...]:
        """Files not covered yet, sorted.

        Raises:
            CorruptIndexError: The part is damaged.
        """
        return tuple(_name(raw) for raw in self._decoded("pending", list[bytes]))

    def to_bytes(self) -> bytes:
        """Return the file's bytes."""
        places: dict[str, tuple[int, int, int]] = {}
        offset = 0
        for name, (data, crc) in self._parts.items():
            places[name] = (offset, len(data), crc)
            offset += len(data)
        head = msgspec.msgpack.encode(_Wire(self.head, places))
        prefix = _PREFIX.pack(_MAGIC, FORMAT_VERSION, zlib.crc32(head), len(head))
        return b"".join([prefix, head, *(data for data, _ in self._parts.values())])


def _raw_name(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _name(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def read_manifest(path: Path) -> Manifest | None:
    """Return the manifest at ``path``, None when there is none.

    Raises:
        CorruptIndexError: It is damaged.
        NewerIndexError: A newer version wrote it.
    """
    try:
        data = memoryview(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _damaged(path, error.strerror or str(error)) from error
    crc, length = _unpack_prefix(path, bytes(data[: _PREFIX.size]))
    start = _PREFIX.size + length
    wire = _decode_head(path, data[_PREFIX.size : start], crc, length)
    parts: dict[str, tuple[memoryview, int]] = {}
    for name, (offset, size, part_crc) in wire.parts.items():
        parts[name] = (data[start + offset : start + offset + size], part_crc)
    return Manifest(wire.head, path, parts)


def read_head(path: Path) -> Head | None:
    """Return the head of the manifest at ``path`` without reading the rest, None when none.

    Raises:
        CorruptIndexError: It is damaged.
        NewerIndexError: A newer version wrote it.
    """
    try:
        with path.open("rb") as file:
            crc, length = _unpack_prefix(path, file.read(_PREFIX.size))
            return _decode_head(path, file.read(length), crc, length).head
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _damaged(path, error.strerror or str(error)) from error


def _unpack_prefix(path: Path, prefix: bytes) -> tuple[int, int]:
    if len(prefix) < _PREFIX.size:
        raise _damaged(path, "it is cut short")
    magic, version, crc, length = _PREFIX.unpack(prefix)
    if magic != _MAGIC:
        raise _damaged(path, "it does not begin as one of ours")
    if version > FORMAT_VERSION:
        message = f"index of {path.parent.name} has format {version}, newer than {FORMAT_VERSION}"
        raise NewerIndexError(message, hint="update wherein, or run 'wherein clear'")
    if length > _MAX_HEAD_BYTES:
        raise _damaged(path, f"its head claims {length} bytes")
    return crc, length


def _decode_head(path: Path, head: bytes | memoryview, crc: int, length: int) -> _Wire:
    if len(head) != length or zlib.crc32(head) != crc:
        raise _damaged(path, "its head does not match its checksum")
    try:
        return msgspec.msgpack.decode(head, type=_Wire)
    except msgspec.MsgspecError as error:
        raise _damaged(path, "its head cannot be read") from error


def write_manifest(manifest: Manifest) -> None:
    """Publish ``manifest`` at its path: readers see the one before or this one, whole.

    Raises:
        OSError: The disk is full or read-only.
    """
    path = manifest.path
    temporary = path.with_name(f"{path.name}.tmp-{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            # Not flushed to the disk: after a power cut a checksum tells, and it is built again.
            file.write(manifest.to_bytes())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _damaged(path: Path, reason: str) -> CorruptIndexError:
    return CorruptIndexError(f"manifest {str(path)!r} is damaged: {reason}", hint=REBUILD_HINT)
