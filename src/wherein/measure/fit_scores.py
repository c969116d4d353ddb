"""Scores rankings of examples: what the first ten files of each request are worth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from wherein.measure.fit_examples import Examples

__all__ = ["SHOWN", "ndcg_of", "ranked_labels", "score_all"]

SHOWN = 10
"""Hits that an answer shows."""


def ranked_labels(examples: Examples, i: int, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether each of the first ten files of request ``i`` is right, best first.

    Args:
        examples: The requests.
        i: Which one.
        scores: One for each row of ``examples``. Equal ones keep the first stage's order.
    """
    rows = examples.request(i)
    order = np.argsort(-scores[rows], kind="stable")
    order = order[examples.counts[rows][order]][:SHOWN]
    return examples.labels[rows][order]


def ndcg_of(hits: NDArray[np.bool_], n_targets: int) -> float:
    """Return NDCG@10 of ranked labels (Järvelin and Kekäläinen 2002, log2 discount)."""
    gain = sum(1 / math.log2(rank + 2) for rank in np.flatnonzero(hits[:SHOWN]))
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(SHOWN, n_targets)))
    return gain / ideal if ideal else 0.0


def score_all(examples: Examples, weights: Mapping[str, float]) -> dict[str, Sequence[float]]:
    """Return ``ndcg_at_10``, ``mrr``, ``hit_at_1``… of every request under raw weights."""
    vector = np.array([weights.get(name, 0.0) for name in examples.signal_names], np.float64)
    scores = examples.signals.astype(np.float64) @ vector
    columns: dict[str, list[float]] = {
        "ndcg_at_10": [],
        "mrr": [],
        "hit_at_1": [],
        "hit_at_5": [],
        "hit_at_10": [],
    }
    for i in range(len(examples)):
        hits = ranked_labels(examples, i, scores)
        columns["ndcg_at_10"].append(ndcg_of(hits, int(examples.n_targets[i])))
        right = np.flatnonzero(hits)
        columns["mrr"].append(1 / (int(right[0]) + 1) if len(right) else 0.0)
        for k in (1, 5, 10):
            columns[f"hit_at_{k}"].append(float(hits[:k].any()))
    return dict(columns)
