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
    "glossary": "0..1: defines a name the glossary gives, over the root of how many files do",
}

WEIGHTS: Mapping[str, float] = {"glossary": 1.5}
"""1 to 2 are alike (benchmarks/results/glossary-2026-11-30.md)."""


def columns(matches: Matches, query: Query) -> dict[str, NDArray[np.float32]]:
    """Return the group's column of shape ``(F,)``."""
    column = np.zeros(len(matches.files), np.float32)
    for name in query.glossary_names:
        files = matches.index.defining_files(name, ignore_case=False)
        rows = matches.rows_of(files)
        if len(rows):
            column[rows] = np.maximum(column[rows], np.float32(len(files) ** -0.5))
    return {"glossary": column}
