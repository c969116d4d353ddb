"""Indexes the trees that are replayed, in a store of their own; a content is digested once."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wherein.embed.protocol import Embedder, text_embedder
from wherein.errors import CorruptIndexError
from wherein.indexing.digest import chunk_texts, digest
from wherein.indexing.jobs import Outcome
from wherein.indexing.progress import Clock
from wherein.indexing.text_vectors import TextVectors
from wherein.indexing.update import today
from wherein.measure.replay_trees import Contents, TextTree
from wherein.settings import Settings
from wherein.store.layout import VECTORS_FILE
from wherein.store.record_format import decode_record, encode_record
from wherein.store.segment import Segment
from wherein.store.segment_writing import write_segment
from wherein.store.tree_index import TreeIndex
from wherein.store.vector_cache import VectorCache
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
        vectors: The family's vectors by text. A model that reads texts is asked only for those that
            neither the index nor an earlier replay had; None remembers them for this one alone.
    """

    def __init__(
        self, settings: Settings, embedder: Embedder | None, vectors: Path | None = None
    ) -> None:
        self._settings = settings
        self._embedder = embedder
        self._folder = Path(tempfile.mkdtemp(prefix="wherein-replay-index-"))
        self._cache = self._open_cache(vectors)
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
        if self._cache is not None:
            self._cache.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _add(self, changed: Mapping[str, str], contents: Contents) -> None:
        is_first = not self._segments
        rows = self._read(changed, contents)
        if not is_first:
            for path, (file, record) in zip(changed, rows, strict=True):
                self._records[f"{path}\0{record.blob_id}"] = (file, record)
        self._write(changed, rows)

    def _write(self, blobs: Mapping[str, str], rows: list[tuple[SourceFile, Record]]) -> None:
        directory = self._folder / str(self._n_written)
        self._n_written += 1
        write_segment(directory, rows)
        for path, blob in blobs.items():
            self._places[path] = _Place(len(self._segments), blob)
        self._segments.append(Segment.open(directory))

    def _join(self, contents: Contents) -> None:
        """Write all segments but the first again as one, live files only."""
        places = sorted(self._places.items())
        live = {path: place.blob_id for path, place in places if place.segment > 0}
        rows = self._read(live, contents)
        old = self._segments[1:]
        del self._segments[1:]
        self._write(live, rows)
        for segment in old:
            shutil.rmtree(segment.directory, ignore_errors=True)
        if len(self._records) > _KEPT_RECORDS:
            wanted = {f"{path}\0{blob}" for path, blob in live.items()}
            self._records = {key: row for key, row in self._records.items() if key in wanted}

    def _read(
        self, blobs: Mapping[str, str], contents: Contents
    ) -> list[tuple[SourceFile, Record]]:
        """Return the rows of the files ``blobs``, in their order."""
        rows = {
            path: self._records.get(f"{path}\0{blob}") or self._row(path, blob, contents)
            for path, blob in blobs.items()
        }
        model = text_embedder(self._embedder)
        if model is None or self._cache is None:
            return list(rows.values())
        new = [path for path, blob in blobs.items() if f"{path}\0{blob}" not in self._records]
        outcomes = (
            Outcome(
                number,
                "",
                core=encode_record(rows[path][1]),
                texts=chunk_texts(contents.bytes_of(blobs[path]), rows[path][1], self._settings),
            )
            for number, path in enumerate(new)
        )
        n_bytes = sum(rows[path][1].n_bytes for path in new)
        for outcome in TextVectors(model, self._cache, Clock()).fill(outcomes, n_bytes):
            path, made = new[outcome.number], decode_record(outcome.core)
            file, record = rows[path]
            rows[path] = file, replace(record, vectors=made.vectors, scales=made.scales)
        return list(rows.values())

    def _row(self, path: str, blob: str, contents: Contents) -> tuple[SourceFile, Record]:
        """Return the row of one file; a model that reads texts gives its vectors later."""
        data = contents.bytes_of(blob)
        language = detect_language(path, data[:4096])
        reads_terms = text_embedder(self._embedder) is None
        record = digest(data, language, self._settings, self._embedder if reads_terms else None)
        kind, flags = classify(path, language, len(data))
        if record.is_generated:
            flags |= FileFlag.GENERATED
        stat = FileStat(len(data), 0, 0, 0, 0o100644)
        return SourceFile(path, stat, language, kind, flags), record

    def _open_cache(self, vectors: Path | None) -> VectorCache | None:
        model = text_embedder(self._embedder)
        if model is None:
            return None
        if vectors is not None:
            with suppress(OSError, CorruptIndexError):  # a folder nobody may write
                vectors.parent.mkdir(parents=True, exist_ok=True)
                return VectorCache.open(vectors, model.fingerprint, today())
        return VectorCache.open(self._folder / VECTORS_FILE, model.fingerprint, today())

    def _dead(self, number: int, segment: Segment) -> NDArray[np.bool_] | None:
        dead = np.array(
            [
                path not in self._places or self._places[path].segment != number
                for path in segment.paths
            ],
            dtype=np.bool_,
        )
        return dead if dead.any() else None
