"""Measures what Wherein costs on one repository, each figure in a process of its own.

    python -m benchmarks.speed.run ROOT [--queries 200] [--json FILE]

CPU is user and system time of the command and all its children; nothing here asserts on it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess  # noqa: TID251 - a benchmark outside the package
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.speed.cost import Cost, disk_mb, own_cpu, run_cost

QUERIES = (
    "where are retries configured",
    "parse command line options",
    "open a connection with a timeout",
    "memory allocation failure",
    "read configuration file",
    "hash table lookup",
    "error message for a missing file",
    "write buffer to disk",
)


def measure(root: Path, home: Path, n_queries: int) -> dict[str, object]:
    """Return every figure by name."""
    env = {"WHEREIN_HOME": str(home)}
    program = [sys.executable, "-m", "wherein"]
    figures: dict[str, object] = {}
    alone = subprocess.run(
        [sys.executable, "-m", "benchmarks.speed.parse_alone", str(root)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    figures["parsed bytes, files, CPU s"] = alone
    figures["first index"] = _shown(run_cost([*program, "index", str(root)], env))
    figures["disk MB"] = round(disk_mb(home), 1)
    colds = [
        run_cost([*program, "search", query, str(root), "--json"], env) for query in QUERIES[:5]
    ]
    figures["cold search CPU s, median"] = round(statistics.median(c.cpu_s for c in colds), 3)
    figures["cold search peak MB"] = round(max(c.peak_mb for c in colds), 1)
    figures.update(_warm(root, home, n_queries))
    return figures


def _shown(cost: Cost) -> dict[str, float]:
    return {
        "cpu_s": round(cost.cpu_s, 2),
        "wall_s": round(cost.wall_s, 2),
        "peak_mb": round(cost.peak_mb, 1),
    }


def _warm(root: Path, home: Path, n_queries: int) -> dict[str, object]:
    """Return warm query times with and without the look at the disk."""
    from wherein.embed.load import load_embedder
    from wherein.search.equipment import Equipment
    from wherein.search.pipeline import search
    from wherein.settings import Settings
    from wherein.workspace import Workspace

    settings = Settings(home=home)
    with Workspace(root, settings) as workspace:
        index = workspace.index()
        equipment = Equipment(embedder=load_embedder(settings))
        for query in QUERIES:
            search(index, query, equipment)
        times: list[float] = []
        for number in range(n_queries):
            started = time.process_time()
            search(index, QUERIES[number % len(QUERIES)], equipment)
            times.append(time.process_time() - started)
        looks: list[float] = []
        for query in QUERIES:
            workspace.search(query)
            started = own_cpu()
            workspace.search(query)
            looks.append(own_cpu() - started)
        return {
            "chunks": index.n_live_chunks,
            "files": index.n_live_files,
            "warm query CPU ms p50": round(statistics.median(times) * 1000, 2),
            "warm query CPU ms p90": round(sorted(times)[int(len(times) * 0.9)] * 1000, 2),
            "warm search with look, CPU ms p50": round(statistics.median(looks) * 1000, 1),
        }


def main() -> None:
    """Measure and print, and write JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    home = args.home or Path(tempfile.mkdtemp())
    figures = measure(args.root.resolve(), home, args.queries)
    for name, value in figures.items():
        print(f"{name:36} {value}")
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
