"""Feature hashing: vectors without a trained model, for when the bundled weights are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from wherein.embed.arrays import normalised, product, weighted_sums
from wherein.tokens import count_terms, scan_words, term_id
from wherein.types import ChunkTerms

__all__ = ["HashingEmbedder"]

_PLACES = 4
"""Signed dimensions a term sets: enough that two terms seldom share most of theirs."""


class HashingEmbedder:
    """Each term sets a few signed dimensions that its id chooses.

    Args:
        dim: Number of dimensions, a power of two up to 4,096.
    """

    def __init__(self, dim: int = 256) -> None:
        self.name = f"feature hashing, {dim} dimensions"
        self.fingerprint = f"hashing-1-{dim}"
        self.dim = dim

    def embed_chunks(
        self, terms: ChunkTerms, strings: Mapping[int, str], texts: Sequence[str]
    ) -> NDArray[np.float32]:
        """Return one vector for each chunk; ``strings`` and ``texts`` are not looked at."""
        del strings, texts
        ids, columns = np.unique(terms.term_ids, return_inverse=True)
        weights = np.log1p(terms.counts.max(axis=1, initial=0).astype(np.float32))
        return normalised(weighted_sums(terms.offsets, columns, weights, self._table(ids)))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of the query's terms."""
        counts = count_terms(scan_words(text))
        ids = np.array([term_id(term) for term in counts], np.uint64)
        weights = np.log1p(np.array(list(counts.values()), np.float32))
        return normalised(product(weights, self._table(ids))[None, :])[0]

    def _table(self, ids: NDArray[np.uint64]) -> NDArray[np.float32]:
        """Return the vectors of the terms, shape ``(len(ids), dim)``."""
        table = np.zeros((len(ids), self.dim), np.float32)
        rows = np.arange(len(ids))
        for place in range(_PLACES):
            bits = (ids >> np.uint64(16 * place)) & np.uint64(0xFFFF)
            signs = np.where(bits >> np.uint64(15), 1.0, -1.0)
            table[rows, (bits % np.uint64(self.dim)).astype(np.intp)] += signs.astype(np.float32)
        return table
