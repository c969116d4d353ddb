"""The model in the wheel: a text's vector is the weighted mean of its terms' vectors.

It reads the terms that the lexical index already has, so a chunk costs one sparse-dense product,
no tokenizer and no network. How it was made is told in ``training/README.md``, how good it is in
``docs/model-card.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from wherein.embed.arrays import normalised, product, weighted_sums
from wherein.embed.pieces import piece_buckets
from wherein.embed.weights import Weights, open_weights
from wherein.embed.words import query_features
from wherein.errors import SettingsError
from wherein.tokens import term_id
from wherein.types import ChunkTerms

__all__ = ["DIMENSIONS", "WEIGHTS_PATH", "BundledEmbedder"]

WEIGHTS_PATH = Path(__file__).parent / "data" / "static.bin"

DIMENSIONS = (256, 128, 64)
"""The first so many dimensions are a model of their own: the training sees to it (Matryoshka)."""

_BLOCK = 32
"""Chunks done in one product. Their distinct terms are few enough to fit the cache as float32."""

_MADE = 64
"""Terms put together from their pieces at once."""

_KEPT = 1 << 14
"""Vectors of terms without a row that are kept (16 MB): the files of a folder share many."""

_LOG_COUNTS = np.log1p(np.arange(256, dtype=np.float32))


class BundledEmbedder:
    """Static vectors of terms, with learned weights for queries and passages.

    Args:
        weights: The model; the one in the wheel unless given.
        dim: How many of the dimensions to use.

    Raises:
        ProviderError: The weights cannot be read.
        SettingsError: ``dim`` is none of `DIMENSIONS`.
    """

    def __init__(self, weights: Weights | None = None, *, dim: int = 256) -> None:
        self._weights = open_weights(WEIGHTS_PATH) if weights is None else weights
        if dim not in DIMENSIONS or dim > self._weights.table.shape[1]:
            message = f"the bundled model has no {dim!r} dimensions"
            raise SettingsError(message, hint=f"use one of {', '.join(map(str, DIMENSIONS))}")
        self._table = self._weights.table[:, :dim]
        self.dim = dim
        self.name = f"{self._weights.name}, {dim} dimensions"
        self._kept = np.zeros((_KEPT, dim), np.float32)
        self._kept_rows: dict[int, int] = {}
        """Term id to its row of ``_kept``."""
        self._kept_lock = Lock()
        self.fingerprint = f"{self._weights.fingerprint}-{dim}"

    def embed_chunks(
        self, terms: ChunkTerms, strings: Mapping[int, str], texts: Sequence[str]
    ) -> NDArray[np.float32]:
        """Return one vector for each chunk; ``texts`` are not looked at."""
        del texts
        n_chunks = len(terms.offsets) - 1
        ids, columns = np.unique(terms.term_ids, return_inverse=True)
        rows = self._rows(ids)
        passage_weights = np.where(rows >= 0, self._weights.passage_weights[rows], np.float32(1))
        weights = product(_LOG_COUNTS[terms.counts], self._weights.field_weights).astype(np.float32)
        weights *= passage_weights[columns]
        unknown = np.flatnonzero(rows < 0)
        made = self._passage_terms(ids[unknown].tolist(), strings)
        place = np.zeros(len(ids), np.intp)
        place[unknown] = np.arange(len(unknown))
        vectors = np.zeros((n_chunks, self.dim), np.float32)
        for first in range(0, n_chunks, _BLOCK):
            offsets = terms.offsets[first : first + _BLOCK + 1]
            begin, end = int(offsets[0]), int(offsets[-1])
            if n_chunks <= _BLOCK:
                chosen, inner = np.arange(len(ids)), columns
            else:
                chosen, inner = np.unique(columns[begin:end], return_inverse=True)
            table = self._table[rows[chosen]].astype(np.float32)
            lacking = rows[chosen] < 0
            table[lacking] = made[place[chosen[lacking]]]
            vectors[first : first + _BLOCK] = weighted_sums(
                offsets - begin, inner, weights[begin:end], table
            )
        return normalised(vectors)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the query's vector; zero when the query has no words."""
        plain, joined = query_features(text)
        ids = np.array([term_id(term) for term in plain + joined], np.uint64)
        rows = self._rows(ids)
        weights = self._weights.query_weights[rows]
        weights[len(plain) :] *= self._weights.joined_weight
        # Neighbouring words that are no known identifier together say nothing new.
        weights[rows < 0] = 0.0
        unknown = [term for term, row in zip(plain, rows.tolist(), strict=False) if row < 0]
        pieces = self._made(unknown, self._weights.query_weights).sum(axis=0)
        known = product(weights, self._table[rows].astype(np.float32))
        return normalised((known + pieces)[None, :])[0]

    def _passage_terms(
        self, unknown: Sequence[int], strings: Mapping[int, str]
    ) -> NDArray[np.float32]:
        """Return the passage vectors of terms without a row; those made lately are kept."""
        with self._kept_lock:
            missing = [term for term in unknown if term not in self._kept_rows]
            if len(self._kept_rows) + len(missing) > _KEPT:
                self._kept_rows.clear()
                missing = list(unknown)
            made = self._made([strings[term] for term in missing], self._weights.passage_weights)
            if len(missing) > _KEPT:
                return made
            first = len(self._kept_rows)
            self._kept[first : first + len(missing)] = made
            self._kept_rows.update(zip(missing, count(first), strict=False))
            return self._kept[[self._kept_rows[term] for term in unknown]]

    def _made(self, unknown: Sequence[str], weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the weighted vectors of terms without a row: the mean of their pieces' rows."""
        if not unknown:
            return np.zeros((0, self.dim), np.float32)
        pieces = [piece_buckets(term, self._weights.n_buckets) for term in unknown]
        sizes = np.fromiter(map(len, pieces), np.intp, len(pieces))
        flat = np.fromiter(chain.from_iterable(pieces), np.intp, int(sizes.sum()))
        flat += len(self._weights.term_ids)
        shares = weights[flat] / np.repeat(sizes, sizes).astype(np.float32)
        ends = np.cumsum(sizes)
        made = np.zeros((len(pieces), self.dim), np.float32)
        for first in range(0, len(pieces), _MADE):
            last = min(first + _MADE, len(pieces))
            begin, end = int(ends[first] - sizes[first]), int(ends[last - 1])
            parts = self._table[flat[begin:end]] * shares[begin:end, None]
            np.add.reduceat(
                parts, ends[first:last] - sizes[first:last] - begin, out=made[first:last]
            )
        return made

    def _rows(self, ids: NDArray[np.uint64]) -> NDArray[np.intp]:
        """Return each term's row of the table, -1 for a term that has none."""
        known = self._weights.term_ids
        places = np.minimum(np.searchsorted(known, ids), len(known) - 1)
        return np.where(known[places] == ids, places, -1)
