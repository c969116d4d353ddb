"""Which family a folder belongs to, found without starting git."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["find_anchor"]

_MAX_LINE_BYTES = 10_000


def find_anchor(root: Path) -> Path:
    """Return git's common folder for the working tree ``root`` lies in, else ``root``.

    The anchor only names what is shared: whatever a repository's ``.git`` file says, contents are
    found by their hash.

    Args:
        root: A real path.
    """
    for folder in (root, *root.parents):
        dot_git = folder / ".git"
        if dot_git.is_dir():
            return _common(dot_git) if (dot_git / "HEAD").exists() else root
        if dot_git.is_file():
            line = _line(dot_git)
            if line.startswith("gitdir:"):
                return _common(folder / line.removeprefix("gitdir:").strip())
    return root


def _common(git_dir: Path) -> Path:
    line = _line(git_dir / "commondir")
    return Path(os.path.realpath(git_dir / line if line else git_dir))


def _line(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return os.fsdecode(file.read(_MAX_LINE_BYTES).split(b"\n")[0].rstrip(b"\r"))
    except OSError:
        return ""
