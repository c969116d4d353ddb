"""Measures grep against ripgrep itself on the same tree, in the same run.

    python -m benchmarks.speed.grep ROOT… [--runs 25]
    python -m benchmarks.speed.grep ROOT --index FOLDER --pattern TEXT

CPU is user and system time of ours and of all that we start. Without an index, the tool is called
as a server calls it; with one, an n-gram index of the tree is built in FOLDER (or opened from
there) and asked, too.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess  # noqa: TID251 - a benchmark outside the package
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.speed.cost import own_cpu
from wherein.external.ripgrep import require_ripgrep
from wherein.external.ripgrep_options import SearchOptions
from wherein.settings import Settings
from wherein.tools.context import ToolContext
from wherein.tools.file_paths import Scope
from wherein.tools.file_set import git_of
from wherein.tools.grep import grep, search_text
from wherein.tools.grep_index import GrepIndex
from wherein.tools.grep_types import GrepRequest, OutputMode

PATTERNS = {"nothing": "zz_not_there_zz", "common word": "return", "expression": "[Ee]rror"}
MODES = {
    "files": ["-l"],
    "content": ["-n", "--no-heading", "--max-columns=500"],
    "count": ["-c"],
}


@dataclass(frozen=True, slots=True)
class Taken:
    """Medians in milliseconds."""

    cpu: float
    wall: float


def take(works: Sequence[Callable[[], object]], n_runs: int) -> list[Taken]:
    """Return what each of ``works`` takes once warm; they take turns, in the same minute."""
    cpus: list[list[float]] = [[] for _ in works]
    walls: list[list[float]] = [[] for _ in works]
    for turn in range(n_runs + 2):
        for place, work in enumerate(works):
            cpu, started = own_cpu(), time.perf_counter()
            work()
            if turn >= 2:
                walls[place].append(time.perf_counter() - started)
                cpus[place].append(own_cpu() - cpu)
    return [
        Taken(statistics.median(cpu) * 1000, statistics.median(wall) * 1000)
        for cpu, wall in zip(cpus, walls, strict=True)
    ]


def ripgrep(root: Path, pattern: str, flags: Sequence[str]) -> Callable[[], object]:
    """Return the bare command over the same files."""
    argv = [require_ripgrep().program, "--no-config", "--hidden", "--glob=!.git", *flags]
    return start([*argv, "-e", pattern, "--", "."], root)


def start(argv: Sequence[str], root: Path) -> Callable[[], object]:
    """Return a run of a program in ``root`` whose output is read to its end."""
    return lambda: subprocess.run(
        argv, cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False
    )


def compare(root: Path, n_runs: int) -> None:
    """Print our tool's cost beside ripgrep's for several patterns and outputs.

    The start is what a child process costs that does nothing; ripgrep's figure has it, too.
    """
    context = ToolContext(Settings(home=Path(os.devnull)), root)
    for label, pattern in PATTERNS.items():
        for mode, flags in MODES.items():
            empty, theirs, ours = take(
                (
                    start(["true"], root),
                    ripgrep(root, pattern, flags),
                    lambda p=pattern, m=mode: grep(context, p, output=m),
                ),
                n_runs,
            )
            print(
                f"{root.name:18} {label:12} {mode:8} CPU ms: start {empty.cpu:.2f} rg "
                f"{theirs.cpu:5.1f} ours {ours.cpu:5.1f}; ours / rg {ours.cpu / theirs.cpu:.2f}, "
                f"without our start {(ours.cpu - empty.cpu) / theirs.cpu:.2f}; wall ms: rg "
                f"{theirs.wall:.1f} ours {ours.wall:.1f}"
            )


def compare_indexed(root: Path, folder: Path, pattern: str, n_runs: int) -> None:
    """Print the cost of a search that an n-gram index narrows beside ripgrep's own."""
    program = require_ripgrep().at(root, is_in_git=git_of(root) is not None)
    index = GrepIndex(root, folder, folder / "state")
    started = own_cpu()
    index.take([(path, "") for path in program.walk([""], timeout_s=600).paths], "first")
    if index.n_uncovered:
        index.build()
    print(f"{index.n_files} files, index CPU s {own_cpu() - started:.1f}")
    scope = Scope(root, Settings(home=Path(os.devnull)))
    request = GrepRequest(SearchOptions((pattern,)), mode=OutputMode.FILES)
    found = search_text(scope, request, narrow=index.narrow)
    theirs, ours = take(
        (
            ripgrep(root, pattern, ["-l"]),
            lambda: search_text(scope, request, narrow=index.narrow),
        ),
        n_runs,
    )
    print(
        f"{pattern!r}: {found.n_files} files, {found.n_candidates} candidates; CPU ms: rg "
        f"{theirs.cpu:.1f} ours {ours.cpu:.1f} ({theirs.cpu / ours.cpu:.0f} x); wall ms: rg "
        f"{theirs.wall:.1f} ours {ours.wall:.1f} ({theirs.wall / ours.wall:.0f} x)"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("roots", type=Path, nargs="+")
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--pattern", default="zz_not_there_zz")
    args = parser.parse_args()
    for root in args.roots:
        if args.index:
            compare_indexed(root.resolve(), args.index, args.pattern, args.runs)
        else:
            compare(root.resolve(), args.runs)


if __name__ == "__main__":
    main()
