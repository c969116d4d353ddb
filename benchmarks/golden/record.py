"""The first ten hits of each query as a text file, so that a change of ranking is a diff."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.golden.sets import GoldenQuery, GoldenRepository
from wherein.metrics import recall_at, reciprocal_rank
from wherein.settings import Settings
from wherein.workspace import Workspace

DEPTH = 10

Place = tuple[str, str]
"""Path and symbol of a hit."""

Ranking = Mapping[str, tuple[Place, ...]]
"""Query to its hits, best first."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over the queries; the same labels for whatever ranking."""

    recall_at_1: float
    """Share of the files that answer a query found at rank 1."""
    recall_at_5: float
    mrr: float

    def __str__(self) -> str:
        return (
            f"recall@1 {self.recall_at_1:.3f}  recall@5 {self.recall_at_5:.3f}  MRR {self.mrr:.3f}"
        )


def ask(root: str, repository: GoldenRepository, settings: Settings) -> Ranking:
    """Return what search answers to each query in the checkout at ``root``."""
    with Workspace(root, settings) as workspace:
        workspace.refresh()
        workspace.read_history()
        return {
            query.query: tuple(
                (hit.path, hit.symbol) for hit in workspace.search(query.query, limit=DEPTH).hits
            )
            for query in repository.queries
        }


def figures(queries: Sequence[GoldenQuery], ranking: Ranking) -> Figures:
    """Return the figures over the queries that ``ranking`` has; zeros when it has none."""
    pairs = [
        (query.expect, [path for path, _ in ranking[query.query]])
        for query in queries
        if query.query in ranking
    ]
    if not pairs:
        return Figures(0.0, 0.0, 0.0)
    return Figures(
        fmean(recall_at(paths, expect, 1) for expect, paths in pairs),
        fmean(recall_at(paths, expect, 5) for expect, paths in pairs),
        fmean(reciprocal_rank(paths, expect, DEPTH) for expect, paths in pairs),
    )


def to_text(repository: GoldenRepository, ranking: Ranking) -> str:
    """Return the file's text: figures, then each query with its hits, the right ones starred."""
    lines = [
        f"# {repository.name} {repository.revision}".rstrip(),
        f"# {figures(repository.queries, ranking)}",
    ]
    for query in repository.queries:
        lines += ["", f"{query.kind}: {query.query}"]
        for rank, (path, symbol) in enumerate(ranking[query.query], start=1):
            star = "*" if path in query.expect else " "
            lines.append(f"{rank:4} {star} {path}  {symbol}".rstrip())
    return "\n".join(lines) + "\n"


def from_text(text: str) -> Ranking:
    """Return the ranking of a text that `to_text` made; marks and figures are not read back."""
    found: dict[str, list[Place]] = {}
    hits: list[Place] = []
    for line in text.split("\n"):
        if not line or line.startswith("#"):
            continue
        if not line.startswith(" "):
            hits = found.setdefault(line.split(": ", 1)[1], [])
            continue
        path, _, symbol = line[7:].partition("  ")
        hits.append((path, symbol))
    return {query: tuple(places) for query, places in found.items()}
