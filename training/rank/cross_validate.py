"""Leaves one repository out at a time and reports what the learned weights reach.

    python -m training.rank.cross_validate EXAMPLES [--without GROUP] [--l2 30] [--json FILE]

A repository that stands in both public sets (flask, pydantic, redis) is left out of both at once.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from training.rank.examples import load_folder
from training.rank.scoring import SMALL_REPLAY, means, per_request
from wherein.measure.fit_examples import Examples
from wherein.measure.fit_linear import L2, Problem
from wherein.metrics import Interval, bootstrap_mean

Rows = dict[tuple[str, str], dict[str, list[float]]]


def leave_one_out(
    problem: Problem, parts: Sequence[Examples], columns: Sequence[int] | None = None
) -> Rows:
    """Return the columns of every public repository, each scored by weights that never saw it."""
    rows: Rows = {}
    start = problem.fit(columns=columns)
    names = sorted({part.repository for part in parts if part.source in {"peer", "replay"}})
    for name in names:
        weights = problem.fit(without={name}, columns=columns, start=start)
        for part in parts:
            if part.repository == name:
                rows[part.source, name] = per_request(part, part.signals @ weights.values)
    return rows


def paired(rows: Rows, other: Rows, source: str, column: str) -> Interval:
    """Return the mean difference ``rows - other`` over repositories with its interval."""
    differences = [
        fmean(rows[key][column]) - fmean(other[key][column])
        for key in sorted(rows)
        if key[0] == source and column in rows[key] and not _left_out(key)
    ]
    return bootstrap_mean(differences)


def _left_out(key: tuple[str, str]) -> bool:
    return key[0] != "peer" and key[1] in SMALL_REPLAY


def columns_without(names: Sequence[str], groups: Sequence[str]) -> list[int]:
    """Return the columns of signals whose name does not start with any of ``groups``."""
    return [i for i, name in enumerate(names) if not any(name.startswith(g) for g in groups)]


def main() -> None:
    """Print the table, and the paired difference to all signals where a group was left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", type=Path)
    parser.add_argument("--without", action="append", default=[], help="prefix of signal names")
    parser.add_argument("--l2", type=float, default=L2)
    parser.add_argument("--sources", default="peer,replay,made")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    parts = load_folder(args.examples, args.sources.split(","))
    every = columns_without(parts[0].signal_names, [])
    problem = Problem(parts, l2=args.l2)
    rows = leave_one_out(problem, parts)
    table = means(rows)
    for column, value in table.items():
        print(f"{column:24} {value:.4f}")
    for group in args.without:
        kept = columns_without(parts[0].signal_names, [group])
        fewer = leave_one_out(problem, parts, kept)
        print(f"without {group} ({len(every) - len(kept)} signals)")
        for source, column in (("peer", "all"), ("replay", "named@10"), ("replay", "plain@10")):
            gain = paired(rows, fewer, source, column)
            print(
                f"  {source}:{column:10} costs {gain.mean:+.4f} [{gain.low:+.4f} {gain.high:+.4f}]"
            )
    if args.json:
        args.json.write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
