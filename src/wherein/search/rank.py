"""Orders the candidates by a weighted sum of their signals.

The weights are data (`data/weights.json`): one set for each of with and without history and with
and without vectors. They are for raw signal values: where they were learned on standardised ones,
mean and deviation are folded in, so a hit's contributions sum to its score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files as package_files

import msgspec
import numpy as np
from numpy.typing import NDArray

from wherein.search.signals import Evaluated

__all__ = [
    "SITUATIONS",
    "EvidenceModel",
    "WeightSet",
    "Weights",
    "bundled_weights",
    "contributions",
    "situation",
]


class EvidenceModel(msgspec.Struct, frozen=True):
    """Logistic model of the probability that a right file is among the hits."""

    bias: float = 0.0
    weights: dict[str, float] = {}
    """Names are those of `evidence.FEATURES`."""


class WeightSet(msgspec.Struct, frozen=True):
    """Weights for one situation."""

    weights: dict[str, float]
    """Signal name to weight; a signal left out weighs 0."""
    evidence: EvidenceModel = EvidenceModel()
    made: str = ""
    """Data, date and command they come from."""


class Weights(msgspec.Struct, frozen=True):
    """A weights file."""

    version: int
    sets: dict[str, WeightSet]
    """``plain``, ``vectors``, ``history``, ``history+vectors``; ``plain`` must be there."""

    def choose(self, *, has_history: bool, has_vectors: bool) -> WeightSet:
        """Return the set for a situation, or the nearest that the file has."""
        full = situation(has_history=has_history, has_vectors=has_vectors)
        for name in (full, "history" if has_history else "", "vectors" if has_vectors else ""):
            if name in self.sets:
                return self.sets[name]
        return self.sets["plain"]


SITUATIONS = ("plain", "vectors", "history", "history+vectors")
"""The sets a weights file may have."""


def situation(*, has_history: bool, has_vectors: bool) -> str:
    """Return the one of `SITUATIONS` that a query is in."""
    names = (("history", has_history), ("vectors", has_vectors))
    return "+".join(name for name, has in names if has) or "plain"


@lru_cache(maxsize=1)
def bundled_weights() -> Weights:
    """Return the weights that come with the package."""
    data = (package_files("wherein.search") / "data" / "weights.json").read_bytes()
    return msgspec.json.decode(data, type=Weights)


@dataclass(frozen=True, slots=True)
class Ranked:
    """The candidates in order."""

    order: tuple[int, ...]
    """Rows of the matrix, best first."""
    scores: NDArray[np.float64]
    """Shape ``(F,)``, by row."""


def rank(evaluated: Evaluated, weights: WeightSet, paths: Sequence[str]) -> Ranked:
    """Order the candidates by the sum of their weighted signals.

    Args:
        evaluated: The signals.
        weights: What each counts.
        paths: The candidates' paths, which decide between equal scores.
    """
    vector = np.array([weights.weights.get(name, 0.0) for name in evaluated.names], np.float64)
    # Row by row in the columns' order: the same sum on every machine, whatever BLAS does.
    scores = np.cumsum(evaluated.matrix.astype(np.float64) * vector, axis=1)[:, -1]
    order = sorted(range(len(paths)), key=lambda row: (-float(scores[row]), paths[row]))
    return Ranked(tuple(order), scores)


def contributions(evaluated: Evaluated, weights: WeightSet, row: int) -> Mapping[str, float]:
    """Return what each signal adds to a candidate's score, the largest first, without zeros."""
    known = weights.weights
    parts = {
        name: value * known[name]
        for name, value in zip(evaluated.names, evaluated.matrix[row].tolist(), strict=True)
        if value and known.get(name)
    }
    return dict(sorted(parts.items(), key=lambda item: (-abs(item[1]), item[0])))
