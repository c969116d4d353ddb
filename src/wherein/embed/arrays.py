"""The array steps that embedders share: weights to vectors, vectors to unit length."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["normalised", "product", "weighted_sums"]

_DENSE_LIMIT = 1 << 22
"""Cells of the chunk-by-term weight matrix that are filled at once (16 MB): a file of many chunks
is done in several products."""


def normalised(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the rows with length one; a zero row, or one that is not finite, becomes zero."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    usable = np.isfinite(lengths) & (lengths > 0)
    return np.where(usable, vectors / np.where(usable, lengths, 1.0), 0.0).astype(np.float32)


def product(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the matrix product of finite numbers, without warnings.

    BLAS kernels compute on what lies beside the operands and raise the processor's flag of an
    invalid value for it (numpy issue 24067), though the result is right.
    """
    with np.errstate(invalid="ignore"):
        return left @ right


def weighted_sums(
    offsets: NDArray[np.int32],
    columns: NDArray[np.intp],
    weights: NDArray[np.float32],
    table: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Return for each chunk the weighted sum of its terms' vectors.

    Row ``r`` of chunk ``i`` (``offsets[i] <= r < offsets[i + 1]``) adds
    ``weights[r] * table[columns[r]]``. The weights are laid out densely, because one matrix product
    over the distinct terms of a file costs less than gathering a vector for every occurrence.

    Args:
        offsets: Shape ``(n_chunks + 1,)``.
        columns: Shape ``(n_rows,)``, rows of ``table``; distinct within a chunk.
        weights: Shape ``(n_rows,)``.
        table: Shape ``(n_terms, dim)``.
    """
    n_chunks = len(offsets) - 1
    sums = np.zeros((n_chunks, table.shape[1]), np.float32)
    step = max(1, _DENSE_LIMIT // max(1, len(table)))
    for first in range(0, n_chunks, step):
        last = min(n_chunks, first + step)
        begin, end = int(offsets[first]), int(offsets[last])
        rows = np.repeat(np.arange(last - first), np.diff(offsets[first : last + 1]))
        dense = np.zeros((last - first, len(table)), np.float32)
        dense[rows, columns[begin:end]] = weights[begin:end]
        sums[first:last] = product(dense, table)
    return sums
