"""Joins ranked lists of files by rank alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["RRF_K", "reciprocal_rank_fusion"]

RRF_K = 5
"""Rank offset. 5 beats the customary 60 by .01 to .03 hit@10 on commit requests and by .01 NDCG on
the peer set (reference ranking, 2026-11)."""


def reciprocal_rank_fusion(
    rankings: Mapping[str, Sequence[int]],
    weights: Mapping[str, float] | None = None,
    *,
    k: int = RRF_K,
) -> list[tuple[int, float]]:
    """Fuse several rankings of the same items into one.

    Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
    Learning Methods" (SIGIR 2009): each list gives an item ``weight / (k + rank)``, ranks from 1.

    Args:
        rankings: Retriever name to its items, best first.
        weights: Retriever name to a non-negative factor; a name left out counts 1.
        k: Rank offset.

    Returns:
        Every item that any ranking names with its score, best first. Equal scores stay in the order
        in which the rankings, by name, first name them, so hashing cannot show.
    """
    scores: dict[int, float] = {}
    for name in sorted(rankings):
        weight = 1.0 if weights is None else weights.get(name, 1.0)
        for rank, item in enumerate(dict.fromkeys(rankings[name]), start=1):
            scores[item] = scores.get(item, 0.0) + weight / (k + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])
