"""Where each query term stands in each chunk of the candidate files, as arrays.

Each file has one more row than chunks, of zeros, so that a file without chunks is no special case.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wherein.search.filters import Masks
from wherein.search.query import Query, QueryTerm, TermKind
from wherein.store.formula import BM25F
from wherein.store.lexical import LexicalScores, spread
from wherein.store.tree_index import TreeIndex
from wherein.store.tree_postings import Postings
from wherein.types import FIELDS

__all__ = ["BODY", "DOCUMENTATION", "ENCLOSING", "NAMES", "SIGNATURE", "Matches", "match"]

BODY, SIGNATURE, DOCUMENTATION, NAMES, ENCLOSING = range(len(FIELDS))


@dataclass(frozen=True)
class Matches:
    """The query's terms (T) in the rows (R) of the candidate files (F)."""

    index: TreeIndex
    files: NDArray[np.int64]
    """Shape ``(F,)``."""
    rows: NDArray[np.int64]
    """Shape ``(R,)``: chunk ordinal of each row, -1 for a file's last row."""
    starts: NDArray[np.int64]
    """Shape ``(F,)``: first row of each file."""
    counts: NDArray[np.uint8]
    """Shape ``(5, T, R)``: frequency by field."""
    path_counts: NDArray[np.float32]
    """Shape ``(T, F)``: frequency in the path."""
    file_places: NDArray[np.int32]
    """Shape ``(n_files,)``: place among the candidates, -1 for other files."""
    terms: tuple[QueryTerm, ...]
    idf: NDArray[np.float32]
    """Shape ``(T,)``: weighted inverse document frequency."""
    scores: NDArray[np.float32]
    """Shape ``(R,)``: BM25F of each row; 0 for rows the filters leave out."""
    allowed: NDArray[np.bool_]
    """Shape ``(R,)``: rows that may be hits."""
    kinds: frozenset[str] = frozenset()
    """Kinds of symbol that may be shown; none for any."""

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """Shape ``(T, R)``: the term stands in the chunk, in any field."""
        return np.asarray(self.counts.any(axis=0))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Shape ``(F,)``: number of rows of each file."""
        return np.diff(np.append(self.starts, len(self.rows)))

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """Shape ``(R,)``: row of each row's file."""
        return np.repeat(np.arange(len(self.files)), self.sizes)

    @cached_property
    def best_rows(self) -> NDArray[np.int64]:
        """Shape ``(F,)``: each file's first row with its highest score."""
        best = np.repeat(self.best(self.scores), self.sizes)
        places = np.flatnonzero(self.scores == best)
        owners = self.owners[places]
        is_first = np.ones(len(places), np.bool_)
        is_first[1:] = owners[1:] != owners[:-1]
        return places[is_first]

    @cached_property
    def term_weights(self) -> dict[str, float]:
        """Term to idf, for telling lines: terms that exist, without joined neighbours."""
        return {
            term.term: float(idf)
            for term, idf in zip(self.terms, self.idf, strict=True)
            if idf > 0 and term.kind is not TermKind.JOINED
        }

    def rows_of(self, files: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the places among the candidates of those of ``files`` that are candidates."""
        places = self.file_places[files]
        return places[places >= 0]

    def of_kind(self, *kinds: TermKind) -> NDArray[np.float32]:
        """Return the idf of the terms of ``kinds``, 0 for the others; shape ``(T,)``."""
        chosen = np.array([term.kind in kinds for term in self.terms], np.bool_)
        return np.where(chosen, self.idf, np.float32(0))

    def best(self, rows: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return each file's highest value of a row; shape ``(F,)``."""
        if not len(self.files):
            return np.zeros(0, np.float32)
        return np.maximum.reduceat(rows, self.starts).astype(np.float32)

    def total(self, rows: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return each file's sum over its rows (last axis); shape ``(…, F)``."""
        if not len(self.files):
            return np.zeros((*rows.shape[:-1], 0), np.float32)
        sums: NDArray[Any] = np.add.reduceat(rows, self.starts, axis=-1)
        return sums.astype(np.float32)

    def field_score(self, field: int) -> NDArray[np.float32]:
        """Return BM25 of one field alone over the sum of all idf, 0..1; shape ``(R,)``.

        0 for rows the filters leave out.
        """
        norms, _ = self.index.norms
        total = float(self.idf.sum())
        if total <= 0 or not norms.shape[1]:
            return np.zeros(len(self.rows), np.float32)
        weight = np.float32(BM25F.fields[FIELDS[field]].weight)
        frequencies = self.counts[field] * (norms[field].take(self.rows) / weight)
        frequencies /= np.float32(BM25F.k1) + frequencies
        scores = self.idf @ frequencies / np.float32(total)
        return np.where(self.allowed, scores, np.float32(0))

    def share(self, present: NDArray[np.bool_], idf: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return which share of ``idf`` is present, 0..1; ``present`` is ``(T, n)``."""
        total = float(idf.sum())
        if total <= 0:
            return np.zeros(int(present.shape[1]), np.float32)
        weights: NDArray[np.float32] = idf / np.float32(total)
        shares: NDArray[np.float32] = weights @ present.astype(np.float32)
        return shares


def match(
    index: TreeIndex,
    query: Query,
    lexical: LexicalScores,
    files: NDArray[np.int64],
    masks: Masks,
) -> Matches:
    """Collect the postings of the query's terms in ``files``; no file is read."""
    chunks, sizes = spread(index, files)
    ends = np.cumsum(sizes + 1)
    starts = ends - sizes - 1
    rows = np.full(int(ends[-1]) if len(ends) else 0, -1, np.int64)
    is_chunk = np.ones(len(rows), np.bool_)
    is_chunk[ends - 1] = False
    places = np.flatnonzero(is_chunk)
    rows[places] = chunks
    slots = np.full(index.n_chunks, -1, np.int32)
    slots[chunks] = places
    file_slots = np.full(index.n_files, -1, np.int32)
    file_slots[files] = np.arange(len(files))
    known = {term.term: term for term in query.terms}
    counts = np.zeros((len(FIELDS), len(lexical.terms), len(rows)), np.uint8)
    path_counts = np.zeros((len(lexical.terms), len(files)), np.float32)
    for place, found in enumerate(lexical.terms):
        _fill(counts[:, place], path_counts[place], found.postings, slots, file_slots)
    allowed = is_chunk
    if masks.chunks is not None:
        allowed = is_chunk & masks.chunks[rows]
    scores = np.where(allowed, lexical.chunks[rows], np.float32(0)) if index.n_chunks else rows * 0
    return Matches(
        index=index,
        files=files,
        rows=rows,
        starts=starts,
        counts=counts,
        path_counts=path_counts,
        file_places=file_slots,
        terms=tuple(known[found.term] for found in lexical.terms),
        idf=np.array([found.idf * found.weight for found in lexical.terms], np.float32),
        scores=scores.astype(np.float32),
        allowed=allowed,
        kinds=masks.kinds,
    )


def _fill(
    counts: NDArray[np.uint8],
    path_counts: NDArray[np.float32],
    postings: Postings,
    slots: NDArray[np.int32],
    file_slots: NDArray[np.int32],
) -> None:
    """Put one term's postings into the rows of the candidates."""
    places = slots[postings.chunks]
    kept = np.flatnonzero(places >= 0)
    counts[BODY, places[kept]] = postings.body[kept]
    if len(postings.rare_places):
        rare = places[postings.rare_places]
        kept = np.flatnonzero(rare >= 0)
        counts[1:, rare[kept]] = postings.rare_counts[kept].T
    in_path = file_slots[postings.files]
    kept = np.flatnonzero(in_path >= 0)
    path_counts[in_path[kept]] = postings.path_counts[kept]
