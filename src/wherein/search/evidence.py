"""How sure an answer is, and what the asker should know of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from wherein.search.matches import Matches
from wherein.search.query import Query, TermKind, is_code_name
from wherein.search.rank import EvidenceModel, Ranked
from wherein.search.signals import Evaluated
from wherein.types import Evidence

__all__ = [
    "FEATURES",
    "answer_features",
    "level",
    "missing_names",
    "missing_words",
    "probability",
]

FEATURES: Mapping[str, str] = {
    "coverage": "0..1: share of the query's idf in the first hit's best place, its path counted in",
    "named": "0 or 1: the first hit defines a name of the query as written, or has its text",
    "rare": "0 or 1: the rarest known term of the query is in one of the first three hits",
    "first_share": "0..1: the first hit's share of the softmax over candidates",
    "shown_share": "0..1: the share of all hits shown",
    "dense": "-1..1: best cosine among the hits",
}

STRONG_FROM = 0.75
MODERATE_FROM = 0.45
"""Probabilities at which an answer counts as strong and as moderate."""


def answer_features(evaluated: Evaluated, ranked: Ranked, limit: int) -> dict[str, float]:
    """Return the features that the probability of an answer is computed from."""
    if not ranked.order:
        return dict.fromkeys(FEATURES, 0.0)
    first, shown = ranked.order[0], list(ranked.order[:limit])
    shares = np.exp(ranked.scores - ranked.scores.max())
    shares /= shares.sum()
    return {
        "coverage": _value(evaluated, "cov_place", [first]),
        "named": float(
            any(_value(evaluated, name, [first]) > 0 for name in ("ex_cs", "qualified"))
            or _value(evaluated, "exact_text", [first]) >= 1
        ),
        "rare": float(_value(evaluated, "cov_rarest", shown[:3]) > 0),
        "first_share": float(shares[first]),
        "shown_share": float(shares[shown].sum()),
        "dense": _value(evaluated, "d_best", shown),
    }


def _value(evaluated: Evaluated, name: str, rows: list[int]) -> float:
    if name not in evaluated.names:
        return 0.0
    return float(evaluated.matrix[rows, evaluated.names.index(name)].max(initial=0.0))


def probability(features: Mapping[str, float], model: EvidenceModel) -> float:
    """Return the probability, 0..1, that a right file is among the hits."""
    total = model.bias + sum(
        model.weights.get(name, 0.0) * features.get(name, 0.0) for name in FEATURES
    )
    return float(1 / (1 + np.exp(-np.clip(total, -30, 30))))


def level(chance: float, features: Mapping[str, float]) -> Evidence:
    """Return how sure that is; without the query's rarest word it is weak whatever it scores."""
    if not features.get("rare") and not features.get("named"):
        return Evidence.WEAK
    if chance >= STRONG_FROM:
        return Evidence.STRONG
    return Evidence.MODERATE if chance >= MODERATE_FROM else Evidence.WEAK


def hit_level(evaluated: Evaluated, row: int, answer: Evidence) -> Evidence:
    """Return how sure one hit is: by what of the query stands there, never above the answer's."""
    coverage = _value(evaluated, "cov_place", [row])
    is_named = _value(evaluated, "ex_cs", [row]) > 0 or _value(evaluated, "exact_text", [row]) >= 1
    if is_named or coverage >= 0.8:
        own = Evidence.STRONG
    elif coverage >= 0.4:
        own = Evidence.MODERATE
    else:
        own = Evidence.WEAK
    order = (Evidence.WEAK, Evidence.MODERATE, Evidence.STRONG)
    return order[min(order.index(own), order.index(answer))]


def missing_words(query: Query, matches: Matches) -> tuple[str, ...]:
    """Return the words of the query that no live file has in any form, in order."""
    found: dict[int, bool] = {}
    for term, idf in zip(matches.terms, matches.idf, strict=True):
        if term.word >= 0 and term.kind is TermKind.WORD:
            found[term.word] = found.get(term.word, False) or float(idf) > 0
    return tuple(query.words[place] for place in sorted(found) if not found[place])


def missing_names(query: Query, matches: Matches) -> tuple[str, ...]:
    """Return the names of the query, written as code, of which live files have parts alone."""
    return tuple(
        query.words[term.word]
        for term, idf in zip(matches.terms, matches.idf, strict=True)
        if term.kind is TermKind.WHOLE and float(idf) == 0 and is_code_name(query.words[term.word])
    )
