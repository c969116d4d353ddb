"""Fits ranking weights for one repository, and keeps them only where a held-out part gains.

The requests come in an order: those of a replay by time, so that the newest prove what the older
taught; a bench's by a hash of the query. The last third is held out. The strength of the pull
towards the shipped weights is chosen by cross-validation in the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import numpy as np

from wherein.measure.fit_examples import Examples
from wherein.measure.fit_linear import Problem
from wherein.measure.fit_scores import score_all
from wherein.metrics import Interval, bootstrap_mean
from wherein.search.own_weights import (
    OWN_WEIGHTS_VERSION,
    OwnWeights,
    shipped_id,
    write_own_weights,
)
from wherein.search.rank import WeightSet, bundled_weights
from wherein.types import SHIPPED_RANKING

__all__ = ["STRENGTHS", "Collected", "FitFigures", "FitReport", "Origin", "fit", "fit_and_keep"]

STRENGTHS = (10.0, 30.0, 100.0, 300.0, 1000.0)
"""Pulls towards the shipped weights that are tried. Each stands for how far a repository's weights
are expected to lie from them: 0.32, 0.18, 0.1, 0.06 and 0.03 standard deviations of a signal."""

MIN_REQUESTS = 60
"""With fewer, the third that is held out proves nothing."""

_N_FOLDS = 5
_N_MOVED = 8
_DECISIVE = "ndcg_at_10"
_COLUMNS = ("ndcg_at_10", "mrr", "hit_at_1", "hit_at_5", "hit_at_10")


@dataclass(frozen=True, slots=True)
class Collected:
    """Requests with the signals of their candidates, in the order that decides what is held out."""

    examples: Examples
    situations: tuple[str, ...]
    """Of each request: one of `rank.SITUATIONS`."""
    model: str
    """Name of the embedding model, ``none`` without one."""
    history: str = ""
    """How much history there is, in words."""


@dataclass(frozen=True, slots=True)
class FitFigures:
    """How one ranking does on the requests held out."""

    ranking: str
    """``shipped`` or ``fitted``."""
    ndcg_at_10: float
    mrr: float
    hit_at_1: float
    hit_at_5: float
    hit_at_10: float


@dataclass(frozen=True, slots=True)
class FitReport:
    """What was fitted, how it did, and whether it is kept."""

    is_kept: bool
    reason: str
    """Why it is kept or not, in words."""
    situation: str
    """``history+vectors``…: what evidence the requests had; other searches keep shipped weights."""
    n_fitted: int
    n_held_out: int
    n_out_of_reach: int
    """Requests of both parts without a right file among their candidates."""
    strength: float
    """The pull towards the shipped weights that did best within the fitted part."""
    figures: tuple[FitFigures, ...]
    """On the requests held out: shipped, then fitted; empty where too few could be used."""
    gain: Interval | None
    """Fitted less shipped NDCG@10, request by request."""
    moved: Mapping[str, float]
    """The signals whose weight moved most, in standard deviations of the signal."""
    weights: Mapping[str, float]
    """The fitted weights, kept or not."""
    file: str = ""
    """Where they are kept."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What the file of kept weights says of how they came about."""

    family: Path | None
    """Folder of the repository's index; None keeps nothing."""
    made: str
    """Day, as 2026-11-30."""
    command: str


def fit_and_keep(collected: Collected, origin: Origin) -> FitReport:
    """Fit, and write the weights where the requests held out prove them; else nothing is changed.

    Weights kept by an earlier fit stay when this one proves nothing.

    Raises:
        StoreError: The weights cannot be written.
    """
    report = fit(collected)
    if not report.is_kept or origin.family is None:
        return report
    gain = report.gain
    figures: dict[str, dict[str, float]] = {
        row.ranking: {name: getattr(row, name) for name in _COLUMNS} for row in report.figures
    }
    if gain is not None:
        figures["gain"] = {"mean": gain.mean, "low": gain.low, "high": gain.high}
    evidence = bundled_weights().sets[report.situation].evidence
    own = OwnWeights(
        version=OWN_WEIGHTS_VERSION,
        shipped=shipped_id(),
        model=collected.model,
        made=origin.made,
        command=origin.command,
        n_fitted=report.n_fitted,
        n_held_out=report.n_held_out,
        strength=report.strength,
        figures=figures,
        sets={report.situation: WeightSet(dict(report.weights), evidence, origin.command)},
    )
    file = write_own_weights(origin.family, own)
    return replace(report, file=str(file))


def fit(collected: Collected) -> FitReport:
    """Return what a fit on the first two thirds of the requests does for the last third."""
    situation, examples = _most_common(collected)
    n_held_out = len(examples) // 3
    fitted = examples.part(range(len(examples) - n_held_out))
    held_out = examples.part(range(len(fitted), len(examples)))
    n_out = sum(not examples.is_reachable(i) for i in range(len(examples)))
    n_teaching = sum(fitted.is_reachable(i) for i in range(len(fitted)))
    if len(examples) < MIN_REQUESTS or n_teaching < _N_FOLDS:
        return FitReport(
            is_kept=False,
            reason=f"only {len(examples)} requests with files to rank:"
            f" {MIN_REQUESTS} prove something",
            situation=situation,
            n_fitted=len(fitted),
            n_held_out=n_held_out,
            n_out_of_reach=n_out,
            strength=0.0,
            figures=(),
            gain=None,
            moved={},
            weights={},
        )
    prior = bundled_weights().sets[situation].weights
    strength = _best_strength(fitted, prior)
    problem = Problem([fitted], l2=strength, prior=prior)
    weights = problem.fit()
    named = {**_unseen(prior, examples.signal_names), **weights.named()}
    before, after = score_all(held_out, prior), score_all(held_out, named)
    gain = bootstrap_mean(
        [new - old for new, old in zip(after[_DECISIVE], before[_DECISIVE], strict=True)]
    )
    moved = dict(zip(weights.names, weights.standardised - problem.prior, strict=True))
    largest = sorted(moved, key=lambda name: (-abs(round(float(moved[name]), 5)), name))
    is_kept = gain.mean > 0 and gain.low > 0
    return FitReport(
        is_kept=is_kept,
        reason=_reason(gain, is_kept=is_kept),
        situation=situation,
        n_fitted=len(fitted),
        n_held_out=n_held_out,
        n_out_of_reach=n_out,
        strength=strength,
        figures=(_figures(SHIPPED_RANKING, before), _figures("fitted", after)),
        gain=gain,
        moved={name: round(float(moved[name]), 3) for name in largest[:_N_MOVED]},
        weights=named,
    )


def _most_common(collected: Collected) -> tuple[str, Examples]:
    """Return the situation most requests are in, and those requests."""
    counts = Counter(collected.situations)
    situation = min(counts, key=lambda name: (-counts[name], name), default="plain")
    chosen = [i for i, name in enumerate(collected.situations) if name == situation]
    return situation, collected.examples.part(chosen)


def _best_strength(examples: Examples, prior: Mapping[str, float]) -> float:
    """Return the strength with the best mean NDCG@10 over folds; the stronger of equal ones."""
    folds = [fold.tolist() for fold in np.array_split(np.arange(len(examples)), _N_FOLDS)]
    means: dict[float, float] = {}
    for strength in STRENGTHS:
        values: list[float] = []
        for fold in folds:
            left_out = set(fold)
            rest = examples.part([i for i in range(len(examples)) if i not in left_out])
            if not any(rest.is_reachable(i) for i in range(len(rest))):
                continue
            named = Problem([rest], l2=strength, prior=prior).fit().named()
            values += score_all(examples.part(fold), named)[_DECISIVE]
        means[strength] = round(fmean(values), 6) if values else 0.0
    return max(STRENGTHS, key=lambda strength: (means[strength], strength))


def _unseen(prior: Mapping[str, float], names: Sequence[str]) -> dict[str, float]:
    """Return the shipped weights of signals that no request had."""
    return {name: weight for name, weight in prior.items() if name not in names}


def _figures(ranking: str, columns: Mapping[str, Sequence[float]]) -> FitFigures:
    return FitFigures(ranking, *(fmean(columns[name]) for name in _COLUMNS))


def _reason(gain: Interval, *, is_kept: bool) -> str:
    shown = f"{gain.mean:+.3f} NDCG@10 ({gain.low:+.3f} to {gain.high:+.3f}) on the held-out part"
    if is_kept:
        return f"kept the fitted weights: {shown}"
    return f"kept the shipped weights: the fitted ones bring {shown}"
