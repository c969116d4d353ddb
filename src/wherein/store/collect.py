"""Removes what nothing uses: segments no tree names, trees that are gone, records of long ago."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from wherein.errors import StoreError
from wherein.store.layout import Layout
from wherein.store.lock import FileLock
from wherein.store.manifest import Head, read_head, read_manifest
from wherein.store.records import RecordKey, RecordStore
from wherein.store.vector_cache import VectorCache

__all__ = ["Collected", "collect", "has_leftovers"]

RECORD_DAYS = 30
"""Records stay so long after their last use: going back to a branch of last month costs nothing."""

VECTOR_DAYS = 180
"""Vectors by optional models stay longer: they cost money, and only new files look at them."""

TREE_DAYS = 14
"""A tree whose folder is missing stays so long: the folder may be on a disk that is not mounted."""

_MARK = "collected"
"""Empty file whose time stamp says when records were last looked through."""

_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Collected:
    """What was removed."""

    n_segments: int
    n_trees: int
    n_records: int


def has_leftovers(layout: Layout) -> bool:
    """Return True when a writer that died left a half-written file or folder behind."""
    folders = (layout.family, layout.segments, layout.tree)
    return any(".tmp-" in name for folder in folders for name in _names(folder))


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - the names alone are wanted
    except OSError:
        return []


def collect(layout: Layout, day: int) -> Collected | None:
    """Remove what nothing uses, unless a writer is at work: then None.

    Args:
        layout: Any tree of the family.
        day: Days since 1970.
    """
    lock = FileLock(layout.use_lock)
    try:
        if not lock.acquire(0):
            return None
    except OSError:
        return None
    try:
        return _collect(layout, day)
    finally:
        lock.release()


def _collect(layout: Layout, day: int) -> Collected:
    heads, n_trees = _living_trees(layout, day)
    used = {use.segment_id for head in heads.values() for use in head.segments}
    n_segments = 0
    for name in sorted(_names(layout.segments)):
        if name not in used:
            shutil.rmtree(layout.segments / name, ignore_errors=True)
            n_segments += 1
    for folder in (layout.family, *heads):
        for name in _names(folder):
            if ".tmp-" in name:
                (folder / name).unlink(missing_ok=True)
    return Collected(n_segments, n_trees, _old_records(layout, heads, day))


def _living_trees(layout: Layout, day: int) -> tuple[dict[Path, Head], int]:
    """Return the heads of the trees in use; remove the others."""
    heads: dict[Path, Head] = {}
    n_removed = 0
    for folder in layout.tree_folders():
        try:
            head = read_head(folder / "manifest")
        except StoreError:
            (folder / "manifest").unlink(missing_ok=True)  # it is built again from the records
            continue
        if head is None:
            continue
        is_gone = not Path(os.fsdecode(head.root)).is_dir()
        if is_gone and head.day + TREE_DAYS <= day:
            shutil.rmtree(folder, ignore_errors=True)
            n_removed += 1
        else:
            heads[folder] = head
    return heads, n_removed


def _old_records(layout: Layout, heads: dict[Path, Head], day: int) -> int:
    """Once a day, mark the records that trees use and drop those unused for long."""
    mark = layout.family / _MARK
    try:
        if int(mark.stat().st_mtime // _DAY_S) >= day:
            return 0
    except FileNotFoundError:
        pass
    n_records = 0
    try:
        for folder, head in sorted(heads.items()):
            with RecordStore.open(layout.records, head.recipe) as records:
                records.mark_used(_keys_of(folder), day)
        with RecordStore.open(layout.records, "") as records:
            n_records = records.drop_unused(day - RECORD_DAYS)
        if layout.vectors.exists():
            with VectorCache.open(layout.vectors, "", day) as vectors:
                vectors.drop_unused(day - VECTOR_DAYS)
    except (StoreError, OSError):
        return 0  # the next writer finds out and mends it
    mark.touch()
    return n_records


def _keys_of(folder: Path) -> Iterable[RecordKey]:
    manifest = read_manifest(folder / "manifest")
    if manifest is None:
        return
    entries = manifest.entries
    codes: list[int] = entries.columns["language"].tolist()
    for blob_id, code in zip(entries.blob_ids(), codes, strict=True):
        yield RecordKey(blob_id, entries.languages[code] or None)
