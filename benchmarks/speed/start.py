"""Measures a server from its start to its first answered request, asked line by line over stdio.

    python -m benchmarks.speed.start ROOT [--runs 9] [--home DIR]

CPU is user and system time of the server and of what it started, until the answer was there; it is
killed then. The tree is indexed before.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess  # noqa: TID251 - a benchmark outside the package
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "0"},
}
FIRST: dict[str, tuple[str, dict[str, object]]] = {
    "tools/list": ("tools/list", {}),
    "grep": ("tools/call", {"name": "grep", "arguments": {"pattern": "zz_not_there"}}),
    "search": ("tools/call", {"name": "search", "arguments": {"query": "where are retries"}}),
}


def first_answer(root: Path, home: Path, method: str, params: object) -> tuple[float, float]:
    """Return CPU and wall seconds from the start to the answer."""
    messages: Sequence[dict[str, object]] = (
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        {"id": 2, "method": method, "params": params},
    )
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "wherein", "mcp"],
        cwd=root,
        env={**os.environ, "WHEREIN_HOME": str(home)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()
        while json.loads(process.stdout.readline()).get("id") != 2:
            pass
        wall = time.monotonic() - started
        process.kill()
        _pid, _status, used = os.wait4(process.pid, 0)
        process.returncode = 0
    return used.ru_utime + used.ru_stime, wall


def main() -> None:
    """Measure and print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--home", type=Path)
    args = parser.parse_args()
    home = (args.home or Path(tempfile.mkdtemp())).resolve()
    root = args.root.resolve()
    subprocess.run(
        [sys.executable, "-m", "wherein", "index", str(root)],
        env={**os.environ, "WHEREIN_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    for name, (method, params) in FIRST.items():
        taken = [first_answer(root, home, method, params) for _ in range(args.runs)]
        cpu, wall = (statistics.median(column) for column in zip(*taken, strict=True))
        print(f"{name:10} CPU s {cpu:.2f}   wall s {wall:.2f}")


if __name__ == "__main__":
    main()
