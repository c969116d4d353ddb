"""How likely each chunk of a file is the place that a query is about: a sum of four signals.

The weights say where commits changed a file, given that they changed it. They are fitted by
``training/rank/places.py``; ``benchmarks/results`` has what they bring over BM25F and cosine alone.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from wherein.search.matches import Matches

__all__ = ["PLACE_SIGNALS", "WITHOUT_VECTORS", "WITH_VECTORS", "place_scores", "place_signals"]

PLACE_SIGNALS: Mapping[str, str] = {
    "match": "0..1: BM25F of the chunk over the sum of the query's idf",
    "coverage": "0..1: share of the query's idf that stands in the chunk, in any field",
    "nearness": "-1..1: cosine of the chunk and the query; 0 without vectors",
    "length": "0..2: a fifth of the log of the lines; 0 in a file with no word of the query",
}
"""Signal name to its range and reason, in the order of `place_signals`' columns."""

WITH_VECTORS: Mapping[str, float] = {
    "match": 5.77,
    "coverage": 2.14,
    "nearness": 4.43,
    "length": 2.95,
}
WITHOUT_VECTORS: Mapping[str, float] = {"match": 9.72, "coverage": 2.34, "length": 2.88}
"""Signal name to its weight; a sum is a log-odds between the chunks of one file."""

_WITH, _WITHOUT = (
    np.array([weights.get(name, 0.0) for name in PLACE_SIGNALS])
    for weights in (WITH_VECTORS, WITHOUT_VECTORS)
)


def place_signals(
    matches: Matches,
    rows: NDArray[np.int64],
    lines: NDArray[np.uint32],
    similarities: NDArray[np.float32] | None,
) -> NDArray[np.float64]:
    """Return the signals of some rows of one file.

    Args:
        matches: The query's terms in the candidates.
        rows: Rows of `Matches.rows` that are chunks.
        lines: First and last line of each of them, shape ``(len(rows), 2)``.
        similarities: Cosine of every chunk of the index, None without vectors.

    Returns:
        Shape ``(len(rows), len(PLACE_SIGNALS))``.
    """
    signals = np.zeros((len(rows), len(PLACE_SIGNALS)))
    total = float(matches.idf.sum())
    if total > 0:
        signals[:, 0] = matches.scores[rows] / total
        signals[:, 1] = matches.idf @ matches.present[:, rows] / total
    if similarities is not None:
        signals[:, 2] = similarities[matches.rows[rows]]
    if signals[:, 1].any():
        signals[:, 3] = np.log(lines[:, 1] - lines[:, 0] + 2.0) / 5
    return signals


def place_scores(
    matches: Matches,
    rows: NDArray[np.int64],
    lines: NDArray[np.uint32],
    similarities: NDArray[np.float32] | None,
) -> NDArray[np.float64]:
    """Return the score of some rows of one file, shape ``(len(rows),)``; see `place_signals`."""
    weights = _WITHOUT if similarities is None else _WITH
    # Column by column: the same sum on every machine, whatever BLAS does.
    return np.cumsum(place_signals(matches, rows, lines, similarities) * weights, axis=1)[:, -1]
