"""What a look at the tree means for its stored entries: a whole listing, or the changes alone."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np

from wherein.indexing.plan import Plan, make_plan
from wherein.store.entries import NO_SEGMENT, Entries
from wherein.store.manifest import Manifest
from wherein.types import Skipped
from wherein.walk.changes import Changes
from wherein.walk.walker import ListedFile, Listing

__all__ = ["MAX_FILE_BYTES", "Seen", "seen_changes", "seen_listing"]

MAX_FILE_BYTES = 64_000_000
"""Larger files are not even read for their beginning: hashing one takes a worker's memory."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A look at the tree, and what follows from it."""

    plan: Plan
    planned: Entries
    """The entries the plan was made from."""
    rest: Entries | None
    """Entries that stay without a look at each; None when all were looked at."""
    skipped: tuple[Skipped, ...]
    """Files the listing left out; those whose content is not indexed come from the entries."""
    looked_ns: int
    commit: str | None
    signature: bytes
    notes: tuple[str, ...]


def seen_listing(
    listing: Listing,
    stored: Entries,
    kinds: Set[str],
    *,
    trusts_stat: bool,
    doubted: Set[str] = frozenset(),
) -> Seen:
    """Compare a whole listing with the stored entries.

    Args:
        listing: The files there now.
        stored: The entries of the last look, or a sibling's.
        kinds: Kinds of files that are indexed.
        trusts_stat: False when ``stored`` is a sibling's.
        doubted: Paths to read again whatever their stat says.
    """
    files, left_out = _admitted(listing.files, kinds)
    plan = make_plan(files, stored, trusts_stat=trusts_stat, doubted=doubted)
    return Seen(
        plan=plan,
        planned=stored,
        rest=None,
        skipped=(*listing.skipped, *left_out),
        looked_ns=listing.started_ns,
        commit=listing.head,
        signature=listing.signature,
        notes=listing.notes,
    )


def seen_changes(base: Manifest, changes: Changes, kinds: Set[str], doubted: Set[str]) -> Seen:
    """Compare what changed since the base's signature with its entries.

    Entries whose stat proves nothing are read again as well.
    """
    stored = base.entries
    touched = {item.file.path for item in changes.listed}
    touched.update(changes.removed, (item.path for item in changes.skipped))
    files, left_out = _admitted(changes.listed, kinds)
    places = _places_to_read_again(stored, touched, doubted)
    again = [ListedFile(row.file, None) for row in stored.rows(places)]
    read_again = frozenset(item.file.path for item in again)
    is_planned = np.zeros(len(stored), np.bool_)
    for path in touched | read_again:
        place = stored.find(path)
        if place is not None:
            is_planned[place] = True
    planned = stored.take(np.flatnonzero(is_planned))
    listed = sorted([*files, *again], key=lambda item: item.file.path)
    unindexed = _unindexed_paths(stored)
    kept_out = [
        item for item in base.skipped if item.path not in touched and item.path not in unindexed
    ]
    return Seen(
        plan=make_plan(listed, planned, trusts_stat=True, doubted=doubted | read_again),
        planned=planned,
        rest=stored.take(np.flatnonzero(~is_planned)),
        skipped=(*kept_out, *changes.skipped, *left_out),
        looked_ns=changes.started_ns,
        commit=changes.head,
        signature=changes.signature,
        notes=base.head.notes,
    )


def _places_to_read_again(stored: Entries, touched: Set[str], doubted: Set[str]) -> list[int]:
    unsettled: list[int] = np.flatnonzero(stored.columns["settled"] == 0).tolist()
    places = {place for place in unsettled if stored.paths[place] not in touched}
    for path in doubted - touched:
        place = stored.find(path)
        if place is not None:
            places.add(place)
    return sorted(places)


def _unindexed_paths(stored: Entries) -> set[str]:
    places: list[int] = np.flatnonzero(stored.columns["segment"] == NO_SEGMENT).tolist()
    return {stored.paths[place] for place in places}


def _admitted(
    listed: Sequence[ListedFile], kinds: Set[str]
) -> tuple[list[ListedFile], list[Skipped]]:
    """Return the files that are indexed, and what is left out of the others."""
    files: list[ListedFile] = []
    left_out: list[Skipped] = []
    for item in listed:
        file = item.file
        if file.kind.value not in kinds:
            left_out.append(Skipped(file.path, "kind not indexed", file.kind.value))
        elif file.stat.size > MAX_FILE_BYTES:
            left_out.append(Skipped(file.path, "too large", f"{file.stat.size:,} bytes"))
        else:
            files.append(item)
    return files, left_out
