"""Measures rankings: recall@k, reciprocal rank, NDCG@k, bootstrap intervals."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean

__all__ = [
    "Interval",
    "bootstrap_mean",
    "hit_at",
    "ndcg_at",
    "precision_at",
    "recall_at",
    "reciprocal_rank",
]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its bootstrap percentile interval."""

    mean: float
    low: float
    high: float
    n: int


def hit_at(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return 1.0 when any of the first ``k`` items is relevant, else 0.0."""
    return float(any(item in relevant for item in ranked[:k]))


def precision_at(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the share of ``k`` places that hold a relevant item; an empty place holds none."""
    return sum(item in relevant for item in ranked[:k]) / k


def recall_at(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the share of ``relevant`` among the first ``k`` items (1.0 when none is)."""
    if not relevant:
        return 1.0
    return len(set(ranked[:k]) & set(relevant)) / len(set(relevant))


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str], k: int = 10) -> float:
    """Return 1 / (1-based rank of the first relevant item among ``k``), 0.0 when there is none."""
    return next((1 / (i + 1) for i, item in enumerate(ranked[:k]) if item in relevant), 0.0)


def ndcg_at(ranked: Sequence[str], relevant: Collection[str], k: int = 10) -> float:
    """Return NDCG@k with binary relevance (Järvelin and Kekäläinen 2002, log2 discount)."""
    wanted = set(relevant)
    gain = sum(1 / math.log2(i + 2) for i, item in enumerate(ranked[:k]) if item in wanted)
    ideal = sum(1 / math.log2(i + 2) for i in range(min(k, len(wanted))))
    return gain / ideal if ideal else 0.0


def bootstrap_mean(
    values: Sequence[float], *, n_samples: int = 2000, level: float = 0.95, seed: int = 0
) -> Interval:
    """Return the mean of ``values`` with a percentile bootstrap interval (Efron 1979).

    Give paired differences for a paired interval. Repeatable for one ``seed``.

    Raises:
        ValueError: ``values`` is empty.
    """
    if not values:
        msg = "no values to average"
        raise ValueError(msg)
    draw = random.Random(seed)  # noqa: S311 - resampling, not secrecy
    means = sorted(fmean(draw.choices(values, k=len(values))) for _ in range(n_samples))
    tail = int((1 - level) / 2 * n_samples)
    return Interval(fmean(values), means[tail], means[-1 - tail], len(values))
