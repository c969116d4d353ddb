"""Fits a linear ranker: listwise softmax over the files of each request, with an L2 penalty.

ListNet's top-one loss (Cao et al. 2007) with the mass on the labelled files. Signals are
standardised first; the deviation has a floor, since a flag that is almost never set would else get
a huge scale and ruin the one request where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from training.rank.examples import Examples

SD_FLOOR = 0.1
L2 = 30.0


@dataclass(frozen=True, slots=True)
class Weights:
    """Raw weights: the score of a file is ``signals @ values``; standardisation is folded in."""

    names: tuple[str, ...]
    values: NDArray[np.float64]
    standardised: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Batch:
    signals: NDArray[np.float64]
    mass: NDArray[np.float64]
    """Per row: share of its request's label mass times the request's weight."""
    starts: NDArray[np.int64]
    row_request: NDArray[np.int64]
    weight: NDArray[np.float64]


def fit(
    parts: Sequence[Examples],
    *,
    columns: Sequence[int] | None = None,
    l2: float = L2,
    sd_floor: float = SD_FLOOR,
    source_weight: dict[str, float] | None = None,
) -> Weights:
    """Return the weights that minimise the loss over ``parts``.

    Each repository counts alike within its source, so that one with many requests does not rule;
    the sources count as ``source_weight`` says (1.0 each where it is silent). Columns left out get
    weight 0.
    """
    used = np.arange(len(parts[0].signal_names)) if columns is None else np.asarray(columns)
    batch = _batch(parts, used, source_weight or {})
    mean = batch.signals.mean(axis=0)
    deviation = np.maximum(batch.signals.std(axis=0), sd_floor)
    x = (batch.signals - mean) / deviation

    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        score = x @ w
        top = np.maximum.reduceat(score, batch.starts)
        exp = np.exp(score - top[batch.row_request])
        total = np.add.reduceat(exp, batch.starts)
        log_total = np.log(total) + top
        value = float((batch.weight * log_total).sum() - batch.mass @ score + 0.5 * l2 * w @ w)
        share = exp / total[batch.row_request] * batch.weight[batch.row_request]
        return value, x.T @ (share - batch.mass) + l2 * w

    start = np.zeros(len(used))
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 400})
    values = np.zeros(len(parts[0].signal_names))
    standardised = np.zeros(len(parts[0].signal_names))
    values[used] = found.x / deviation
    standardised[used] = found.x
    return Weights(parts[0].signal_names, values, standardised)


def _batch(
    parts: Sequence[Examples], used: NDArray[np.int64], source_weight: dict[str, float]
) -> _Batch:
    repositories: dict[str, int] = {}
    for part in parts:
        repositories[part.source] = repositories.get(part.source, 0) + 1
    total = sum(len(part) for part in parts)
    signals: list[NDArray[np.float32]] = []
    mass: list[NDArray[np.float64]] = []
    sizes: list[int] = []
    weights: list[float] = []
    for part in parts:
        usable = [i for i in range(len(part)) if part.labels[part.request(i)].any()]
        share = source_weight.get(part.source, 1.0) / len(repositories)
        each = share * total / repositories[part.source] / max(len(usable), 1)
        for i in usable:
            rows = part.request(i)
            labels = part.labels[rows].astype(np.float64)
            signals.append(part.signals[rows][:, used])
            mass.append(labels / labels.sum() * each)
            sizes.append(len(labels))
            weights.append(each)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    return _Batch(
        np.concatenate(signals).astype(np.float64),
        np.concatenate(mass),
        starts,
        np.repeat(np.arange(len(sizes)), sizes),
        np.asarray(weights),
    )
