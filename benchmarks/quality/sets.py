"""Loads the two public evaluation sets: labelled queries (peer) and commits as requests (replay).

The data folder holds ``peer/repos.json`` with ``peer/annotations/NAME.json``, and
``replay/NAME.jsonl``; the checkouts folder holds ``peer/NAME`` and ``replay/NAME``, cloned at the
pinned revisions (see `checkouts.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SMALL_REPLAY = frozenset({"flask", "fastify"})
"""Fewer than 40 files: shown, but left out of means."""

_SOURCE_EXTENSIONS = frozenset(
    ".py .pyx .js .mjs .cjs .jsx .ts .tsx .mts .cts .vue .go .rs .java .kt .scala .rb .php .c .h"
    " .cc .cpp .hpp .cs .swift".split()
)
_OUTSIDE_POOL_FOLDERS = frozenset(
    "test tests testing __tests__ spec specs testdata fixtures e2e bench benches benchmark benchmarks"
    " example examples doc docs vendor node_modules third_party deps dist packages-private dts-test"
    " website tests-integration t".split()
)
_OUTSIDE_POOL_NAME = re.compile(
    r"(^test_.*\.py$|_test\.(py|go|rb|js|ts)$|_spec\.rb$|\.(test|spec|test-d)\.[a-z]+$|"
    r"^conftest\.py$|^tests?\.(py|rs|js)$|Tests?\.(java|php|kt|cs)$|\.min\.js$|\.pb\.go$|_pb2\.py$|"
    r"[._]generated\.|^setup\.py$|\.d\.[cm]?ts$|\.check\.js$)"
)


@dataclass(frozen=True, slots=True)
class LabelledQuery:
    """A query with the paths that answer it."""

    query: str
    targets: tuple[str, ...]
    category: str
    """Peer: ``architecture``, ``semantic``, ``symbol``. Replay: ``named``, ``plain``."""


@dataclass(frozen=True, slots=True)
class LabelledRepository:
    """A checkout with its queries; ``root`` is the folder that is searched."""

    name: str
    language: str
    root: Path
    queries: tuple[LabelledQuery, ...]


def peer_set(data: Path, checkouts: Path) -> Iterator[LabelledRepository]:
    """Yield the labelled repositories that are checked out, in the set's order."""
    for entry in json.loads((data / "peer" / "repos.json").read_text()):
        root = checkouts / "peer" / entry["name"] / (entry.get("benchmark_root") or "")
        if not root.is_dir():
            continue
        notes = json.loads((data / "peer" / "annotations" / f"{entry['name']}.json").read_text())
        queries = tuple(
            LabelledQuery(
                note["query"],
                tuple(map(_path_of, note["relevant"] + note["secondary"])),
                note["category"],
            )
            for note in notes
        )
        yield LabelledRepository(entry["name"], entry["language"], root, queries)


def _path_of(target: str | dict[str, str]) -> str:
    return target if isinstance(target, str) else target["path"]


def replay_set(data: Path, checkouts: Path) -> Iterator[LabelledRepository]:
    """Yield the replay repositories that are checked out at their snapshot, by name."""
    for file in sorted((data / "replay").glob("*.jsonl")):
        root = checkouts / "replay" / file.stem
        if not root.is_dir():
            continue
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        queries = tuple(LabelledQuery(r["request"], tuple(r["targets"]), r["kind"]) for r in rows)
        yield LabelledRepository(file.stem, "", root, queries)


def in_replay_pool(path: str) -> bool:
    """Return whether a path counts in the replay set: a source file that is no test, doc or sample."""
    *folders, name = path.split("/")
    extension = "." + name.rpartition(".")[2].lower() if name.rfind(".") > 0 else ""
    return (
        extension in _SOURCE_EXTENSIONS
        and not _OUTSIDE_POOL_NAME.search(name)
        and not any(folder in _OUTSIDE_POOL_FOLDERS for folder in folders)
    )


def same_path(ranked: str, target: str) -> bool:
    """Return whether a ranked path covers a target: equal, or one a suffix of the other."""
    return ranked == target or ranked.endswith("/" + target) or target.endswith("/" + ranked)


def cover(ranked: Sequence[str], targets: Sequence[str]) -> list[str]:
    """Rename each ranked path to the target it covers; the first cover of a target counts alone."""
    named: list[str] = []
    seen: set[str] = set()
    for path in ranked:
        target = next((t for t in targets if t not in seen and same_path(path, t)), None)
        if target is not None:
            seen.add(target)
        named.append(target if target is not None else f"other:{path}:{len(named)}")
    return named
