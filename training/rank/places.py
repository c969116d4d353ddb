"""Fits the weights that choose between the chunks of a file, and measures the choice.

    python -m training.rank.places --data DATA --checkouts CHECKOUTS --home HOME

Asks with the requests of the public commits and of those that `make_requests` made. For each file
that a commit changed and the first stage found, the chunks with a changed line are right: lines of
the parent's file, carried back to the snapshot that is searched. Imports and blank lines do not
count as changed, for nearly every commit touches them. Figures are means of repository means, by
weights that never saw the repository.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess  # noqa: TID251 - a script outside the package
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wherein.measure.fit_examples import Examples, ExamplesBuilder
from wherein.measure.fit_linear import Problem
from wherein.search.finding import Found
from wherein.search.place_scores import PLACE_SIGNALS, place_signals
from wherein.settings import Settings
from wherein.workspace import Workspace

MAX_MADE = 80
"""Requests of a repository of our own, spread evenly: as many again give the same weights."""

MAX_TARGETS = 4
"""Files of a commit that count: more of them say little of what the message is about."""

L2 = 30.0
FOLDS = 6
CONTEXT = "context"
"""Name of a signal that is no signal: BM25F and .3 cosine, each over the file's best."""

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_IMPORT = re.compile(
    r"^\s*(import\b|from\s+\S+\s+import|use\s|#\s*include|require|package\b|using\b|mod\s|pub use"
    r"|export \* from|(?:const|let|var) .*= require\(|\}?\s*from\s)"
)
_Hunk = tuple[int, int, int, int]


def changed_lines(root: Path, snapshot: str, commit: str, path: str) -> frozenset[int]:
    """Return the lines of the snapshot's file, 1-based, that the commit changed or added to."""
    parent = f"{commit}^"
    before = _git(root, "show", f"{parent}:{path}").split("\n")
    changed: set[int] = set()
    for start, count, _, _ in _hunks(root, parent, commit, path):
        for line in range(start, start + count) if count else (start, start + 1):
            text = before[line - 1] if 1 <= line <= len(before) else ""
            if text.strip() and not _IMPORT.match(text):
                changed.add(line)
    drift = _hunks(root, snapshot, parent, path)
    return frozenset(line for line in (_before(drift, line) for line in changed) if line)


def _before(drift: Sequence[_Hunk], line: int) -> int | None:
    """Return the number that a line had before the hunks ``drift``, None for a line of theirs."""
    moved = 0
    for start, count, new_start, new_count in drift:
        end = new_start + new_count if new_count else new_start + 1
        if line >= end:
            moved = (start + count if count else start + 1) - end
        elif new_count and line >= new_start:
            return None
        else:
            break
    return line + moved


def _hunks(root: Path, before: str, after: str, path: str) -> list[_Hunk]:
    options = ["-U0", "--no-renames", "--no-ext-diff"]
    diff = _git(root, "diff", *options, before, after, "--", path)
    return [(int(m[1]), int(m[2] or 1), int(m[3]), int(m[4] or 1)) for m in _HUNK.finditer(diff)]


def _git(root: Path, *arguments: str) -> str:
    found = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=False)
    return found.stdout.decode("utf-8", "replace")


def collect(name: str, source: str, root: Path, requests: Path, settings: Settings) -> Examples:
    """Return one example for each changed file of each request, a row for each of its chunks."""
    rows = [json.loads(line) for line in requests.read_text().splitlines()]
    if source == "made" and len(rows) > MAX_MADE:
        rows = [rows[i] for i in np.unique(np.linspace(0, len(rows) - 1, MAX_MADE).astype(int))]
    builder = ExamplesBuilder(name, source)
    with Workspace(root, settings) as workspace:
        for row in rows:
            found = workspace.features(row["request"]).found
            for path in row["targets"][:MAX_TARGETS]:
                place = _candidate(found, path)
                if place is None:
                    continue
                lines = changed_lines(root, row["snapshot_sha"], row["commit_sha"], path)
                _add(builder, found, place, lines, row["kind"])
    return builder.build()


def _candidate(found: Found, path: str) -> int | None:
    file = found.matches.index.find(path)
    candidates: list[int] = found.matches.files.tolist()
    return candidates.index(file) if file in candidates else None


def _add(
    builder: ExamplesBuilder, found: Found, place: int, lines: frozenset[int], kind: str
) -> None:
    matches = found.matches
    start = int(matches.starts[place])
    rows = np.arange(start, start + int(matches.sizes[place]) - 1)
    chunks = [matches.index.chunk(int(chunk)) for chunk in matches.rows[rows]]
    ranges = np.array([(chunk.start_line, chunk.end_line) for chunk in chunks], np.uint32)
    labels = [any(first <= line <= last for line in lines) for first, last in ranges.tolist()]
    if len(rows) < 2 or not any(labels):
        return
    signals = place_signals(matches, rows, ranges, found.similarities)
    before = _relative(signals[:, :1]) + 0.3 * _relative(np.maximum(signals[:, 2:3], 0))
    builder.add(
        (*PLACE_SIGNALS, CONTEXT),
        np.concatenate([signals, before], axis=1).astype(np.float32),
        labels=labels,
        counts=[True] * len(rows),
        n_targets=sum(labels),
        category=kind,
    )


def _relative(column: NDArray[np.float64]) -> NDArray[np.float64]:
    best = float(column.max(initial=0.0))
    return column / best if best > 0 else column


def figures(parts: Sequence[Examples], scores: Sequence[NDArray[np.float64]]) -> dict[str, float]:
    """Return how often the first chunk, and one of the first three, is right, by source."""
    rows: dict[str, list[float]] = {}
    for part, own in zip(parts, scores, strict=True):
        for first in (1, 3):
            right = [
                part.labels[part.request(i)][
                    np.argsort(-own[part.request(i)], kind="stable")[:first]
                ].any()
                for i in range(len(part))
            ]
            rows.setdefault(f"{part.source}@{first}", []).append(float(np.mean(right)))
    return {name: round(float(np.mean(values)), 4) for name, values in sorted(rows.items())}


def cross_validated(parts: Sequence[Examples], names: Sequence[str]) -> dict[str, float]:
    """Return the figures of weights for ``names`` that never saw the repository."""
    problem = Problem(parts, l2=L2)
    columns = [parts[0].signal_names.index(name) for name in names]
    repositories = sorted({part.repository for part in parts})
    scores: dict[str, NDArray[np.float64]] = {}
    for fold in range(FOLDS):
        left_out = set(repositories[fold::FOLDS])
        weights = problem.fit(without=left_out, columns=columns)
        for part in parts:
            if part.repository in left_out:
                scores[part.source + part.repository] = part.signals @ weights.values
    return figures(parts, [scores[part.source + part.repository] for part in parts])


def sources(data: Path, checkouts: Path) -> Iterator[tuple[str, Path, Path]]:
    """Yield source, checkout and requests of every repository that is there."""
    for source, folder in (("replay", data / "replay"), ("made", checkouts / "made")):
        for requests in sorted(folder.glob("*.jsonl")):
            root = checkouts / source / requests.stem
            if root.is_dir() and requests.stat().st_size:
                yield source, root, requests


def main() -> None:
    """Print what each set of signals gives, and the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--home", type=Path, required=True)
    args = parser.parse_args()
    settings = Settings(home=args.home)
    parts: list[Examples] = []
    for source, root, requests in sources(args.data, args.checkouts):
        part = collect(root.name, source, root, requests, settings)
        if len(part):
            parts.append(part)
            print(f"{source} {root.name}: {len(part)} changed files", flush=True)
    before = [part.signals[:, part.signal_names.index(CONTEXT)].astype(float) for part in parts]
    print(sum(map(len, parts)), "changed files; before:", figures(parts, before))
    problem = Problem(parts, l2=L2)
    for left_out in ((), ("nearness",)):
        names = [name for name in PLACE_SIGNALS if name not in left_out]
        for dropped in (None, *names):
            kept = [name for name in names if name != dropped]
            print(f"without {dropped}:" if dropped else f"{names}:", cross_validated(parts, kept))
        columns = [parts[0].signal_names.index(name) for name in names]
        print(problem.fit(columns=columns).named())


if __name__ == "__main__":
    main()
