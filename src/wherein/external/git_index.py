"""Reads git's index file: which paths are tracked, with which content, and the stat git saw.

Git's own listing costs a process and a text to parse again; reading the file takes 1 µs an entry.
Forms this reader does not know (split index, SHA-256, later versions) are left to
``git ls-files --debug``.
"""

from __future__ import annotations

import os
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "GITLINK",
    "RACY_NS",
    "SYMLINK",
    "TREE",
    "Index",
    "IndexEntry",
    "UnknownIndexError",
    "parse_debug_listing",
    "parse_index",
    "read_index_file",
    "vouches",
]

_HEADER = struct.Struct(">4sII")
_ENTRY = struct.Struct(">10I20sH")
_EXTENSION = struct.Struct(">4sI")
_NAME_LENGTH = 0xFFF
_STAGE = 0x3000
_IS_EXTENDED = 0x4000
_IS_SKIP_WORKTREE = 0x4000
_IS_INTENT_TO_ADD = 0x2000
_SHA1_BYTES = 20

GITLINK = 0o160000
"""Mode of a submodule's entry."""
SYMLINK = 0o120000
TREE = 0o040000
"""Mode of a folder in a sparse index."""


class UnknownIndexError(Exception):
    """The index has a form this reader does not know."""


class IndexEntry(NamedTuple):
    """One tracked path. Tuples, not dataclasses: 50,000 of them are made in 50 ms."""

    path: str
    mode: int
    blob_id: str
    """Hex object id; of the merge stage seen first where there are several."""
    is_plain: bool
    """False in a merge conflict or when only the intent to add is recorded: no id to rely on."""
    ctime_ns: int
    mtime_ns: int
    inode: int
    """Low 32 bits, as git stores it."""
    size: int
    """Low 32 bits."""
    is_skip_worktree: bool
    """Left out of a sparse checkout: usually not on disk."""


@dataclass(frozen=True, slots=True)
class Index:
    """The entries of an index, sorted by path, one for each path."""

    entries: tuple[IndexEntry, ...]
    written_ns: int
    """Modification time of the index file: stats not older than it prove nothing."""


def parse_index(data: bytes, written_ns: int) -> Index:
    """Read the bytes of an index file.

    Raises:
        UnknownIndexError: Damaged, or of a form that git itself must read.
    """
    try:
        magic, version, n_entries = _HEADER.unpack_from(data)
    except struct.error:
        raise UnknownIndexError from None
    if magic != b"DIRC" or version not in {2, 3, 4}:
        raise UnknownIndexError
    unpack, fixed = _ENTRY.unpack_from, _ENTRY.size
    entries: list[IndexEntry] = []
    offset, previous, last_path = _HEADER.size, b"", None
    try:
        for _ in range(n_entries):
            cs, cn, ms, mn, _dev, inode, mode, _uid, _gid, size, oid, flags = unpack(data, offset)
            start, extended = offset + fixed, 0
            if flags & _IS_EXTENDED:
                extended = (data[start] << 8) | data[start + 1]
                start += 2
            if version == 4:
                strip, start = _varint(data, start)
                end = data.index(0, start)
                previous = previous[: len(previous) - strip] + data[start:end]
                name, offset = previous, end + 1
            else:
                length = flags & _NAME_LENGTH
                end = start + length if length < _NAME_LENGTH else data.index(0, start)
                name = data[start:end]
                offset += (end - offset + 8) & ~7
            if mode == TREE:
                raise UnknownIndexError  # a sparse index: git expands its folders
            path = os.fsdecode(name)
            if path == last_path:
                continue
            last_path = path
            entries.append(
                IndexEntry(
                    path,
                    mode,
                    oid.hex(),
                    not flags & _STAGE and not extended & _IS_INTENT_TO_ADD,
                    cs * 1_000_000_000 + cn,
                    ms * 1_000_000_000 + mn,
                    inode,
                    size,
                    bool(extended & _IS_SKIP_WORKTREE),
                )
            )
    except (struct.error, ValueError, IndexError):
        raise UnknownIndexError from None
    _check_extensions(data, offset)
    return Index(tuple(entries), written_ns)


RACY_NS = 50_000_000
"""Kernels stamp files with a clock that ticks every 1 to 10 ms; two writes within a tick carry one
stamp. A stamp that is not older than a look by this much proves nothing."""


def vouches(entry: IndexEntry, found: os.stat_result, written_ns: int) -> bool:
    """Return whether the file is, by its stat, the one whose content git recorded.

    Stricter than git: nanoseconds, change time and inode count, and a file changed shortly before
    the index was written is not believed.
    """
    return (
        entry.is_plain
        and found.st_mtime_ns == entry.mtime_ns
        and found.st_ctime_ns == entry.ctime_ns
        and found.st_size == entry.size
        and found.st_ino & 0xFFFFFFFF == entry.inode
        and found.st_ctime_ns + RACY_NS < written_ns
    )


def _varint(data: bytes, offset: int) -> tuple[int, int]:
    """Read version 4's offset encoding."""
    byte = data[offset]
    value = byte & 0x7F
    while byte & 0x80:
        offset += 1
        byte = data[offset]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, offset + 1


def _check_extensions(data: bytes, offset: int) -> None:
    """Refuse an index whose meaning depends on an extension we do not read, or a longer hash."""
    end = len(data) - _SHA1_BYTES
    while offset < end:
        if offset + _EXTENSION.size > end:
            raise UnknownIndexError
        name, size = _EXTENSION.unpack_from(data, offset)
        # An upper-case first letter means that readers may ignore it.
        if not name[:1].isupper() and name != b"sdir":
            raise UnknownIndexError
        offset += _EXTENSION.size + size
    if offset != end:
        raise UnknownIndexError


_DEBUG_ENTRY = re.compile(
    rb"(\d+) ([0-9a-f]+) (\d)\t([^\0]*)\0"
    rb"  ctime: (\d+):(\d+)\n  mtime: (\d+):(\d+)\n  dev: \d+\tino: (\d+)\n"
    rb"  uid: \d+\tgid: \d+\n  size: (\d+)\tflags: ([0-9a-f]+)\n"
)
_DEBUG_SKIP_WORKTREE = 0x40000000
_DEBUG_INTENT_TO_ADD = 0x20000000


def parse_debug_listing(output: bytes, written_ns: int) -> Index:
    """Read what ``git ls-files --stage --debug -z`` prints."""
    entries: list[IndexEntry] = []
    for mode, oid, stage, name, cs, cn, ms, mn, inode, size, flags in _DEBUG_ENTRY.findall(output):
        path = os.fsdecode(name)
        if entries and entries[-1].path == path:
            continue
        bits = int(flags, 16)
        entries.append(
            IndexEntry(
                path,
                int(mode, 8),
                oid.decode(),
                stage == b"0" and not bits & _DEBUG_INTENT_TO_ADD,
                int(cs) * 1_000_000_000 + int(cn),
                int(ms) * 1_000_000_000 + int(mn),
                int(inode),
                int(size),
                bool(bits & _DEBUG_SKIP_WORKTREE),
            )
        )
    return Index(tuple(entries), written_ns)


def read_index_file(git_dir: Path) -> Index:
    """Read the index in ``git_dir``; no file is an empty index.

    Raises:
        UnknownIndexError: It cannot be read here.
    """
    path = git_dir / "index"
    try:
        with path.open("rb") as file:
            data = file.read()
            written_ns = os.fstat(file.fileno()).st_mtime_ns
    except FileNotFoundError:
        return Index((), 0)
    except OSError:
        raise UnknownIndexError from None
    return parse_index(data, written_ns)
