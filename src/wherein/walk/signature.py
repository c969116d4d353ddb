"""Tells in one pass of stats whether a tree is still as it was listed.

A signature holds the stat of every file and folder of the file set, and of the places outside it
that decide about the set: git's index, head and settings, and the ignore files. Looking starts no
process and reads no file.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from operator import attrgetter
from pathlib import Path

from wherein.external.git_index import RACY_NS
from wherein.settings import Settings
from wherein.types import FileStat
from wherein.walk.collector import paused_collector

__all__ = [
    "ABSENT",
    "Places",
    "Row",
    "Signature",
    "is_racy",
    "look_unchanged",
    "make_signature",
    "outer_row",
    "pack_rows",
    "pack_signature",
    "stat_fields",
    "stat_row",
    "unpack_signature",
]

_MAGIC = b"WLOOK2"
_HEAD = struct.Struct("<6s?16sIII")
"""Magic, whether anything was racy, digest of root and settings, numbers of files, folders and
outer paths."""
_ROW_BYTES = 40

Row = tuple[int, int, int, int, int]
"""Mode, inode, size, mtime and ctime in nanoseconds."""

COARSE_NS = 2_100_000_000
"""File systems that stamp whole seconds (or two, as FAT does) need a wider margin."""

stat_fields = attrgetter("st_mode", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")
"""The row of an `os.stat_result`; a C function, since it runs for every file."""
ABSENT: Row = (0, 0, 0, 0, 0)
_WRAP = 1 << 64


def is_racy(found: FileStat, looked_ns: int) -> bool:
    """Return whether the file may have changed since ``looked_ns`` without a change of its stat.

    A change within the same tick of the kernel's clock leaves the same stamps, so a file as new
    as the look itself is not believed.
    """
    return _is_recent(found.ctime_ns, looked_ns)


def _is_recent(ctime_ns: int, looked_ns: int) -> bool:
    if ctime_ns + COARSE_NS < looked_ns:
        return False
    margin = RACY_NS if ctime_ns % 1_000_000_000 else COARSE_NS
    return ctime_ns + margin >= looked_ns


def make_signature(
    root: Path,
    settings: Settings,
    stats: Sequence[tuple[str, os.stat_result]],
    folders: Iterable[str],
    watched: Iterable[str],
    started_ns: int,
) -> bytes:
    """Return the signature of a listing that began at ``started_ns``.

    Args:
        root: Real path of the tree.
        settings: As the listing used them.
        stats: The paths of the file set that are on disk, with their stat.
        folders: Relative paths of the folders that could gain a file, the root as an empty name.
            A path that was gone comes back with a change of its folder's stamps.
        watched: Absolute paths, perhaps absent, that decide about the set.
        started_ns: Time before anything was looked at.
    """
    base = f"{root}/"
    names = [path for path, _ in stats]
    rows = [stat_fields(found) for _, found in stats]
    inner_folders = sorted(folders)
    outer = sorted(watched)
    return pack_signature(
        root,
        settings,
        Places(names, inner_folders, outer),
        [*rows, *(stat_row(base + path) for path in inner_folders), *map(outer_row, outer)],
        started_ns,
    )


@dataclass(frozen=True, slots=True)
class Places:
    """The paths of a signature: files and folders relative to the root, outer ones absolute."""

    files: Sequence[str]
    folders: Sequence[str]
    outer: Sequence[str]


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature taken apart."""

    places: Places
    stamps: bytes
    """The rows of files, folders and outer paths, packed."""

    def row(self, index: int) -> bytes:
        """Return one packed row."""
        return self.stamps[index * _ROW_BYTES : (index + 1) * _ROW_BYTES]


def pack_signature(
    root: Path, settings: Settings, places: Places, rows: Sequence[Row], started_ns: int
) -> bytes:
    """Return the signature of ``places`` with one row each, in their order."""
    first_outer = len(places.files) + len(places.folders)
    is_any_racy = any(_is_recent(row[4], started_ns) for row in rows if row is not ABSENT)
    # A file that is gone comes back with a change of its folder's stamps; a folder that went while
    # we looked leaves us unsure of what was in it.
    is_any_racy = is_any_racy or any(row is ABSENT for row in rows[:first_outer])
    counts = (len(places.files), len(places.folders), len(places.outer))
    head = _HEAD.pack(_MAGIC, is_any_racy, _question(root, settings), *counts)
    names = os.fsencode("\0".join((*places.files, *places.folders, *places.outer)))
    return b"".join((head, pack_rows(rows), names))


def unpack_signature(root: Path, settings: Settings, signature: bytes) -> Signature | None:
    """Return the parts of a signature, None when it is damaged, racy or another question's.

    ``root`` is a real path.
    """
    try:
        magic, is_any_racy, question, n_files, n_folders, n_outer = _HEAD.unpack_from(signature)
    except struct.error:
        return None
    if magic != _MAGIC or is_any_racy or question != _question(root, settings):
        return None
    n_inner = n_files + n_folders
    start = _HEAD.size + _ROW_BYTES * (n_inner + n_outer)
    names = os.fsdecode(signature[start:]).split("\0")
    if len(names) != n_inner + n_outer:
        return None
    places = Places(names[:n_files], names[n_files:n_inner], names[n_inner:])
    return Signature(places, signature[_HEAD.size : start])


def look_unchanged(root: Path, settings: Settings, signature: bytes) -> bool:
    """Return whether a listing now would be the one that ``signature`` was made for.

    Costs one stat for each file and folder. False also when something was too new to tell.
    """
    real = Path(os.path.realpath(root))
    with paused_collector():
        known = unpack_signature(real, settings, signature)
        return known is not None and _is_as_known(real, known)


def _is_as_known(real: Path, known: Signature) -> bool:
    places = known.places
    outer = pack_rows([outer_row(path) for path in places.outer])
    if not known.stamps.endswith(outer):
        return False
    base = f"{real}/"
    try:
        rows = list(
            map(
                stat_fields,
                map(os.lstat, [base + name for name in (*places.folders, *places.files)]),
            )
        )
    except OSError:
        return False
    n_folders = len(places.folders)
    return pack_rows(rows[n_folders:] + rows[:n_folders]) + outer == known.stamps


def stat_row(path: str) -> Row:
    """Return the row of a path, `ABSENT` when there is none."""
    try:
        return stat_fields(os.lstat(path))
    except (OSError, ValueError):
        return ABSENT


def outer_row(path: str) -> Row:
    """Return the row of an outer path; of a folder (``.git``) only whether it is the same one."""
    row = stat_row(path)
    return (row[0], row[1], 0, 0, 0) if stat.S_ISDIR(row[0]) else row


def pack_rows(rows: Iterable[Row]) -> bytes:
    """Return rows as bytes, 40 for each."""
    flat = tuple(chain.from_iterable(rows))
    try:
        return struct.pack(f"<{len(flat)}q", *flat)
    except struct.error:  # inodes of some network file systems use all 64 bits
        return struct.pack(f"<{len(flat)}Q", *(value % _WRAP for value in flat))


def _question(root: Path, settings: Settings) -> bytes:
    """Digest what a listing depends on besides the disk."""
    parts = (os.fspath(root), *settings.ignore, "\1", *settings.deny, "\1", *settings.include)
    return blake2b(os.fsencode("\0".join(parts)), digest_size=16).digest()
