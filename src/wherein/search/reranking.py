"""Lets an optional reranker read the first files' places beside the query: one more signal.

Its scores are on a scale of its own (logits, probabilities, cosines), so only how they differ
among the files counts: they are brought to the spread that the ranking's scores have there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wherein.embed.protocol import Reranker
from wherein.errors import ProviderError
from wherein.search.rank import Ranked

__all__ = ["Reranked", "Reranking", "rerank"]

_QUERY_CHARS = 2_000
_TEXT_CHARS = 4_000
"""About the 1,024 tokens that the longer ones read; most read 512."""

_MAX_DEVIATION = 3.0
"""One score far from all others (a probability of .99 among zeros) says no more than this."""

_LEAST_PROBABILITY = 1e-6


@dataclass(frozen=True, slots=True)
class Reranking:
    """Who reranks, how many files, and what it counts."""

    reranker: Reranker
    n_files: int
    weight: float


@dataclass(frozen=True, slots=True)
class Reranked:
    """The order after the reranker."""

    ranked: Ranked
    added: Mapping[int, float] = field(default_factory=dict[int, float])
    """Row to what the reranker adds to its score; rows it did not read are left out."""
    note: str = ""
    """Why there is no change, when the reranker failed."""

    @property
    def n_texts(self) -> int:
        """How many places the reranker read."""
        return len(self.added)


def rerank(
    reranking: Reranking, query: str, ranked: Ranked, rows: Sequence[int], texts: Sequence[str]
) -> Reranked:
    """Return the order with what the reranker adds; when it fails, the order as it was.

    Args:
        reranking: Who reranks.
        query: What was asked.
        ranked: The order so far.
        rows: Rows that it reads.
        texts: What it reads of each.
    """
    if len(rows) < 2 or not query.strip():
        return Reranked(ranked)
    reranker = reranking.reranker
    try:
        scores = reranker.score(query[:_QUERY_CHARS], [text[:_TEXT_CHARS] for text in texts])
    except ProviderError as error:
        return Reranked(
            ranked, note=f"ranked without the reranker {reranker.name}: {error.message}"
        )
    places = list(rows)
    parts = reranking.weight * ranked.scores[places].std() * _standardised(scores)
    totals = ranked.scores.copy()
    totals[places] += parts
    before = {row: place for place, row in enumerate(ranked.order)}
    order = sorted(ranked.order, key=lambda row: (-float(totals[row]), before[row]))
    added = {row: float(part) for row, part in zip(places, parts, strict=True)}
    return Reranked(Ranked(tuple(order), totals), added)


def _standardised(scores: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return scores with mean zero and deviation one; probabilities count by their odds."""
    values = scores.astype(np.float64)
    if values.min() >= 0 and values.max() <= 1:
        values = np.clip(values, _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY)
        values = np.log(values / (1 - values))
    deviation = values.std()
    if deviation <= 0:
        return np.zeros(len(values))
    return np.clip((values - values.mean()) / deviation, -_MAX_DEVIATION, _MAX_DEVIATION)
