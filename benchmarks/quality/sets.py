"""Loads the two public evaluation sets: labelled queries (peer) and commits as requests (replay).

The data folder holds ``peer/repos.json`` with ``peer/annotations/NAME.json``, and
``replay/NAME.jsonl``; the checkouts folder holds ``peer/NAME`` and ``replay/NAME``, cloned at the
pinned revisions (see `checkouts.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

SMALL_REPLAY = frozenset({"flask", "fastify"})
"""Fewer than 40 files: shown, but left out of means."""


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


def load_replay_pool(data: Path) -> Callable[[str], bool]:
    """Return the set's own rule for which paths count: source files, no tests, docs or samples."""
    spec = spec_from_file_location("replay_pool", data / "replay" / "pool.py")
    if spec is None or spec.loader is None:
        message = f"no replay pool rule in {data}"
        raise FileNotFoundError(message)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.is_source


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
