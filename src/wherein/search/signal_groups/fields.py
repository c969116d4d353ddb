"""Signals of single fields: where in a chunk the query's words stand."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from wherein.search.matches import BODY, DOCUMENTATION, NAMES, SIGNATURE, Matches
from wherein.search.retrievers import best_in_each
from wherein.store.formula import DENSITY_EXPONENT

__all__ = ["SIGNALS", "columns", "mean_of_three"]

SIGNALS: Mapping[str, str] = {
    "sig_best": "0..1: best chunk's BM25 by signature, over all idf: what it takes and gives",
    "doc_best": "0..1: best chunk's BM25 by documentation alone: what its author says it does",
    "body_top3": "0..1: mean of the three best chunks by body",
    "names_file": "0..1: sum over chunks by names / n^.65, capped at 1: a file made of such things",
    "doc_file": "0..1: sum over chunks by documentation / n^.65, capped at 1",
}


def columns(matches: Matches) -> dict[str, NDArray[np.float32]]:
    """Return the group's columns, each of shape ``(F,)``."""
    names, documentation = matches.field_score(NAMES), matches.field_score(DOCUMENTATION)
    divisor = np.maximum(matches.sizes - 1, 1).astype(np.float32) ** np.float32(DENSITY_EXPONENT)
    return {
        "sig_best": matches.best(matches.field_score(SIGNATURE)),
        "doc_best": matches.best(documentation),
        "body_top3": mean_of_three(matches.field_score(BODY), matches.starts),
        "names_file": np.minimum(matches.total(names) / divisor, 1),
        "doc_file": np.minimum(matches.total(documentation) / divisor, 1),
    }


def mean_of_three(rows: NDArray[np.float32], starts: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the mean of each file's three best rows (fewer rows count as zeros)."""
    if not len(starts):
        return np.zeros(0, np.float32)
    return (best_in_each(rows, starts).sum(axis=0) / 3).astype(np.float32)
