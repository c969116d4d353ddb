"""Collects the signals of every request's candidates, with labels.

    python -m training.rank.collect --data DATA --checkouts CHECKOUTS --home HOME OUT

Every source is searched as a user would search it: all files are candidates, tests and docs too.
In replayed commits a path outside the pool is never a label; it stays as a wrong answer.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from benchmarks.quality.sets import (
    LabelledQuery,
    LabelledRepository,
    load_replay_pool,
    peer_set,
    replay_set,
    same_path,
)

from training.rank.examples import LABELLED, save
from wherein.measure.fit_examples import Examples, ExamplesBuilder
from wherein.measure.requests import is_pool_path
from wherein.settings import Settings
from wherein.workspace import Workspace


def collect(
    source: str,
    repository: LabelledRepository,
    settings: Settings,
    in_pool: Callable[[str], bool],
) -> Examples:
    """Return the examples of one repository."""
    builder = ExamplesBuilder(repository.name, source)
    with Workspace(repository.root, settings) as workspace:
        for query in repository.queries:
            features = workspace.features(query.query)
            builder.add(
                features.names,
                features.matrix,
                labels=_labels(source, features.paths, query),
                counts=[source in LABELLED or in_pool(path) for path in features.paths],
                n_targets=len(query.targets),
                category=query.category,
            )
    return builder.build()


def _labels(source: str, paths: tuple[str, ...], query: LabelledQuery) -> list[bool]:
    if source not in LABELLED:
        return [path in query.targets for path in paths]
    left = list(query.targets)
    marks: list[bool] = []
    for path in paths:
        target = next((target for target in left if same_path(path, target)), None)
        if target is not None:
            left.remove(target)
        marks.append(target is not None)
    return marks


def made_set(checkouts: Path) -> Iterator[LabelledRepository]:
    """Yield the repositories whose requests `make_requests` made."""
    for file in sorted((checkouts / "made").glob("*.jsonl")):
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        queries = tuple(LabelledQuery(r["request"], tuple(r["targets"]), r["kind"]) for r in rows)
        yield LabelledRepository(file.stem, "", checkouts / "made" / file.stem, queries)


def annotated_set(checkouts: Path) -> Iterator[LabelledRepository]:
    """Yield the repositories whose labelled queries stand in ``annotations/``."""
    for file in sorted((Path(__file__).parent / "annotations").glob("*.json")):
        entry = json.loads(file.read_text())
        queries = tuple(
            LabelledQuery(q["query"], (*q["relevant"], *q["secondary"]), q["category"])
            for q in entry["queries"]
        )
        root = checkouts / "made" / file.stem / entry["root"]
        if root.is_dir():
            yield LabelledRepository(file.stem, "", root, queries)


def main() -> None:
    """Collect what is missing in OUT."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--sources", default="peer,replay,made,annotated")
    parser.add_argument("--only", help="names, comma-separated")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    settings = Settings(home=args.home)
    sets = {
        "peer": peer_set(args.data, args.checkouts),
        "replay": replay_set(args.data, args.checkouts),
        "made": made_set(args.checkouts),
        "annotated": annotated_set(args.checkouts),
    }
    pool = {
        "peer": lambda _path: True,
        "replay": load_replay_pool(args.data),
        "made": is_pool_path,
        "annotated": lambda _path: True,
    }
    only = set(args.only.split(",")) if args.only else None
    for source in args.sources.split(","):
        for repository in sets[source]:
            done = args.out / f"{source}-{repository.name}.npz"
            if done.exists() or (only and repository.name not in only) or not repository.queries:
                continue
            examples = collect(source, repository, settings, pool[source])
            save(examples, args.out)
            within = np.mean(
                [examples.labels[examples.request(i)].any() for i in range(len(examples))]
            )
            print(
                f"{source} {repository.name}: a target among the candidates {within:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
