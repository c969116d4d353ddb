"""How well a query's terms match every chunk: exact BM25F over all postings.

All chunks are scored, not the best few: a file's evidence is the sum over its chunks. The work is
in proportion to the postings read, save one pass over a score for each chunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wherein.store.formula import BM25F, Bm25f
from wherein.store.tree_index import TreeIndex
from wherein.store.tree_postings import Postings

__all__ = ["LexicalScores", "TermMatch", "inverse_frequency", "score_chunks", "spread"]


@dataclass(frozen=True, slots=True)
class TermMatch:
    """One query term with where it stands."""

    term: str
    weight: float
    """What the query gives the term, 1 for an ordinary word."""
    idf: float
    """Inverse document frequency, not weighted; 0 when no live chunk has the term."""
    document_frequency: int
    postings: Postings


@dataclass(frozen=True, slots=True)
class LexicalScores:
    """BM25F of every chunk, with the terms that made it."""

    chunks: NDArray[np.float32]
    """Shape ``(n_chunks,)``; 0 where no term stands and for dead chunks."""
    terms: tuple[TermMatch, ...]
    postings_read: int


def inverse_frequency(n_chunks: int, document_frequency: int) -> float:
    """Return ``ln(1 + (N - df + .5) / (df + .5))``, Lucene's form, never negative."""
    return float(np.log1p((n_chunks - document_frequency + 0.5) / (document_frequency + 0.5)))


def score_chunks(
    index: TreeIndex, terms: Sequence[tuple[str, float]], formula: Bm25f = BM25F
) -> LexicalScores:
    """Return the BM25F score of every live chunk for weighted terms.

    Args:
        index: The tree's index.
        terms: Each term once, with its weight; the order is the order of summation.
        formula: Parameters; the usual ones use norms that the index keeps.

    Returns:
        Scores and the matches of each term, in the order given.
    """
    chunk_norms, path_norms = index.norms if formula is BM25F else index.norms_for(formula)
    scores = np.zeros(index.n_chunks, np.float32)
    matches: list[TermMatch] = []
    postings_read = 0
    for term, weight in terms:
        postings = index.postings(term)
        chunks, frequencies = _weighted_frequencies(index, postings, chunk_norms, path_norms)
        idf = inverse_frequency(index.n_live_chunks, len(chunks)) if len(chunks) else 0.0
        frequencies /= np.float32(formula.k1) + frequencies
        frequencies *= np.float32(weight * idf)
        scores[chunks] += frequencies
        matches.append(TermMatch(term, weight, idf, len(chunks), postings))
        postings_read += len(postings.chunks) + len(postings.files)
    return LexicalScores(scores, tuple(matches), postings_read)


def _weighted_frequencies(
    index: TreeIndex,
    postings: Postings,
    chunk_norms: NDArray[np.float32],
    path_norms: NDArray[np.float32],
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the chunks that have a term in any field, and its weighted, normed frequency there."""
    chunks = postings.chunks
    frequencies = postings.body * chunk_norms[0].take(chunks)
    if len(postings.rare_places):
        norms = chunk_norms[1:].take(chunks[postings.rare_places], axis=1)
        norms *= postings.rare_counts.T
        # Field by field, in order: a fixed order of float32 sums.
        frequencies[postings.rare_places] += ((norms[0] + norms[1]) + norms[2]) + norms[3]
    if not len(postings.files):
        return chunks, frequencies
    in_path, sizes = spread(index, postings.files)
    added = np.repeat(postings.path_counts * path_norms[postings.files], sizes)
    places = np.searchsorted(chunks, in_path)
    is_new = np.append(chunks, -1)[places] != in_path
    is_known = ~is_new
    frequencies[places[is_known]] += added[is_known]
    # The order of the chunks does not show: each is there once.
    return np.append(chunks, in_path[is_new]), np.append(frequencies, added[is_new])


def spread(
    index: TreeIndex, files: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ordinals of all chunks of ``files``, file by file, and how many each file has."""
    starts = index.chunk_offsets[files]
    sizes = index.chunk_counts[files]
    if not len(sizes):
        return np.zeros(0, np.int64), sizes
    first_rows = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum()), dtype=np.int64) + np.repeat(
        starts - first_rows, sizes
    ), sizes
