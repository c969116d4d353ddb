"""Signals of meaning: cosines of the query's vector with the chunks' vectors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from wherein.search.matches import Matches
from wherein.search.retrievers import Candidates
from wherein.search.signal_groups.fields import mean_of_three
from wherein.store.tree_index import TreeIndex

__all__ = ["SIGNALS", "columns"]

SIGNALS: Mapping[str, str] = {
    "d_best": "-1..1: cosine of the nearest chunk",
    "d_rel": "0..1: d_best over the nearest chunk of all candidates",
    "d_top3": "0..1: mean cosine of the three nearest chunks",
    "d_mean": "-1..1: mean cosine of all chunks: the file as a whole",
}


def columns(
    index: TreeIndex,
    matches: Matches,
    candidates: Candidates,
    similarities: NDArray[np.float32] | None,
) -> dict[str, NDArray[np.float32]]:
    """Return the group's columns, each of shape ``(F,)``; zeros without vectors."""
    n = len(candidates.files)
    if similarities is None or not index.n_chunks:
        return {name: np.zeros(n, np.float32) for name in SIGNALS}
    rows = np.where(matches.allowed, similarities[matches.rows], np.float32(0))
    best = matches.best(rows)
    nearest = max(float(best.max(initial=0.0)), 1e-6)
    return {
        "d_best": best,
        "d_rel": np.clip(best / nearest, 0, 1),
        "d_top3": mean_of_three(np.maximum(rows, np.float32(0)), matches.starts),
        "d_mean": matches.total(rows) / np.maximum(matches.sizes - 1, 1),
    }
