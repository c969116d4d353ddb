"""Scores rankings of examples: NDCG@10 for labelled queries, hit@k for replayed commits."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from training.rank.examples import Examples

SMALL_REPLAY = frozenset({"flask", "fastify"})


def per_request(examples: Examples, scores: NDArray[np.float64]) -> dict[str, list[float]]:
    """Return column to its value for each request, in request order within the column.

    Peer: ``all`` and the category. Replay: ``named@1``, ``named@10``, ``plain@1``, ``plain@10``.
    Equal scores keep the first stage's order.
    """
    columns: dict[str, list[float]] = defaultdict(list)
    for i, category in enumerate(examples.categories):
        rows = examples.request(i)
        order = np.argsort(-scores[rows], kind="stable")
        order = order[examples.counts[rows][order]][:10]
        hits = examples.labels[rows][order]
        if examples.source == "peer":
            n_targets = int(examples.n_targets[i])
            gain = sum(1 / math.log2(rank + 2) for rank in np.flatnonzero(hits))
            ideal = sum(1 / math.log2(rank + 2) for rank in range(min(10, n_targets)))
            columns["all"].append(gain / ideal)
            columns[category].append(gain / ideal)
        else:
            columns[f"{category}@10"].append(float(hits.any()))
            columns[f"{category}@1"].append(float(hits[:1].any()))
    return dict(columns)


def means(rows: Mapping[tuple[str, str], Mapping[str, Sequence[float]]]) -> dict[str, float]:
    """Return ``source:column`` to the mean of repository means; rows are keyed (source, name)."""
    collected: dict[str, list[float]] = defaultdict(list)
    for (source, name), columns in sorted(rows.items()):
        if source != "peer" and name in SMALL_REPLAY:
            continue
        for column, values in columns.items():
            if values:
                collected[f"{source}:{column}"].append(fmean(values))
    return {column: fmean(values) for column, values in sorted(collected.items())}
