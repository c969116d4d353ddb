"""Scores rankings of examples by set: NDCG@10 for labelled queries, hit@k for replayed commits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from training.rank.examples import LABELLED
from wherein.measure.fit_examples import Examples
from wherein.measure.fit_scores import ndcg_of, ranked_labels

SMALL_REPLAY = frozenset({"flask", "fastify"})


def per_request(examples: Examples, scores: NDArray[np.float64]) -> dict[str, list[float]]:
    """Return column to its value for each request, in request order within the column.

    Labelled queries: ``all`` and the category. Commits: ``named@1``, ``named@10``, ``plain@1``,
    ``plain@10``.
    Equal scores keep the first stage's order.
    """
    columns: dict[str, list[float]] = defaultdict(list)
    for i, category in enumerate(examples.categories):
        hits = ranked_labels(examples, i, scores)
        if examples.source in LABELLED:
            value = ndcg_of(hits, int(examples.n_targets[i]))
            columns["all"].append(value)
            columns[category].append(value)
        else:
            columns[f"{category}@10"].append(float(hits.any()))
            columns[f"{category}@1"].append(float(hits[:1].any()))
    return dict(columns)


def means(rows: Mapping[tuple[str, str], Mapping[str, Sequence[float]]]) -> dict[str, float]:
    """Return ``source:column`` to the mean of repository means; rows are keyed (source, name)."""
    collected: dict[str, list[float]] = defaultdict(list)
    for (source, name), columns in sorted(rows.items()):
        if source not in LABELLED and name in SMALL_REPLAY:
            continue
        for column, values in columns.items():
            if values:
                collected[f"{source}:{column}"].append(fmean(values))
    return {column: fmean(values) for column, values in sorted(collected.items())}
