"""Makes the small repository that the golden test asks: files and commits of our own."""

from __future__ import annotations

import os
import subprocess  # noqa: TID251 - a script outside the package
from pathlib import Path

from benchmarks.golden.sets import GoldenRepository, read_queries

HERE = Path(__file__).parent / "fixture"
NAME = "lending"
_FIRST_DAY = 1_700_000_000
_DAY_S = 86_400
_COMMIT, _FILE = "==== commit ", "==== file "


def repository() -> GoldenRepository:
    """Return the fixture's queries."""
    return read_queries(HERE / "queries.toml")[0]


def make(root: Path) -> None:
    """Make the repository at ``root``, which must not exist: the same commits every time.

    ``tree.txt`` holds one commit after another, each with the files it writes.
    """
    root.mkdir(parents=True)
    _git(root, 0, "init", "-q", "-b", "main")
    for number, (message, files) in enumerate(_commits(), start=1):
        for path, text in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="\n")
        _git(root, number, "add", "-A")
        _git(root, number, "commit", "-q", "-m", message)


def _commits() -> list[tuple[str, dict[str, str]]]:
    found: list[tuple[str, dict[str, str]]] = []
    lines: list[str] = []
    path = ""
    text = (HERE / "tree.txt").read_text(encoding="utf-8")
    for line in [*text.splitlines(), _COMMIT]:
        if not line.startswith((_COMMIT.rstrip(), _FILE)):
            lines.append(line)
            continue
        if path:
            found[-1][1][path] = "\n".join(lines).strip("\n") + "\n"
        lines = []
        path = line.removeprefix(_FILE) if line.startswith(_FILE) else ""
        if line.startswith(_COMMIT) and line != _COMMIT:
            found.append((line.removeprefix(_COMMIT), {}))
    return found


def _git(root: Path, day: int, *words: str) -> None:
    date = f"{_FIRST_DAY + day * _DAY_S} +0000"
    who = {"NAME": "Ada", "EMAIL": "ada@example.invalid", "DATE": date}
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{
            f"GIT_{role}_{key}": value
            for role in ("AUTHOR", "COMMITTER")
            for key, value in who.items()
        },
    }
    subprocess.run(["git", "-C", str(root), *words], check=True, env=environment)
