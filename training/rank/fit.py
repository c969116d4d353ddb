"""Fits the weights and the evidence model that ship, and writes them.

    python -m training.rank.fit EXAMPLES --out src/wherein/search/data/weights.json --made "…"

Four situations get weights of their own: with and without history, with and without vectors. The
evidence model is logistic, fitted on scores of weights that never saw the repository, and its
calibration error is measured on repositories that it never saw either.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from training.rank.examples import load_folder
from training.rank.scoring import means, per_request
from wherein.history.votes import SIGNALS as HISTORY_SIGNALS
from wherein.measure.fit_examples import Examples
from wherein.measure.fit_linear import L2, Problem, Weights
from wherein.measure.fit_scores import SHOWN
from wherein.measure.minimise import minimise
from wherein.search import evidence
from wherein.search.rank import EvidenceModel, Ranked, WeightSet
from wherein.search.rank import Weights as WeightsFile
from wherein.search.signal_groups.dense import SIGNALS as DENSE_SIGNALS
from wherein.search.signals import Evaluated

EVIDENCE_L2 = 1.0

RULES = ("ex_alone", "exact_sentence", "p_generated", "phrase")
"""Signals that keep the weight of ``prior.json``. Who asks for one name wants its definition first,
however often others use it, and who gives a sentence, in quotes or not, wants where it stands; in
the requests there is seldom anybody who does the one or the other. Generated code is hardly ever
among their candidates, so a learned weight of it would be an accident."""

Situations = Mapping[str, frozenset[str]]
SITUATIONS: Situations = {
    "plain": frozenset({*HISTORY_SIGNALS, *DENSE_SIGNALS}),
    "vectors": frozenset(HISTORY_SIGNALS),
    "history": frozenset(DENSE_SIGNALS),
    "history+vectors": frozenset(),
}
"""Situation to the signals that it does not have."""


def fit_situation(
    parts: Sequence[Examples],
    problem: Problem,
    prior: Mapping[str, float],
    missing: frozenset[str],
) -> tuple[Weights, dict[str, float], EvidenceModel, dict[str, float]]:
    """Return weights, leave-one-out figures, the evidence model and its reliability."""
    names = parts[0].signal_names
    columns = [i for i, name in enumerate(names) if name not in missing]
    whole = with_rules(problem.fit(columns=columns), problem, prior)
    rows: dict[tuple[str, str], dict[str, list[float]]] = {}
    features: list[NDArray[np.float64]] = []
    found: list[NDArray[np.float64]] = []
    owners: list[str] = []
    for name in sorted({part.repository for part in parts if part.source != "made"}):
        fitted = problem.fit(without={name}, columns=columns, start=whole)
        weights = with_rules(fitted, problem, prior)
        for part in parts:
            if part.repository != name:
                continue
            scores = part.signals @ weights.values
            rows[part.source, name] = per_request(part, scores)
            x, y = answers(part, scores)
            features.append(x)
            found.append(y)
            owners += [name] * len(y)
    model, reliability = fit_evidence(np.concatenate(features), np.concatenate(found), owners)
    return whole, means(rows), model, reliability


def with_rules(weights: Weights, problem: Problem, prior: Mapping[str, float]) -> Weights:
    """Return the weights with those of `RULES` as ``prior`` has them."""
    fixed = np.isin(weights.names, RULES)
    raw = np.array([prior.get(name, 0.0) for name in weights.names])
    return Weights(
        weights.names,
        np.where(fixed, raw, weights.values),
        np.where(fixed, problem.prior, weights.standardised),
    )


def answers(
    part: Examples, scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the evidence features of each answer, and whether a right file was among the hits."""
    x: list[list[float]] = []
    y: list[float] = []
    for i in range(len(part)):
        rows = part.request(i)
        own = scores[rows]
        order = tuple(np.argsort(-own, kind="stable").tolist())
        shown = np.array(order[:SHOWN])
        evaluated = Evaluated(np.arange(len(own)), part.signal_names, part.signals[rows])
        features = evidence.answer_features(evaluated, Ranked(order, own), SHOWN)
        x.append([features[name] for name in evidence.FEATURES])
        y.append(float(part.labels[rows][shown].any()) if len(shown) else 0.0)
    return np.array(x), np.array(y)


def fit_evidence(
    x: NDArray[np.float64], y: NDArray[np.float64], owners: Sequence[str]
) -> tuple[EvidenceModel, dict[str, float]]:
    """Return the model fitted on all answers, and its reliability by leave-one-repository-out."""
    repositories = np.array(owners)
    held_out = np.zeros(len(y))
    for name in sorted(set(owners)):
        inside = repositories != name
        held_out[~inside] = _chance(x[~inside], _logistic(x[inside], y[inside]))
    w = _logistic(x, y)
    named = dict(zip(evidence.FEATURES, w[1:].tolist(), strict=True))
    return EvidenceModel(bias=float(w[0]), weights=named), reliability_of(held_out, y)


def reliability_of(chance: NDArray[np.float64], y: NDArray[np.float64]) -> dict[str, float]:
    """Return the expected calibration error over ten bins (Naeini et al. 2015), and each bin."""
    bins = np.minimum((chance * 10).astype(int), 9)
    table: dict[str, float] = {}
    error = 0.0
    for number in range(10):
        inside = bins == number
        if inside.any():
            said, was = float(chance[inside].mean()), float(y[inside].mean())
            error += abs(said - was) * float(inside.mean())
            table[f"bin{number}:n={int(inside.sum())}:said={said:.2f}"] = round(was, 3)
    return {"error": round(error, 4), **table}


def _logistic(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        z = w[0] + x @ w[1:]
        value = float(np.logaddexp(0, z).sum() - y @ z)
        slope = 1 / (1 + np.exp(-z)) - y
        penalty = np.concatenate([[0.0], w[1:]])
        grad = np.concatenate([[slope.sum()], x.T @ slope]) + EVIDENCE_L2 * penalty
        return value + 0.5 * EVIDENCE_L2 * float(penalty @ penalty), grad

    start = np.zeros(x.shape[1] + 1)
    return minimise(loss, start, value_tolerance=1e-12, slope_tolerance=1e-6).x


def _chance(x: NDArray[np.float64], w: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-(w[0] + x @ w[1:])))


def main() -> None:
    """Fit all situations, print their figures, write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--made", default="", help="date and command, kept in the file")
    parser.add_argument("--l2", type=float, default=L2)
    parser.add_argument("--weight", action="append", default=[], metavar="SOURCE=FACTOR")
    args = parser.parse_args()
    parts = load_folder(args.examples)
    factors = {source: float(factor) for source, factor in (w.split("=") for w in args.weight)}
    priors = json.loads((Path(__file__).parent / "prior.json").read_text())
    sets: dict[str, WeightSet] = {}
    report: dict[str, object] = {}
    for situation, missing in SITUATIONS.items():
        problem = Problem(parts, l2=args.l2, source_weight=factors, prior=priors[situation])
        weights, figures, model, reliability = fit_situation(
            parts, problem, priors[situation], missing
        )
        sets[situation] = WeightSet(weights=weights.named(), evidence=model, made=args.made)
        report[situation] = {"figures": figures, "reliability": reliability}
        line = " ".join(f"{name} {value:.4f}" for name, value in figures.items())
        print(f"{situation}: {line}; calibration error {reliability['error']}", flush=True)
    print("answers with a right hit:", round(fmean(_right(parts)), 3))
    if args.out:
        import msgspec

        data = msgspec.json.encode(WeightsFile(version=1, sets=sets), order="sorted")
        args.out.write_bytes(msgspec.json.format(data, indent=1) + b"\n")
    if args.report:
        args.report.write_text(json.dumps(report, indent=1))


def _right(parts: Sequence[Examples]) -> list[float]:
    return [float(part.labels[part.request(i)].any()) for part in parts for i in range(len(part))]


if __name__ == "__main__":
    main()
