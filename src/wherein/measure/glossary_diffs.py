"""Which names stand on the lines that commits changed."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from wherein.external.git import Git

__all__ = ["names_on_changed_lines"]

_IDENTIFIER = re.compile(rb"[A-Za-z_]\w{3,}")
_COMMIT = re.compile(rb"^([0-9a-f]{40,64})\n", re.MULTILINE)
_MAX_BYTES = 256_000_000
_TIMEOUT_S = 300.0


def names_on_changed_lines(
    git: Git, shas: Sequence[str], names: Collection[str]
) -> dict[str, frozenset[str]]:
    """Return for each commit those of ``names`` on its changed lines or in its hunks' heads.

    Raises:
        ExternalError: Git cannot show the commits.
    """
    wanted = frozenset(names)
    if not shas or not wanted:
        return {}
    # Binary files and attributes are not looked at; a rename counts as taken away and added.
    done = git.output(
        "diff-tree", "--stdin", "-r", "-p", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv",
        "--no-color", stdin="".join(f"{sha}\n" for sha in shas).encode(), timeout_s=_TIMEOUT_S,
    )[:_MAX_BYTES]  # fmt: skip
    found: dict[str, frozenset[str]] = {}
    parts = _COMMIT.split(done)
    for sha, diff in zip(parts[1::2], parts[2::2], strict=False):
        words = {word for line in diff.split(b"\n") for word in _words(line)}
        found[sha.decode()] = wanted.intersection(word.decode() for word in words)
    return found


def _words(line: bytes) -> list[bytes]:
    if line.startswith((b"+++", b"---")):
        return []
    if line.startswith(b"@@"):
        return _IDENTIFIER.findall(line.rpartition(b"@@")[2])
    return _IDENTIFIER.findall(line[1:]) if line[:1] in {b"+", b"-"} else []
