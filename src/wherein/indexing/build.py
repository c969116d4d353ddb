"""Brings a draft to completion: digests what is wanted, writes segments, publishes manifests.

Records are stored in batches as they come, so a build that is killed goes on where it stopped.
Memory is bounded by one segment's files.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from wherein.errors import StoreError
from wherein.indexing.digesters import Digesters
from wherein.indexing.draft import Draft
from wherein.indexing.jobs import GONE, Job, Outcome
from wherein.indexing.plan import SEGMENT_BYTES, SEGMENT_FILES, Wanted, with_stat
from wherein.indexing.progress import Clock
from wherein.store.entries import NO_SEGMENT, EntryRow
from wherein.store.layout import Layout
from wherein.store.manifest import SegmentUse
from wherein.store.record_format import decode_record
from wherein.store.records import RecordKey, RecordStore, StoredRecord
from wherein.store.segment import Segment
from wherein.store.segment_format import SEGMENT_VERSION
from wherein.store.segment_writing import write_segment
from wherein.types import Record, SourceFile

__all__ = ["Builder", "is_sound"]

_BATCH_RECORDS = 200
_BATCH_BYTES = 8_000_000
"""What a killed build digests again at most: about a second of work."""


@dataclass(frozen=True, slots=True)
class _Ready:
    """A wanted file whose record is at hand."""

    file: SourceFile
    record: Record
    is_settled: bool

    def row(self, skip_reason: str, row: int) -> EntryRow:
        """Return the entry; the draft gives the segment's number."""
        blob_id = self.record.blob_id
        return EntryRow(self.file, blob_id, self.is_settled, skip_reason, NO_SEGMENT, row)


class Builder:
    """Fills a draft.

    Args:
        draft: What is wanted, and where rows go.
        layout: Where segments go.
        records: Where records are found and kept.
        digesters: Who digests what no record knows.
        clock: Told of progress; says when to stop.
        day: Days since 1970.
        on_segment: Called after each segment: a good moment to publish.
    """

    def __init__(
        self,
        draft: Draft,
        layout: Layout,
        records: RecordStore,
        digesters: Digesters,
        clock: Clock,
        day: int,
        on_segment: Callable[[], None],
    ) -> None:
        self._draft = draft
        self._layout = layout
        self._records = records
        self._digesters = digesters
        self._clock = clock
        self._day = day
        self._on_segment = on_segment
        self._unsaved: list[StoredRecord] = []
        self._unsaved_bytes = 0

    def run(self) -> None:
        """Add rows to the draft until nothing is pending or the time is up.

        Raises:
            CorruptIndexError: The record store is damaged.
            OSError: The disk is full.
        """
        wanted = self._draft.wanted
        known = self._records.known(_key(item) for item in wanted if item.blob_id is not None)
        ready = [item for item in wanted if item.blob_id is not None and _key(item) in known]
        missing = [item for item in wanted if item.blob_id is None or _key(item) not in known]
        self._clock.begin("indexing", len(wanted), sum(item.file.stat.size for item in wanted))
        missing += self._add_known(ready)
        if missing:
            self._add_digested(sorted(missing, key=lambda item: item.file.path))

    def _add_known(self, ready: Sequence[Wanted]) -> list[Wanted]:
        """Add files whose records are stored; return those whose record turned out damaged."""
        lost: list[Wanted] = []
        for group in _groups(ready):
            if self._clock.is_over:
                break
            # Sorted: which twin of a content comes first must not depend on hashing.
            records = dict(self._records.load(sorted({_key(item) for item in group}, key=str)))
            lost += [item for item in group if _key(item) not in records]
            found = [
                self._ready(item, records[_key(item)]) for item in group if _key(item) in records
            ]
            self._write(found)
            self._clock.advance(len(found), sum(item.file.stat.size for item in found))
        return lost

    def _add_digested(self, missing: Sequence[Wanted]) -> None:
        """Digest files and add them, segment by segment, storing their records on the way."""
        by_key: dict[object, list[Wanted]] = {}
        for item in missing:
            key = _key(item) if item.blob_id is not None else item.file.path
            by_key.setdefault(key, []).append(item)
        same = list(by_key.values())
        jobs = [
            Job(
                number,
                items[0].file.path.encode("utf-8", "surrogateescape"),
                items[0].file.language,
            )
            for number, items in enumerate(same)
        ]
        n_bytes = sum(items[0].file.stat.size for items in same)
        group: list[_Ready] = []
        group_bytes = 0
        try:
            with closing(self._digesters.run(jobs, n_bytes)) as outcomes:
                for outcome in outcomes:
                    found = self._take(outcome, same[outcome.number])
                    group += found
                    group_bytes += sum(item.file.stat.size for item in found)
                    if group_bytes >= SEGMENT_BYTES or len(group) >= SEGMENT_FILES:
                        self._save()
                        self._write(group)
                        group, group_bytes = [], 0
                    if self._clock.is_over:
                        break
        finally:
            self._save()
        self._write(group)

    def _take(self, outcome: Outcome, items: Sequence[Wanted]) -> list[_Ready]:
        """Store what a digester found and return the files it serves."""
        first = items[0].file
        self._clock.advance(len(items), first.stat.size * len(items), outcome.n_chunks)
        if outcome.reason:
            self._draft.drop(first.path, "" if outcome.reason == GONE else outcome.reason)
            return self._digest_again(items[1:])
        key = RecordKey(outcome.blob_id, first.language)
        self._keep(StoredRecord(key, outcome.core, outcome.references))
        record = decode_record(outcome.core)
        ready = [_Ready(with_stat(first, outcome.file_stat), record, outcome.is_settled)]
        if items[0].blob_id in (None, outcome.blob_id):
            ready += [self._ready(item, record) for item in items[1:]]
            return ready
        # The file changed since it was listed: what it holds now says nothing of its twins.
        return ready + self._digest_again(items[1:])

    def _ready(self, item: Wanted, record: Record) -> _Ready:
        return _Ready(item.file, record, self._draft.is_settled(item.file))

    def _digest_again(self, items: Sequence[Wanted]) -> list[_Ready]:
        """Digest files whose twin was not what it should have been."""
        if not items:
            return []
        raw = items[0].file.path.encode("utf-8", "surrogateescape")
        job = Job(0, raw, items[0].file.language)
        found: list[_Ready] = []
        for outcome in self._digesters.run([job], items[0].file.stat.size):
            found += self._take(outcome, items)
        return found

    def _keep(self, record: StoredRecord) -> None:
        self._unsaved.append(record)
        self._unsaved_bytes += len(record.core) + len(record.references)
        if len(self._unsaved) >= _BATCH_RECORDS or self._unsaved_bytes >= _BATCH_BYTES:
            self._save()

    def _save(self) -> None:
        if self._unsaved:
            self._records.put(self._unsaved, self._day)
        self._unsaved, self._unsaved_bytes = [], 0

    def _write(self, group: Sequence[_Ready]) -> None:
        """Write one segment of files whose records are at hand."""
        indexed: list[_Ready] = []
        for item in sorted(group, key=lambda item: item.file.path):
            reason = item.record.skip_reason
            if reason:
                self._draft.add_unindexed(item.row(reason, 0))
            else:
                indexed.append(item)
        if not indexed:
            return
        use = _segment(self._layout, self._records.recipe, indexed)
        self._draft.add_segment(use, [item.row("", row) for row, item in enumerate(indexed)])
        self._on_segment()


def _key(item: Wanted) -> RecordKey:
    return RecordKey(item.blob_id or "", item.file.language)


def _groups(items: Iterable[Wanted]) -> Iterator[list[Wanted]]:
    """Cut files, in path order, into groups of one segment's size."""
    group: list[Wanted] = []
    n_bytes = 0
    for item in items:
        group.append(item)
        n_bytes += item.file.stat.size
        if n_bytes >= SEGMENT_BYTES or len(group) >= SEGMENT_FILES:
            yield group
            group, n_bytes = [], 0
    if group:
        yield group


def _segment(layout: Layout, recipe: str, items: Sequence[_Ready]) -> SegmentUse:
    """Write the segment of ``items``, sorted by path, unless a sound one is there already."""
    name = blake2b(f"{SEGMENT_VERSION} {recipe}".encode(), digest_size=10)
    for item in items:
        file = item.file
        row = (file.path, item.record.blob_id, file.language, file.kind.value, int(file.flags))
        name.update(repr(row).encode())
    segment_id = name.hexdigest()
    directory = layout.segment(segment_id)
    if not is_sound(directory, len(items)):
        shutil.rmtree(directory, ignore_errors=True)
        try:
            write_segment(directory, [(item.file, item.record) for item in items])
        except OSError:
            # A sibling's writer may have put the same segment there first.
            if not is_sound(directory, len(items)):
                raise
    return SegmentUse(segment_id, len(items))


def is_sound(directory: Path, n_files: int | None = None) -> bool:
    """Return True when a segment is whole, by all its checksums, and has ``n_files`` files."""
    if not directory.is_dir():
        return False
    try:
        segment = Segment.open(directory)
        segment.verify()
    except StoreError:
        return False
    return n_files in (None, segment.n_files)
