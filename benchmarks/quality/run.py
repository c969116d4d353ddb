"""Measures search quality on the public sets and prints one table.

    python -m benchmarks.quality.run --data DATA --checkouts CHECKOUTS [--set peer|replay]

Peer: NDCG@10, mean of the repositories' means. Replay: hit@10 and hit@1 over the source files of
the snapshot, named and plain requests apart, mean over the repositories with 40 files or more.
Both: ``precision:3``, the share of the first three hits that are right (a query with one right file
can reach a third), and ``none:10``, the share of answers with no right file among the first ten.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import fmean

from benchmarks.quality.sets import (
    SMALL_REPLAY,
    LabelledRepository,
    cover,
    load_replay_pool,
    peer_set,
    replay_set,
)
from wherein.metrics import bootstrap_mean, hit_at, ndcg_at, precision_at
from wherein.settings import Settings
from wherein.workspace import Workspace

REPLAY_DEPTH = 60
"""Hits asked for, so that ten remain after paths outside the pool are dropped."""

Ranking = Callable[[str], list[str]]


def wherein_ranking(repository: LabelledRepository, settings: Settings, depth: int) -> Ranking:
    """Index a repository and return a function from query to ranked paths."""
    workspace = Workspace(repository.root, settings)
    workspace.refresh()

    def rank(query: str) -> list[str]:
        return [hit.path for hit in workspace.search(query, limit=depth).hits]

    return rank


def measure_peer(
    repositories: Iterable[LabelledRepository], settings: Settings
) -> dict[str, dict[str, list[float]]]:
    """Return repository to category to NDCG@10 of each query (``all`` holds every query)."""
    scores: dict[str, dict[str, list[float]]] = {}
    for repository in repositories:
        rank = wherein_ranking(repository, settings, 10)
        by_category: dict[str, list[float]] = defaultdict(list)
        for query in repository.queries:
            ranked = cover(rank(query.query), query.targets)
            value = ndcg_at(ranked, query.targets, 10)
            by_category["precision:3"].append(precision_at(ranked, query.targets, 3))
            by_category["none:10"].append(1 - hit_at(ranked, query.targets, 10))
            by_category["all"].append(value)
            by_category[query.category].append(value)
            by_category["language:" + repository.language].append(value)
        scores[repository.name] = dict(by_category)
        print(f"  {repository.name:22} {fmean(by_category['all']):.3f}", flush=True)
    return scores


def measure_replay(
    repositories: Iterable[LabelledRepository], settings: Settings, in_pool: Callable[[str], bool]
) -> dict[str, dict[str, list[float]]]:
    """Return repository to ``named@10``, ``plain@1``… to the hit of each request."""
    scores: dict[str, dict[str, list[float]]] = {}
    for repository in repositories:
        rank = wherein_ranking(repository, settings, REPLAY_DEPTH)
        by_kind: dict[str, list[float]] = defaultdict(list)
        for query in repository.queries:
            ranked = [path for path in rank(query.query) if in_pool(path)]
            for k in (1, 5, 10):
                by_kind[f"{query.category}@{k}"].append(hit_at(ranked, query.targets, k))
            by_kind[f"{query.category}@precision:3"].append(precision_at(ranked, query.targets, 3))
            by_kind[f"{query.category}@none:10"].append(1 - hit_at(ranked, query.targets, 10))
        scores[repository.name] = dict(by_kind)
        shown = {kind: round(fmean(values), 3) for kind, values in sorted(by_kind.items())}
        print(f"  {repository.name:22} {shown}", flush=True)
    return scores


def summary(scores: dict[str, dict[str, list[float]]]) -> dict[str, dict[str, float]]:
    """Return each column's mean of repository means with its bootstrap interval."""
    columns = sorted({column for row in scores.values() for column in row})
    table: dict[str, dict[str, float]] = {}
    for column in columns:
        means = (
            [
                fmean(row[column])
                for name, row in sorted(scores.items())
                if column in row and name not in SMALL_REPLAY
            ]
            if "@" in column
            else [fmean(row[column]) for row in scores.values() if column in row]
        )
        if means:
            interval = bootstrap_mean(means)
            table[column] = {
                "mean": round(interval.mean, 4),
                "low": round(interval.low, 4),
                "high": round(interval.high, 4),
                "repositories": interval.n,
            }
    return table


def main() -> None:
    """Run the chosen sets and write the figures as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--set", choices=["peer", "replay"], action="append")
    parser.add_argument("--home", type=Path, help="keep the indexes here")
    parser.add_argument("--only", action="append", help="names of repositories")
    parser.add_argument("--no-history", action="store_true")
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    home = args.home or Path(tempfile.mkdtemp())
    settings = Settings(home=home, use_history=not args.no_history, model=args.model)
    report: dict[str, object] = {}
    for name in args.set or ["peer", "replay"]:
        load = peer_set if name == "peer" else replay_set
        repositories = [
            r for r in load(args.data, args.checkouts) if not args.only or r.name in args.only
        ]
        started = time.process_time()
        if name == "peer":
            scores = measure_peer(repositories, settings)
        else:
            scores = measure_replay(repositories, settings, load_replay_pool(args.data))
        report[name] = {"summary": summary(scores), "repositories": scores}
        print(name, f"({time.process_time() - started:.0f} s CPU)")
        for column, row in summary(scores).items():
            print(f"  {column:24} {row['mean']:.3f} [{row['low']:.3f} {row['high']:.3f}]")
    if args.json:
        args.json.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
