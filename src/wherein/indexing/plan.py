"""What has to be done so that a stored tree holds what was listed: pure, no file is touched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wherein.store.entries import Entries, stat_row
from wherein.types import FileStat, SourceFile
from wherein.walk.walker import ListedFile, is_racy

__all__ = [
    "SEGMENT_BYTES",
    "SEGMENT_FILES",
    "Content",
    "Plan",
    "Wanted",
    "choose_merge",
    "make_plan",
    "settle",
    "settled_columns",
    "with_stat",
]

_FOLD_FLOOR_BYTES = 128_000
"""Segments with less text than this are always folded into the next one: 40 chunks, 10 ms."""

SEGMENT_BYTES = 32_000_000
"""Text of the files of one segment: 20,000 chunks, which take 0.2 GB while they are written."""

SEGMENT_FILES = 16_000
"""Files of one segment: where they are tiny, it is their number that takes the memory."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file that needs a row in a segment."""

    file: SourceFile
    blob_id: str | None
    """Its content, None while nobody has read it."""


@dataclass(frozen=True, slots=True)
class Content:
    """What reading a file gave."""

    blob_id: str
    stat: FileStat
    is_settled: bool
    """True when any later write must show in the stat."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What stays, what is wanted, what goes.

    ``kept`` holds places in the stored entries, ascending, ``kept_files`` what was listed there.
    """

    kept: tuple[int, ...]
    kept_files: tuple[SourceFile, ...]
    wanted: tuple[Wanted, ...]
    """Sorted by path."""
    unsettled: frozenset[str] = frozenset()
    """Paths that must be read again at the next look, whatever their stat says."""

    @property
    def unknown(self) -> list[Wanted]:
        """The wanted files whose content nobody has read yet."""
        return [item for item in self.wanted if item.blob_id is None]


def make_plan(
    listed: Sequence[ListedFile],
    stored: Entries,
    *,
    trusts_stat: bool,
    doubted: Set[str] = frozenset(),
) -> Plan:
    """Compare what is listed with what is stored.

    An entry stays when path, content, language, kind and flags are the same. The content is what
    git's index says, else what the entry says if its stat is the same and settled.

    Args:
        listed: The files there now, sorted by path.
        stored: The entries of the last look, or a sibling tree's.
        trusts_stat: False when ``stored`` is a sibling's, whose stats are of other files.
        doubted: Paths whose content must be read whatever their stat says.
    """
    places = {path: place for place, path in enumerate(stored.paths)}
    known = _Known(stored)
    kept: list[int] = []
    kept_files: list[SourceFile] = []
    wanted: list[Wanted] = []
    for item in listed:
        file = item.file
        place = places.get(file.path)
        blob_id = item.blob_id
        if file.path in doubted:
            blob_id = None
        elif blob_id is None and trusts_stat and place is not None:
            blob_id = known.content_by_stat(place, file.stat)
        if place is not None and blob_id is not None and known.is_same(place, file, blob_id):
            kept.append(place)
            kept_files.append(file)
        else:
            wanted.append(Wanted(file, blob_id))
    return Plan(tuple(kept), tuple(kept_files), tuple(wanted))


class _Known:
    """Stored entries as lists, so that comparing one costs no array access."""

    def __init__(self, stored: Entries) -> None:
        columns = stored.columns
        self._blobs = stored.blob_ids()
        self._stats: list[list[int]] = stored.stats.tolist()
        self._settled: list[int] = columns["settled"].tolist()
        codes: list[int] = columns["language"].tolist()
        self._languages = [stored.languages[code] or None for code in codes]
        self._kinds = stored.kinds()
        self._flags: list[int] = columns["flags"].tolist()

    def is_same(self, place: int, file: SourceFile, blob_id: str) -> bool:
        return (
            self._blobs[place] == blob_id
            and self._languages[place] == file.language
            and self._kinds[place] == file.kind
            and self._flags[place] == file.flags
        )

    def content_by_stat(self, place: int, stat: FileStat) -> str | None:
        if self._settled[place] and self._stats[place] == stat_row(stat):
            return self._blobs[place]
        return None


def settle(plan: Plan, stored: Entries, contents: Mapping[str, Content | None]) -> Plan:
    """Return the plan once unknown contents have been read.

    Args:
        plan: From `make_plan`.
        stored: The entries it was made from.
        contents: What reading gave, by path; None for a file that is gone. Of a path left out
            nothing is known yet.
    """
    kept = dict(zip(plan.kept, plan.kept_files, strict=True))
    known = _Known(stored)
    wanted: list[Wanted] = []
    unsettled: set[str] = set()
    for item in plan.wanted:
        path = item.file.path
        if item.blob_id is not None or path not in contents:
            wanted.append(item)
            continue
        content = contents[path]
        if content is None:
            continue
        file = with_stat(item.file, content.stat)
        place = stored.find(path)
        if not content.is_settled:
            unsettled.add(path)
        if place is not None and known.is_same(place, file, content.blob_id):
            kept[place] = file
        else:
            wanted.append(Wanted(file, content.blob_id))
    places = sorted(kept)
    files = tuple(kept[place] for place in places)
    return Plan(tuple(places), files, tuple(wanted), plan.unsettled | unsettled)


def with_stat(file: SourceFile, stat: FileStat) -> SourceFile:
    """Return the same file with the stat it had when it was read."""
    return SourceFile(file.path, stat, file.language, file.kind, file.flags)


def settled_columns(stats: Sequence[FileStat], looked_ns: int) -> NDArray[np.bool_]:
    """Return for each stat whether a write after ``looked_ns`` must give another one."""
    return np.array([not is_racy(stat, looked_ns) for stat in stats], np.bool_)


def choose_merge(
    live_bytes: Sequence[int],
    all_files: Sequence[int],
    live_files: Sequence[int],
    new_bytes: int,
    max_bytes: int,
) -> tuple[int, ...]:
    """Return which segments to fold into the one that is about to be written.

    Segments grow geometrically (Bentley and Saxe's logarithmic method), so a tree has few and a
    file is written again a logarithmic number of times. A segment most of whose files are dead is
    folded too: its dead rows cost every query.

    Args:
        live_bytes: Text of the live files of each segment.
        all_files: Files of each segment.
        live_files: Live files of each segment.
        new_bytes: Text of the files that must be written anyway.
        max_bytes: Segments with more live text stay.
    """
    chosen: list[int] = []
    total = max(new_bytes, _FOLD_FLOOR_BYTES)
    for place in sorted(range(len(live_bytes)), key=lambda place: (live_bytes[place], place)):
        size = live_bytes[place]
        is_mostly_dead = live_files[place] * 2 < all_files[place]
        if size <= max_bytes and (size <= total or is_mostly_dead):
            chosen.append(place)
            total += size
    return tuple(sorted(chosen))
