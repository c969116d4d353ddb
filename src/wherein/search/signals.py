"""Every signal of the ranker: what a candidate file has to show for itself, one number for each.

`SIGNALS` names them all with range and reason. Each group is one function from the collected
matches to columns; further columns (history, graph) come from `retrievers.SignalSource`, and those
of the glossary are there when it has something to add. A signal
that cannot be computed (no vectors, no history) is 0, and another set of weights is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wherein.search.literal import LiteralMatch
from wherein.search.matches import Matches
from wherein.search.query import Query
from wherein.search.retrievers import Candidates, FileScores, SignalSource
from wherein.search.signal_groups import (
    aggregation,
    coverage,
    definitions,
    dense,
    fields,
    glossary,
    joined,
    literals,
    paths,
    priors,
)
from wherein.store.tree_index import TreeIndex

__all__ = ["SIGNALS", "Evaluated", "evaluate"]

SIGNALS: Mapping[str, str] = {
    **aggregation.SIGNALS,
    **fields.SIGNALS,
    **definitions.SIGNALS,
    **paths.SIGNALS,
    **coverage.SIGNALS,
    **joined.SIGNALS,
    **priors.SIGNALS,
    **dense.SIGNALS,
    **literals.SIGNALS,
}
"""Signal name to its range and reason, in the order of the columns."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The candidates with all their signals."""

    files: NDArray[np.int64]
    names: tuple[str, ...]
    matrix: NDArray[np.float32]
    """Shape ``(len(files), len(names))``, finite."""


def evaluate(
    index: TreeIndex,
    query: Query,
    candidates: Candidates,
    matches: Matches,
    scores: FileScores,
    similarities: NDArray[np.float32] | None,
    found_literals: Mapping[int, LiteralMatch],
    sources: Sequence[SignalSource] = (),
) -> Evaluated:
    """Return one row of signals for each candidate, in the candidates' order."""
    files = candidates.files
    names = [*SIGNALS, *(glossary.SIGNALS if query.glossary_names else ())]
    if not len(files):
        names += [name for source in sources for name in source.signal_names]
        return Evaluated(files, tuple(names), np.zeros((0, len(names)), np.float32))
    columns: dict[str, NDArray[np.float32]] = {
        **aggregation.columns(matches, candidates, scores),
        **fields.columns(matches),
        **definitions.columns(matches, query),
        **paths.columns(matches, query),
        **coverage.columns(matches),
        **joined.columns(matches),
        **priors.columns(index, query, files),
        **dense.columns(index, matches, candidates, similarities),
        **literals.columns(files, found_literals),
        **glossary.columns(matches, query),
    }
    matrix = np.zeros((len(files), len(names)), np.float32)
    for place, name in enumerate(names):
        matrix[:, place] = columns[name]
    blocks = [matrix]
    for source in sources:
        blocks.append(np.asarray(source.signals(index, query, files), np.float32))
        names += source.signal_names
    whole = np.concatenate(blocks, axis=1) if len(blocks) > 1 else matrix
    if not np.isfinite(whole).all():
        whole = np.nan_to_num(whole, posinf=0.0, neginf=0.0)
    return Evaluated(files, tuple(names), whole)
