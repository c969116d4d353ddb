"""Measures what a command costs: CPU of it and all its children, peak memory, wall time."""

from __future__ import annotations

import os
import resource
import subprocess  # noqa: TID251 - a benchmark outside the package
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_TIMED = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, used.ru_utime + used.ru_stime, used.ru_maxrss)
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run took."""

    cpu_s: float
    wall_s: float
    peak_mb: float
    """Largest resident set of any one process, in MB."""
    exit_code: int


def run_cost(command: Sequence[str], env: Mapping[str, str] | None = None) -> Cost:
    """Run ``command`` and return its cost; a small parent of its own keeps the counts apart."""
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", _TIMED, *command],
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=True,
    )
    code, cpu, peak_kb = done.stdout.split()[-3:]
    wall = time.monotonic() - started
    return Cost(float(cpu), wall, float(peak_kb) / 1024, int(code))


def own_cpu() -> float:
    """Return the CPU seconds of this process and of its finished children."""
    totals = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in totals)


def disk_mb(folder: Path) -> float:
    """Return the size of the files below ``folder`` in MB; a hard-linked file counts once."""
    sizes = {}
    for file in folder.rglob("*"):
        if file.is_file() and not file.is_symlink():
            stat = file.stat()
            sizes[stat.st_dev, stat.st_ino] = stat.st_blocks * 512
    return sum(sizes.values()) / 1e6
