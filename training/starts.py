"""Start vectors that say something of a term before training: latent semantic analysis.

Training moves a term only as often as it is seen. A start at random stays as noise in terms that
few passages have; here such a term starts near its companions instead. The rows are those of a
truncated singular value decomposition of the term-by-pair matrix (a pair is a passage with its
query, so that words of documentation start near the code they describe), weighted by log count
times inverse document frequency, found by block power iteration from random vectors.
"""

from __future__ import annotations

import numpy as np
from dataset import Pairs
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

OVERSAMPLED = 16
ITERATIONS = 2
BLOCK = 20_000


def pair_matrix(pairs: Pairs, n_rows: int, most: int, seed: int) -> csr_matrix:
    """Return one row for each of at most ``most`` queries: its terms and its passage's."""
    rng = np.random.default_rng(seed)
    n = len(pairs.query_passages)
    chosen = np.sort(rng.permutation(n)[:most])
    places, offsets = pairs.passages.take(pairs.query_passages[chosen])
    asked, bounds = pairs.queries.take(chosen)
    columns = np.concatenate([pairs.passages.values[places], pairs.queries.values[asked]])
    seen = pairs.counts[places].astype(np.float32).max(axis=1)
    values = np.concatenate([np.log1p(seen), np.full(len(asked), np.log(2.0), np.float32)])
    owners = np.concatenate([
        np.repeat(np.arange(len(chosen)), np.diff(offsets)),
        np.repeat(np.arange(len(chosen)), np.diff(bounds)),
    ])  # fmt: skip
    matrix = csr_matrix((values, (owners, columns)), shape=(len(chosen), n_rows), dtype=np.float32)
    frequency = np.bincount(matrix.indices, minlength=n_rows)
    idf = np.log1p(len(chosen) / (1.0 + frequency)).astype(np.float32)
    matrix.data *= idf[matrix.indices]
    lengths = np.sqrt(np.add.reduceat(matrix.data**2, matrix.indptr[:-1]))
    matrix.data /= np.repeat(np.maximum(lengths, 1e-9), np.diff(matrix.indptr))
    return matrix


def latent(pairs: Pairs, n_rows: int, dim: int, most: int, seed: int) -> NDArray[np.float32]:
    """Return a unit vector for each row of the table; zero for rows that no chosen pair has.

    The first dimension of the decomposition is the common direction of all texts; it is left out.
    Singular values are taken to the power of one half, so that the first few do not rule.
    """
    matrix = pair_matrix(pairs, n_rows, most, seed)
    rng = np.random.default_rng(seed)
    block = rng.standard_normal((n_rows, dim + 1 + OVERSAMPLED)).astype(np.float32)
    for _ in range(ITERATIONS):
        block = matrix.T @ (matrix @ np.linalg.qr(block)[0])
    basis = np.linalg.qr(block)[0]
    seen = matrix @ basis
    values, vectors = np.linalg.eigh(seen.T @ seen)
    order = np.argsort(-values)[1 : dim + 1]
    table = (basis @ vectors[:, order]) * np.maximum(values[order], 1e-9) ** 0.25
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return (table / np.maximum(lengths, 1e-12)).astype(np.float32)
