"""Cosine similarity of a query vector with every chunk's int8 vector, exact."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["quantize", "similarities"]

_INT8_MAX = 127
_MIN_PEAK = 1e-30
"""Below this a float32 row has no direction left to keep."""


def quantize(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Turn L2-normalised rows into int8 with one scale a row.

    Args:
        vectors: Shape ``(n, dim)``; rows that have no direction (zero, or not finite) become zero.

    Returns:
        Vectors ``(n, dim)`` and scales ``(n,)``: ``vectors[i] * scales[i]`` is L2-normalised; the
        scale of a zero row is 0.
    """
    finite = np.where(np.isfinite(vectors).all(axis=1, keepdims=True), vectors, np.float32(0))
    peak = np.abs(finite).max(axis=1, initial=0.0)
    step = np.where(peak > _MIN_PEAK, peak / _INT8_MAX, np.inf)
    rows = np.rint(finite / step[:, None]).astype(np.int8)
    norms = np.sqrt((rows.astype(np.float32) ** 2).sum(axis=1))
    scales = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return rows, scales.astype(np.float32)


def similarities(
    query: tuple[NDArray[np.int8], NDArray[np.float32]],
    vectors: NDArray[np.int8],
    scales: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Return the cosine of ``query`` with each row, as int8 against int8.

    Args:
        query: Shapes ``(1, dim)`` and ``(1,)``, as `quantize` makes them.
        vectors: Shape ``(n, dim)``, C order.
        scales: Shape ``(n,)``, as `quantize` makes them.

    Returns:
        Shape ``(n,)``, float32 in -1..1, always finite.
    """
    import numkong

    if not len(vectors):
        return np.zeros(0, np.float32)
    rows, query_scale = query
    products = np.asarray(numkong.cdist(rows, vectors, "dot"), np.float32).reshape(-1)
    products *= scales
    products *= query_scale[0]
    return products
