"""Measures how many tokens are read until the files that answer a query have been shown.

    pip install bpe-openai
    python -m benchmarks.quality.tokens --data DATA --checkouts CHECKOUTS --home HOME --json FILE

Peer set. Every searcher's text is cut into units (a hit with its lines, a file, a range), and the
tokens are those of the cl100k_base vocabulary up to the end of a unit. A target counts as covered
once a whole unit of its file has been shown; recall at a budget is the share of a query's targets
covered by then, the mean over queries within a repository and then over repositories. Tokens to the
first target: a query whose targets are not shown within `CAP` tokens counts `CAP`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from benchmarks.quality.sets import LabelledQuery, LabelledRepository, peer_set, same_path
from benchmarks.quality.token_arms import (
    Arm,
    RangeGrep,
    Unit,
    WhereinAnswers,
    WholeFileGrep,
)
from wherein.metrics import bootstrap_mean
from wherein.settings import Settings

BUDGETS = (500, 1000, 2000, 4000, 8000, 16_000, 32_000)
CAP = 32_000

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading one searcher's answer cost."""

    found_at: tuple[int | None, ...]
    """For each target the tokens read when it was covered, None when it was not."""

    @property
    def first(self) -> int:
        """Tokens read until the first target, `CAP` when none was shown."""
        return min((at for at in self.found_at if at is not None), default=CAP)

    def has_any(self, budget: int) -> bool:
        """Return whether a target was covered within ``budget`` tokens."""
        return any(at is not None and at <= budget for at in self.found_at)

    def recall(self, budget: int) -> float:
        """Return the share of targets covered within ``budget`` tokens."""
        return fmean(at is not None and at <= budget for at in self.found_at)


def load_counter() -> Count:
    """Return the count of cl100k_base tokens, from a package that holds the vocabulary."""
    from bpe_openai import get_encoding  # pyright: ignore[reportMissingImports]

    encoding = get_encoding("cl100k_base")
    return lambda text: len(encoding.encode_ordinary(text))


def read(units: Iterator[Unit], targets: Sequence[str], count: Count) -> Reading:
    """Read units until every target is covered or `CAP` is reached."""
    found: list[int | None] = [None] * len(targets)
    tokens = 0
    for unit in units:
        tokens += count(unit.text)
        if tokens > CAP:
            break
        for at, target in enumerate(targets):
            if found[at] is None and unit.path and same_path(unit.path, target):
                found[at] = tokens
        if None not in found:
            break
    return Reading(tuple(found))


def _arms(repository: LabelledRepository, settings: Settings) -> dict[str, Arm]:
    root = repository.root
    return {
        "Wherein, concise": WhereinAnswers(root, settings, "concise"),
        "Wherein, full": WhereinAnswers(root, settings, "full"),
        "Wherein, concise, structured copy": WhereinAnswers(
            root, settings, "concise", is_structured=True
        ),
        "rg, whole files": WholeFileGrep(root),
        "scripted grep, ranges": RangeGrep(root),
    }


def measure(
    repository: LabelledRepository, arms: dict[str, Arm], count: Count
) -> dict[str, list[Reading]]:
    """Return each arm's readings of the repository's queries."""

    def ask(arm: Arm, query: LabelledQuery) -> Reading:
        return read(arm.show(query.query), query.targets, count)

    return {name: [ask(arm, query) for query in repository.queries] for name, arm in arms.items()}


def summary(readings: dict[str, dict[str, list[Reading]]]) -> dict[str, dict[str, object]]:
    """Return each arm's figures.

    Args:
        readings: Repository to arm to readings.
    """
    table: dict[str, dict[str, object]] = {}
    for arm in next(iter(readings.values())):
        groups = [by_arm[arm] for by_arm in readings.values()]
        everything = [reading for group in groups for reading in group]
        row: dict[str, object] = {}
        for budget in BUDGETS:
            means = [fmean(reading.recall(budget) for reading in group) for group in groups]
            interval = bootstrap_mean(means)
            row[str(budget)] = [round(v, 4) for v in (interval.mean, interval.low, interval.high)]
            hits = [fmean(reading.has_any(budget) for reading in group) for group in groups]
            row[f"any {budget}"] = round(fmean(hits), 4)
        row["first_mean"] = round(fmean(reading.first for reading in everything))
        row["first_median"] = round(median(reading.first for reading in everything))
        row["never"] = sum(not reading.has_any(CAP) for reading in everything)
        row["queries"] = len(everything)
        table[arm] = row
    return table


def _print(table: dict[str, dict[str, object]]) -> None:
    print(f"{'':34}" + "".join(f"{budget:>8}" for budget in BUDGETS) + "   first  median  never")
    for arm, row in table.items():
        cells = "".join(f"{row[str(b)][0]:8.3f}" for b in BUDGETS)  # pyright: ignore[reportIndexIssue]
        print(f"{arm:34}{cells}{row['first_mean']:8}{row['first_median']:8}{row['never']:7}")
        cells = "".join(f"{row[f'any {b}']:8.3f}" for b in BUDGETS)
        print(f"{'  any target':34}{cells}")


def main() -> None:
    """Measure all arms in one run, print the table and write it as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--home", type=Path, help="keep the indexes here")
    parser.add_argument("--only", action="append", help="names of repositories")
    parser.add_argument("--arm", action="append", help="measure only arms that begin so")
    parser.add_argument("--no-history", action="store_true")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    settings = Settings(home=args.home or Path(tempfile.mkdtemp()), use_history=not args.no_history)
    count = load_counter()
    readings: dict[str, dict[str, list[Reading]]] = {}
    started = time.process_time()
    for repository in peer_set(args.data, args.checkouts):
        if args.only and repository.name not in args.only:
            continue
        arms = {
            name: arm
            for name, arm in _arms(repository, settings).items()
            if not args.arm or name.startswith(tuple(args.arm))
        }
        readings[repository.name] = measure(repository, arms, count)
        shown = {
            name: round(fmean(item.recall(500) for item in row), 3)
            for name, row in readings[repository.name].items()
        }
        print(f"  {repository.name:22} {shown}", flush=True)
    table = summary(readings)
    print(f"{time.process_time() - started:.0f} s CPU")
    _print(table)
    if args.json:
        args.json.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
