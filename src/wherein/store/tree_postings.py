"""The terms of one working tree's index: postings, lengths and norms of its live chunks.

What is counted (document frequencies, lengths, numbers of chunks) counts live ones only, so the
scores are those of one fresh segment of the live files, to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wherein.store.array_file import ArrayFile
from wherein.store.formula import BM25F, DENSITY_EXPONENT, Bm25f
from wherein.store.tree_files import TreeFiles, starts_of
from wherein.tokens import term_id
from wherein.types import FIELDS

__all__ = ["Postings", "TreePostings"]


@dataclass(frozen=True, slots=True)
class Postings:
    """One term's postings over the live chunks, sorted by chunk ordinal within each segment."""

    chunks: NDArray[np.int64]
    """Shape ``(n,)``: chunk ordinals, no repeats; of the type that arrays are indexed with."""
    body: NDArray[np.uint8]
    """Shape ``(n,)``: term frequency in the body."""
    rare_places: NDArray[np.int64]
    """Shape ``(m,)``: places in ``chunks`` whose chunk has the term in another field as well."""
    rare_counts: NDArray[np.uint8]
    """Shape ``(m, 4)``: frequency in signature, documentation, names, enclosing."""
    files: NDArray[np.uint32]
    """Shape ``(k,)``: ordinals of the live files whose path has the term."""
    path_counts: NDArray[np.uint8]
    """Shape ``(k,)``: frequency in the path."""


class TreePostings(TreeFiles):
    """Which terms stand where."""

    @cached_property
    def field_lengths(self) -> NDArray[np.uint16]:
        """Shape ``(n_chunks, len(FIELDS))``: number of terms by field."""
        return self._column("chunk_lengths", np.zeros((0, len(FIELDS)), np.uint16))

    @cached_property
    def file_lengths(self) -> NDArray[np.int64]:
        """Shape ``(n_files,)``: number of body terms of each file."""
        sums = np.zeros(self.n_chunks + 1, np.int64)
        np.cumsum(self.field_lengths[:, 0], out=sums[1:])
        return sums[self.chunk_offsets[1:]] - sums[self.chunk_offsets[:-1]]

    @cached_property
    def average_file_length(self) -> float:
        """Mean of `file_lengths` over live files."""
        return float(self.file_lengths[self.live_files].mean()) if self.n_live_files else 0.0

    @cached_property
    def density_norms(self) -> NDArray[np.float64]:
        """Shape ``(n_files,)``: what the sum over a file's chunks is divided by."""
        return np.maximum(self.chunk_counts, 1).astype(np.float64) ** DENSITY_EXPONENT

    @cached_property
    def path_lengths(self) -> NDArray[np.uint16]:
        """Shape ``(n_files,)``: number of terms of each path."""
        return self._column("path_lengths", np.zeros(0, np.uint16))

    @cached_property
    def average_lengths(self) -> NDArray[np.float64]:
        """Shape ``(6,)``: mean of each field of `types.FIELDS` over live chunks, then of paths."""
        lengths, paths = self.field_lengths, self.path_lengths
        if self._has_dead:
            lengths, paths = lengths[self.live_chunks], paths[self.live_files]
        # Whole numbers are added before the one division, so the order of segments cannot show.
        sums = [*lengths.sum(axis=0, dtype=np.int64), paths.sum(dtype=np.int64)]
        counts = [max(len(lengths), 1)] * len(FIELDS) + [max(len(paths), 1)]
        return np.array(sums, np.float64) / np.array(counts, np.float64)

    @cached_property
    def norms(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Weight over length norm: ``(5, n_chunks)`` by field, and ``(n_files,)`` for the path."""
        return self.norms_for(BM25F)

    def norms_for(self, formula: Bm25f) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return ``w / (1 - b + b * length / average)`` for each field and for the path."""
        averages = np.where(self.average_lengths > 0, self.average_lengths, 1.0)
        chunk_norms = np.empty((len(FIELDS), self.n_chunks), np.float32)
        for column, name in enumerate(FIELDS):
            chunk_norms[column] = _norm(
                formula, name, self.field_lengths[:, column], averages[column]
            )
        path_norms = _norm(formula, "path", self.path_lengths, averages[-1])
        return chunk_norms, path_norms

    def postings(self, term: str) -> Postings:
        """Return the live postings of ``term`` in all fields, the path's included."""
        wanted = np.uint64(term_id(term))
        found = (self._postings_in(number, wanted) for number in range(len(self._segments)))
        parts = [part for part in found if part is not None]
        if len(parts) < 2:
            return parts[0] if parts else _NO_POSTINGS
        places = starts_of([len(part.chunks) for part in parts])
        return Postings(
            chunks=np.concatenate([part.chunks for part in parts]),
            body=np.concatenate([part.body for part in parts]),
            rare_places=np.concatenate(
                [part.rare_places + start for part, start in zip(parts, places, strict=False)]
            ),
            rare_counts=np.concatenate([part.rare_counts for part in parts]),
            files=np.concatenate([part.files for part in parts]),
            path_counts=np.concatenate([part.path_counts for part in parts]),
        )

    def _postings_in(self, number: int, wanted: np.uint64) -> Postings | None:
        """Return the live postings of a term in one segment, None when it has none there."""
        arrays = self._segments[number].arrays
        chunks, body, rare_places, rare_counts = _NO_LISTS
        run = _run(arrays, "term_ids", "term_offsets", wanted)
        if run is not None:
            place, start, stop = run
            rare_start, rare_stop = arrays.part("term_rare_offsets", place, place + 2).tolist()
            chunks = arrays.part("posting_chunk", start, stop).astype(np.int64)
            chunks += self._first_chunks[number]
            body = arrays.part("posting_body", start, stop)
            rare_places = arrays.part("rare_posting", rare_start, rare_stop).astype(np.int64)
            rare_places -= start
            rare_counts = arrays.part("rare_counts", rare_start, rare_stop)
            if self._has_dead_in[number]:
                chunks, body, rare_places, rare_counts = self._live(
                    chunks, body, rare_places, rare_counts
                )
        files, path_counts = self._path_postings_in(number, wanted)
        if not len(chunks) and not len(files):
            return None
        return Postings(chunks, body, rare_places, rare_counts, files, path_counts)

    def _live(
        self,
        chunks: NDArray[np.int64],
        body: NDArray[np.uint8],
        rare_places: NDArray[np.int64],
        rare_counts: NDArray[np.uint8],
    ) -> tuple[NDArray[Any], ...]:
        """Leave out the postings of dead chunks."""
        keep = self.live_chunks.take(chunks)
        if keep.all():
            return chunks, body, rare_places, rare_counts
        kept_rare = keep[rare_places]
        new_places = np.cumsum(keep) - 1
        return (
            chunks[keep],
            body[keep],
            new_places[rare_places[kept_rare]],
            rare_counts[kept_rare],
        )

    def _path_postings_in(
        self, number: int, wanted: np.uint64
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        arrays = self._segments[number].arrays
        run = _run(arrays, "path_term_ids", "path_term_offsets", wanted)
        if run is None:
            return _NO_POSTINGS.files, _NO_POSTINGS.path_counts
        _, start, stop = run
        files = arrays.part("path_posting_file", start, stop) + np.uint32(self._first_files[number])
        counts = arrays.part("path_posting_count", start, stop)
        if self._has_dead_in[number]:
            keep = self.live_files[files]
            files, counts = files[keep], counts[keep]
        return files, counts

    def path_postings(self, term: str) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Return the live files whose path has ``term``, and how often."""
        found = self.postings(term)
        return found.files, found.path_counts


_NO_LISTS: tuple[NDArray[Any], ...] = (
    np.zeros(0, np.int64),
    np.zeros(0, np.uint8),
    np.zeros(0, np.int64),
    np.zeros((0, len(FIELDS) - 1), np.uint8),
)
_NO_POSTINGS = Postings(
    _NO_LISTS[0],
    _NO_LISTS[1],
    _NO_LISTS[2],
    _NO_LISTS[3],
    np.zeros(0, np.uint32),
    np.zeros(0, np.uint8),
)


def _run(
    arrays: ArrayFile, ids: str, offsets: str, wanted: np.uint64
) -> tuple[int, int, int] | None:
    """Return the place of ``wanted`` among sorted ids and the start and end of its run."""
    known = arrays.array(ids)
    place = int(known.searchsorted(wanted))
    if place == len(known) or known[place] != wanted:
        return None
    start, stop = arrays.part(offsets, place, place + 2).tolist()
    return place, start, stop


def _norm(
    formula: Bm25f, name: str, lengths: NDArray[np.uint16], average: float
) -> NDArray[np.float32]:
    weight = formula.fields[name]
    return (weight.weight / (1 - weight.b + weight.b * (lengths / average))).astype(np.float32)
