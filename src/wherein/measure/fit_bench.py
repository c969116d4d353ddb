"""Collects what a fit learns from one's own labelled queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from wherein.measure.fit import Collected
from wherein.measure.fit_examples import ExamplesBuilder

if TYPE_CHECKING:
    from wherein.measure.bench_queries import BenchQuery
    from wherein.workspace import Workspace

__all__ = ["collect_queries"]


def collect_queries(
    workspace: Workspace,
    queries: Sequence[BenchQuery],
    progress: Callable[[str, int, int], None] | None = None,
) -> Collected:
    """Return labelled queries with the signals of their candidates, in the order of their hashes.

    A file is right when it holds an expected place. The order has nothing to do with the file's, so
    that queries written together do not end up on one side.

    Raises:
        StoreError: The index cannot be used.
    """
    ordered = sorted(queries, key=lambda query: (_hash(query.query), query.query))
    builder = ExamplesBuilder(workspace.root.name, "bench")
    situations: list[str] = []
    for number, query in enumerate(ordered, start=1):
        if progress is not None:
            progress("queries", number, len(ordered))
        features = workspace.features(query.query)
        targets = {place.partition("#")[0] for place in query.expect}
        builder.add(
            features.names,
            features.matrix,
            labels=[path in targets for path in features.paths],
            counts=[True] * len(features.paths),
            n_targets=len(targets),
            category=query.kind,
        )
        situations.append(features.situation)
    return Collected(builder.build(), tuple(situations), workspace.model_name)


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
