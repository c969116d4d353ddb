"""Makes the trees that speed is measured on, from real code by copying with changed names."""

from __future__ import annotations

import random
import re
import subprocess  # noqa: TID251 - a benchmark outside the package
from collections.abc import Sequence
from pathlib import Path

_WORD = re.compile(rb"\b[a-z][a-z_]{6,}\b")


def make_tree(sources: Sequence[Path], target: Path, n_files: int, *, seed: int = 0) -> int:
    """Write ``n_files`` files under ``target`` and commit them; return their bytes.

    The files of ``sources`` are taken in order; each further round renames some of their longer
    words, so that no two copies have the same content or vocabulary.
    """
    draw = random.Random(seed)
    target.mkdir(parents=True)
    total = n = 0
    round_number = 0
    while n < n_files:
        for source in sources:
            if n >= n_files:
                break
            data = source.read_bytes()
            if round_number:
                data = _renamed(data, round_number, draw)
            place = (
                target / f"part{round_number}" / f"d{n % 97}" / f"{source.stem}_{n}{source.suffix}"
            )
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            total += len(data)
            n += 1
        round_number += 1
    _git(target, "init", "-q")
    _git(target, "add", "-A")
    _git(target, "-c", "user.name=b", "-c", "user.email=b@example.invalid", "commit", "-qm", "tree")
    return total


def _renamed(data: bytes, round_number: int, draw: random.Random) -> bytes:
    words = sorted(set(_WORD.findall(data)))
    chosen = set(draw.sample(words, min(len(words), len(words) // 4 + 1))) if words else set()
    suffix = b"_%d" % round_number
    return _WORD.sub(lambda m: m.group() + suffix if m.group() in chosen else m.group(), data)


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True)
