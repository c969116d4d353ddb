"""Tells in one pass of stats whether a tree is still as it was listed.

A signature holds the stat of every file and folder of the file set, and of the places outside it
that decide about the set: git's index, head and settings, and the ignore files. Looking starts no
process and reads no file.
"""

from __future__ import annotations

import os
import struct
from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import chain
from operator import attrgetter
from pathlib import Path

from wherein.external.git_index import RACY_NS
from wherein.settings import Settings
from wherein.types import FileStat

__all__ = ["is_racy", "look_unchanged", "make_signature"]

_MAGIC = b"WLOOK1"
_HEAD = struct.Struct("<6s?16sII")
"""Magic, whether anything was racy, digest of root and settings, numbers of paths."""

COARSE_NS = 2_100_000_000
"""File systems that stamp whole seconds (or two, as FAT does) need a wider margin."""

_fields = attrgetter("st_mode", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")
_ABSENT = (0, 0, 0, 0, 0)
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
    inner = [path for path, _ in stats]
    rows = [_fields(found) for _, found in stats]
    is_any_gone = False
    for path in sorted(folders):
        row = _stat_row(base + path)
        if row == _ABSENT:
            is_any_gone = True
        else:
            inner.append(path)
            rows.append(row)
    outer = sorted(watched)
    rows.extend(map(_stat_row, outer))
    is_any_racy = is_any_gone or any(_is_recent(row[4], started_ns) for row in rows)
    head = _HEAD.pack(_MAGIC, is_any_racy, _question(root, settings), len(inner), len(outer))
    names = os.fsencode("\0".join((*inner, *outer)))
    return b"".join((head, _pack(rows), names))


def look_unchanged(root: Path, settings: Settings, signature: bytes) -> bool:
    """Return whether a listing now would be the one that ``signature`` was made for.

    Costs one stat for each file and folder. False also when something was too new to tell.
    """
    try:
        magic, is_any_racy, question, n_inner, n_outer = _HEAD.unpack_from(signature)
    except struct.error:
        return False
    real = Path(os.path.realpath(root))
    if magic != _MAGIC or is_any_racy or question != _question(real, settings):
        return False
    start = _HEAD.size + 40 * (n_inner + n_outer)
    names = os.fsdecode(signature[start:]).split("\0")
    if len(names) != n_inner + n_outer:
        return False
    base = f"{real}/"
    outer = [_stat_row(path) for path in names[n_inner:]]
    packed_outer = _pack(outer)
    if packed_outer != signature[start - len(packed_outer) : start]:
        return False
    try:
        inner = list(map(_fields, map(os.lstat, [base + name for name in names[:n_inner]])))
    except OSError:
        return False
    return _pack(inner) == signature[_HEAD.size : start - len(packed_outer)]


def _stat_row(path: str) -> tuple[int, int, int, int, int]:
    try:
        return _fields(os.lstat(path))
    except (OSError, ValueError):
        return _ABSENT


def _pack(rows: Iterable[tuple[int, int, int, int, int]]) -> bytes:
    flat = list(chain.from_iterable(rows))
    try:
        return array("q", flat).tobytes()
    except OverflowError:  # inodes of some network file systems use all 64 bits
        return array("Q", [value % _WRAP for value in flat]).tobytes()


def _question(root: Path, settings: Settings) -> bytes:
    """Digest what a listing depends on besides the disk."""
    parts = (os.fspath(root), *settings.ignore, "\1", *settings.deny, "\1", *settings.include)
    return blake2b(os.fsencode("\0".join(parts)), digest_size=16).digest()
