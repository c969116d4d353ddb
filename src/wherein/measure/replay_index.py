"""Indexes the trees that are replayed, in a store of their own; a content is digested once."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wherein.embed.protocol import Embedder, text_embedder
from wherein.indexing.digest import digest
from wherein.measure.replay_trees import Contents, TextTree
from wherein.settings import Settings
from wherein.store.segment import Segment, write_segment
from wherein.store.tree_index import TreeIndex
from wherein.types import FileFlag, FileStat, Record, SourceFile
from wherein.walk.classify import classify
from wherein.walk.language import detect_language

__all__ = ["ReplayIndexer"]

_MAX_SEGMENTS = 16
"""Every query reads every segment; the small ones are joined beyond this."""

_KEPT_RECORDS = 4000
"""Records kept for joining. The first tree's are not: its segment is never written again."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a file's row is."""

    segment: int
    blob_id: str


class ReplayIndexer:
    """Gives the index of one tree after another; only contents that are new are digested.

    Args:
        settings: Chunk size and limits.
        embedder: Makes the vectors; None makes none.
    """

    def __init__(self, settings: Settings, embedder: Embedder | None) -> None:
        self._settings = settings
        self._embedder = embedder
        self._folder = Path(tempfile.mkdtemp(prefix="wherein-replay-index-"))
        self._segments: list[Segment] = []
        self._n_written = 0
        self._places: dict[str, _Place] = {}
        self._records: dict[str, tuple[SourceFile, Record]] = {}
        self._last: tuple[TextTree, TreeIndex] | None = None

    def index_of(self, tree: TextTree) -> TreeIndex:
        """Return the index of ``tree``'s files."""
        if self._last is not None and self._last[0] is tree:
            return self._last[1]
        changed = {
            path: blob
            for path, blob in tree.files.items()
            if path not in self._places or self._places[path].blob_id != blob
        }
        for path in sorted(self._places.keys() - tree.files.keys()):
            del self._places[path]
        if changed:
            self._add(changed, tree.contents)
        if len(self._segments) > _MAX_SEGMENTS:
            self._join(tree.contents)
        index = TreeIndex([(s, self._dead(number, s)) for number, s in enumerate(self._segments)])
        self._last = (tree, index)
        return index

    def part_of(self, tree: TextTree, paths: frozenset[str]) -> TreeIndex:
        """Return the index of ``tree`` with only ``paths``; the tree must be the one asked last."""
        self.index_of(tree)
        kept: list[tuple[Segment, NDArray[np.bool_] | None]] = []
        for number, segment in enumerate(self._segments):
            dead = self._dead(number, segment)
            left_out = np.array([path not in paths for path in segment.paths], dtype=np.bool_)
            kept.append((segment, left_out if dead is None else dead | left_out))
        return TreeIndex(kept)

    def close(self) -> None:
        """Remove the store."""
        self._segments.clear()
        self._last = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def _add(self, changed: Mapping[str, str], contents: Contents) -> None:
        reader = text_embedder(self._embedder)
        if reader is not None:
            reader.expect(sum(len(contents.bytes_of(blob)) for blob in changed.values()))
        is_first = not self._segments
        rows = [(path, *self._record(path, blob, contents)) for path, blob in changed.items()]
        if not is_first:
            for path, file, record in rows:
                self._records[f"{path}\0{record.blob_id}"] = (file, record)
        self._write({path: changed[path] for path, _, _ in rows}, [(f, r) for _, f, r in rows])

    def _write(self, blobs: Mapping[str, str], rows: list[tuple[SourceFile, Record]]) -> None:
        directory = self._folder / str(self._n_written)
        self._n_written += 1
        write_segment(directory, rows)
        for path, blob in blobs.items():
            self._places[path] = _Place(len(self._segments), blob)
        self._segments.append(Segment.open(directory))

    def _join(self, contents: Contents) -> None:
        """Write all segments but the first again as one, live files only."""
        live = {path: place.blob_id for path, place in self._places.items() if place.segment > 0}
        rows = [self._record(path, blob, contents) for path, blob in sorted(live.items())]
        old = self._segments[1:]
        del self._segments[1:]
        self._write(live, rows)
        for segment in old:
            shutil.rmtree(segment.directory, ignore_errors=True)
        if len(self._records) > _KEPT_RECORDS:
            wanted = {f"{path}\0{blob}" for path, blob in live.items()}
            self._records = {key: row for key, row in self._records.items() if key in wanted}

    def _record(self, path: str, blob: str, contents: Contents) -> tuple[SourceFile, Record]:
        kept = self._records.get(f"{path}\0{blob}")
        if kept is not None:
            return kept
        data = contents.bytes_of(blob)
        language = detect_language(path, data[:4096])
        record = digest(data, language, self._settings, self._embedder)
        kind, flags = classify(path, language, len(data))
        if record.is_generated:
            flags |= FileFlag.GENERATED
        stat = FileStat(len(data), 0, 0, 0, 0o100644)
        return SourceFile(path, stat, language, kind, flags), record

    def _dead(self, number: int, segment: Segment) -> NDArray[np.bool_] | None:
        dead = np.array(
            [
                path not in self._places or self._places[path].segment != number
                for path in segment.paths
            ],
            dtype=np.bool_,
        )
        return dead if dead.any() else None
