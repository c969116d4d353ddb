"""The glossary's signal: the file defines a name that the team calls what the query says.

Its weight stands here, not in the weights file: that one is learned from repositories without a
glossary, where the column would always be 0.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from wherein.search.matches import Matches
from wherein.search.query import Query

__all__ = ["SIGNALS", "WEIGHTS", "columns"]

SIGNALS: Mapping[str, str] = {
    "glossary": "0..1: defines a name the glossary gives, over the roots of how many files do, and"
    " of how many names it gives: the more a query may mean, the less each name says",
}

WEIGHTS: Mapping[str, float] = {"glossary": 1.0}
"""Chosen with `query.GLOSSARY_WEIGHT`: 1.5 gains no more where the lines help, and loses more where
they do not (benchmarks/results/glossary-2026-11-30.md)."""


def columns(matches: Matches, query: Query) -> dict[str, NDArray[np.float32]]:
    """Return the group's column of shape ``(F,)``."""
    column = np.zeros(len(matches.files), np.float32)
    for name in query.glossary_names:
        files = matches.index.defining_files(name, ignore_case=False)
        rows = matches.rows_of(files)
        if len(rows):
            share = (len(files) * len(query.glossary_names)) ** -0.5
            column[rows] = np.maximum(column[rows], np.float32(share))
    return {"glossary": column}
