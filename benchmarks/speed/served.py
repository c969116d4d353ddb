"""Measures tool calls of a running server, asked by the protocol's own client over stdio.

    python -m benchmarks.speed.served ROOT [--tool search|grep|glob] [--calls 100] [--home DIR]

For each kind of call: wall time as the client sees it, p50 and p90, and CPU time of the server and
of what it starts. The tree is not touched meanwhile; the server's watcher is running.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from benchmarks.speed.run import QUERIES

CALLS: Mapping[str, Sequence[Mapping[str, object]]] = {
    "search": [{"query": query} for query in QUERIES],
    "grep": [{"pattern": "zz_not_there"}, {"pattern": "config_file"}, {"pattern": "timeout"}],
    "glob": [{"pattern": "**/*config*"}, {"pattern": "*.rs", "limit": 10}],
}
_READY_S = 600.0


@dataclass(frozen=True, slots=True)
class CallCost:
    """What the calls of one tool took, in milliseconds."""

    wall_p50: float
    wall_p90: float
    cpu_mean: float
    """Of the server and its finished children."""


def server_pid() -> int:
    """Return the id of our one child, the server."""
    own = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text()
    return int(own.split()[0])


def server_cpu(pid: int) -> float:
    """Return CPU seconds of the server's threads (to the nanosecond) and ended children (10 ms)."""
    threads = (
        file.read_text().split()[0] for file in Path(f"/proc/{pid}/task").glob("*/schedstat")
    )
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    return sum(map(int, threads)) / 1e9 + children


async def measure(
    root: Path, home: Path, tools: Sequence[str], n_calls: int
) -> dict[str, CallCost]:
    """Return the cost of each tool's calls on a tree that is indexed and watched."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "WHEREIN_HOME": str(home)}
    kept = ("PYTHONPATH", "PYTHONPYCACHEPREFIX", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
    environment.update({name: os.environ[name] for name in kept if name in os.environ})
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "wherein", "mcp"], cwd=root, env=environment
    )
    async with Client(stdio_client(server)) as client:
        await _wait_until_indexed(client)
        pid = server_pid()
        return {
            tool: await _measure_tool(client, pid, tool, CALLS[tool], n_calls) for tool in tools
        }


async def _wait_until_indexed(client: Client) -> None:
    deadline = time.monotonic() + _READY_S
    while time.monotonic() < deadline:
        result = await client.call_tool("search", {"query": "first"})
        if "wherein/indexing" not in (result.meta or {}):
            return
        await anyio.sleep(1)
    raise TimeoutError


async def _measure_tool(
    client: Client, pid: int, tool: str, arguments: Sequence[Mapping[str, Any]], n_calls: int
) -> CallCost:
    for each in (*arguments, *arguments):
        await client.call_tool(tool, dict(each))
    walls: list[float] = []
    cpu = server_cpu(pid)
    for number in range(n_calls):
        started = time.perf_counter()
        result = await client.call_tool(tool, dict(arguments[number % len(arguments)]))
        walls.append(time.perf_counter() - started)
        if result.is_error:
            raise RuntimeError(result.content)
    cpu = (server_cpu(pid) - cpu) / n_calls
    return CallCost(
        statistics.median(walls) * 1000,
        sorted(walls)[int(n_calls * 0.9)] * 1000,
        cpu * 1000,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--tool", choices=list(CALLS), action="append")
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--home", type=Path)
    args = parser.parse_args()
    home = args.home or Path(tempfile.mkdtemp())
    tools = args.tool or list(CALLS)
    found = anyio.run(measure, args.root.resolve(), home.resolve(), tools, args.calls)
    for tool, cost in found.items():
        print(
            f"{tool:8} wall ms p50 {cost.wall_p50:6.1f} p90 {cost.wall_p90:6.1f}   "
            f"server CPU ms {cost.cpu_mean:6.1f}"
        )


if __name__ == "__main__":
    main()
