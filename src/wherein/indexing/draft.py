"""A tree on its way from one manifest to the next: what stays, what is new, what is left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wherein.indexing.plan import Wanted, settled_columns
from wherein.indexing.seen import Seen
from wherein.store.entries import NO_SEGMENT, Entries, EntryRow, stat_columns
from wherein.store.manifest import Head, Manifest, SegmentUse
from wherein.store.snapshot import folder_ids, updated_folder_ids
from wherein.types import Skipped, SourceFile
from wherein.walk.walker import is_racy

__all__ = ["Draft", "TreeName"]


@dataclass(frozen=True, slots=True)
class TreeName:
    """What a manifest says of its tree besides the files."""

    root: bytes
    anchor: bytes
    recipe: str
    listing_key: str
    day: int
    notes: tuple[str, ...] = ()


class Draft:
    """The state between two manifests. Rows are added as files are digested.

    Args:
        base: The manifest to go on from, None for a first build.
        seen: The look at the tree, with the plan that follows from it.
    """

    def __init__(self, base: Manifest | None, seen: Seen) -> None:
        plan = seen.plan
        self._base = base
        kept = seen.planned.take(np.array(plan.kept, np.intp))
        stats = stat_columns(file.stat for file in plan.kept_files)
        settled = settled_columns([file.stat for file in plan.kept_files], seen.looked_ns)
        if plan.unsettled:
            settled &= np.array([path not in plan.unsettled for path in kept.paths], np.bool_)
        kept = kept.with_columns(stats=stats, settled=settled)
        self.kept = kept if seen.rest is None else seen.rest.joined(kept)
        self._left = set(seen.planned.paths).difference(kept.paths)
        self.uses: list[SegmentUse] = list(base.head.segments) if base else []
        self.wanted: list[Wanted] = list(plan.wanted)
        self._rows: list[EntryRow] = []
        self._skipped = list(seen.skipped)
        self._done: set[str] = set()
        self._looked_ns = seen.looked_ns
        self._unsettled = plan.unsettled

    def is_settled(self, file: SourceFile) -> bool:
        """Return True when a write after the listing must show in the stat that was listed."""
        return file.path not in self._unsettled and not is_racy(file.stat, self._looked_ns)

    @property
    def pending(self) -> list[str]:
        """Paths of the wanted files that have no row yet, sorted."""
        return sorted(item.file.path for item in self.wanted if item.file.path not in self._done)

    def live_counts(self) -> tuple[list[int], list[int]]:
        """Return for each segment the bytes and the number of its files that stay."""
        columns = self.kept.columns
        inside = columns["segment"] >= 0
        segments = columns["segment"][inside]
        sizes = self.kept.stats[:, 0][inside]
        n = len(self.uses)
        files = np.bincount(segments, minlength=n)
        return np.bincount(segments, sizes, n).astype(np.int64).tolist(), files.tolist()

    def fold(self, chosen: Iterable[int]) -> None:
        """Make the live files of some segments wanted again, so that they move to a new one."""
        columns = self.kept.columns
        moving = np.isin(columns["segment"], np.array(sorted(chosen), np.int32))
        for row in self.kept.rows(np.flatnonzero(moving)):
            self.wanted.append(Wanted(row.file, row.blob_id))
        self.wanted.sort(key=lambda item: item.file.path)
        self.kept = self.kept.take(np.flatnonzero(~moving))

    def add_segment(self, use: SegmentUse, rows: Sequence[EntryRow]) -> None:
        """Add a new segment with its files' rows (their segment number is given here)."""
        number = len(self.uses)
        self.uses.append(use)
        for row in rows:
            self._add(EntryRow(row.file, row.blob_id, row.is_settled, "", number, row.row))

    def add_unindexed(self, row: EntryRow) -> None:
        """Add a file whose content is not indexed."""
        self._add(row)

    def _add(self, row: EntryRow) -> None:
        self._rows.append(row)
        self._done.add(row.file.path)

    def drop(self, path: str, reason: str) -> None:
        """Give up a wanted file; an empty reason means that it is gone."""
        self._done.add(path)
        if reason:
            self._skipped.append(Skipped(path, reason))

    def manifest(
        self, path: Path, name: TreeName, commit: str | None, signature: bytes
    ) -> Manifest:
        """Return the manifest of what is covered now.

        Args:
            path: Where it will be published.
            name: What it says of the tree.
            commit: Commit checked out.
            signature: For the next look; kept only when nothing is pending.
        """
        entries, uses = self._compacted(self.kept.joined(Entries.of(self._rows)))
        folders = self._folders(entries)
        pending = self.pending
        skipped = [*self._skipped, *_unindexed(entries)]
        head = Head(
            root=name.root,
            anchor=name.anchor,
            commit=commit,
            snapshot_id=folders[""].hex(),
            recipe=name.recipe,
            listing_key=name.listing_key,
            is_complete=not pending,
            generation=self._base.head.generation + 1 if self._base else 1,
            day=name.day,
            segments=tuple(uses),
            n_files=int((entries.columns["segment"] >= 0).sum()),
            n_pending=len(pending),
            notes=name.notes,
        )
        return Manifest.of(
            head,
            path,
            entries=entries,
            folders=folders,
            skipped=sorted(skipped, key=lambda item: (item.path, item.reason)),
            pending=pending,
            signature=b"" if pending else signature,
        )

    def _compacted(self, entries: Entries) -> tuple[Entries, list[SegmentUse]]:
        """Mark the dead files of every segment and leave out segments without a live one."""
        segment: NDArray[np.int32] = entries.columns["segment"].copy()
        rows = entries.columns["row"]
        uses: list[SegmentUse] = []
        for number, use in enumerate(self.uses):
            members = np.flatnonzero(entries.columns["segment"] == number)
            if not len(members):
                continue
            dead = np.ones(use.n_files, np.bool_)
            dead[rows[members]] = False
            segment[members] = len(uses)
            uses.append(use.with_dead(dead))
        return entries.with_columns(segment=segment), uses

    def _folders(self, entries: Entries) -> dict[str, bytes]:
        base = self._base
        if base is None:
            return folder_ids(entries.paths, entries.blobs)
        changed = self._left | self._done
        if len(changed) * 4 > len(entries):
            return folder_ids(entries.paths, entries.blobs)
        return updated_folder_ids(base.folders, entries.paths, entries.blobs, changed)


def _unindexed(entries: Entries) -> list[Skipped]:
    places = np.flatnonzero(entries.columns["segment"] == NO_SEGMENT).tolist()
    codes = entries.columns["skip"]
    return [
        Skipped(entries.paths[place], entries.skip_reasons[int(codes[place])]) for place in places
    ]
