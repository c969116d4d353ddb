"""Fits a linear ranker: listwise softmax over the files of each request, with an L2 penalty.

ListNet's top-one loss (Cao et al. 2007) with the mass on the labelled files. Signals are
standardised first; the deviation has a floor, since a flag that is almost never set would else get
a huge scale and ruin the one request where it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wherein.measure.fit_examples import Examples
from wherein.measure.minimise import minimise

__all__ = ["L2", "SD_FLOOR", "Problem", "Weights"]

SD_FLOOR = 0.1
L2 = 30.0
MAX_ITERATIONS = 120
MIN_WEIGHT = 1e-4
"""Smaller weights, on standardised signals, change no order and are left out."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Raw weights: the score of a file is ``signals @ values``; standardisation is folded in."""

    names: tuple[str, ...]
    values: NDArray[np.float64]
    standardised: NDArray[np.float64]

    def named(self) -> dict[str, float]:
        """Return name to weight, rounded as in a weights file, without those of no effect."""
        return {
            name: round(float(value), 5)
            for name, value, size in zip(self.names, self.values, self.standardised, strict=True)
            if abs(size) > MIN_WEIGHT
        }


class Problem:
    """All requests that have a label among their candidates, standardised once.

    Each repository counts alike within its source, so that one with many requests does not rule;
    the sources count as ``source_weight`` says (1.0 each where it is silent).

    The penalty pulls towards ``prior`` (raw weights, 0 where it is silent): what the requests
    hardly ever show, such as a quoted message or a path, keeps the weight it had.

    Raises:
        ValueError: No request has a label among its candidates.
    """

    def __init__(
        self,
        parts: Sequence[Examples],
        *,
        l2: float = L2,
        sd_floor: float = SD_FLOOR,
        source_weight: Mapping[str, float] | None = None,
        prior: Mapping[str, float] | None = None,
    ) -> None:
        self.names = parts[0].signal_names
        self.l2 = l2
        self._source_weight = dict(source_weight or {})
        self._parts = [(part.source, part.repository) for part in parts]
        blocks: list[NDArray[np.float32]] = []
        shares: list[NDArray[np.float32]] = []
        sizes: list[int] = []
        owners: list[int] = []
        for owner, part in enumerate(parts):
            for i in range(len(part)):
                rows = part.request(i)
                labels = part.labels[rows].astype(np.float32)
                if labels.any():
                    blocks.append(part.signals[rows])
                    shares.append(labels / labels.sum())
                    sizes.append(len(labels))
                    owners.append(owner)
        raw = np.concatenate(blocks)
        self._mean = raw.mean(axis=0)
        self._deviation = np.maximum(raw.std(axis=0), sd_floor)
        self._x = (raw - self._mean) / self._deviation
        given = prior or {}
        self.prior = np.array([given.get(name, 0.0) for name in self.names]) * self._deviation
        self._share = np.concatenate(shares)
        self._starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        self._request = np.repeat(np.arange(len(sizes)), sizes)
        self._owner = np.array(owners)

    def fit(
        self,
        *,
        without: Collection[str] = (),
        columns: Sequence[int] | None = None,
        start: Weights | None = None,
    ) -> Weights:
        """Return the weights that minimise the loss.

        Args:
            without: Repositories that are left out.
            columns: Signals that may count; the others get weight 0.
            start: Where to begin, so that a fit near another is quick.
        """
        weight = self._request_weights(without).astype(np.float32)
        keep = np.flatnonzero(weight > 0)
        rows = np.isin(self._request, keep)
        x, share = self._x[rows], self._share[rows]
        if columns is not None:
            x = np.ascontiguousarray(x[:, columns])
        sizes = np.diff(np.append(self._starts, len(self._request)))[keep]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        request = np.repeat(np.arange(len(keep)), sizes)
        w_request = weight[keep]
        mass = share * w_request[request]

        used = np.arange(len(self.names)) if columns is None else np.asarray(columns)
        prior = self.prior[used]
        begin = prior if start is None else start.standardised[used]

        def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            score = x @ w.astype(np.float32)
            top = np.maximum.reduceat(score, starts)
            exp = np.exp(score - top[request])
            total = np.add.reduceat(exp, starts)
            value = float((w_request * (np.log(total) + top)).sum(dtype=np.float64) - mass @ score)
            slope = x.T @ (exp / total[request] * w_request[request] - mass)
            away = w - prior
            penalty = 0.5 * self.l2 * float(away @ away)
            return value + penalty, slope.astype(np.float64) + self.l2 * away

        found = minimise(
            loss,
            begin,
            max_iterations=MAX_ITERATIONS,
            value_tolerance=1e-7,
            slope_tolerance=1e-3,
        )
        values, standardised = np.zeros(len(self.names)), np.zeros(len(self.names))
        standardised[used] = found.x
        values[used] = found.x / self._deviation[used]
        return Weights(self.names, values, standardised)

    def _request_weights(self, without: Collection[str]) -> NDArray[np.float64]:
        """Return one weight for each request, adding up to the number of requests that count."""
        counts = np.bincount(self._owner, minlength=len(self._parts))
        used = [
            number
            for number, (_, name) in enumerate(self._parts)
            if name not in without and counts[number]
        ]
        per_source: dict[str, int] = {}
        for number in used:
            source = self._parts[number][0]
            per_source[source] = per_source.get(source, 0) + 1
        each = np.zeros(len(self._parts))
        for number in used:
            source = self._parts[number][0]
            each[number] = (
                self._source_weight.get(source, 1.0) / per_source[source] / counts[number]
            )
        weights = each[self._owner]
        return weights * (weights > 0).sum() / weights.sum()
