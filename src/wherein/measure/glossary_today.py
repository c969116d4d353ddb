"""Looks whether what a glossary's lines name is there today."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from wherein.errors import WhereinError
from wherein.external.git import Git
from wherein.glossary import GlossaryLine
from wherein.history.source import tree_paths
from wherein.walk.paths import inside
from wherein.walk.reading import read_file

__all__ = ["Today"]

_MAX_SOURCE_BYTES = 5_000_000


class Today:
    """The files of a repository: in the working tree, else in the last commit.

    Args:
        top: The repository's top folder, or a bare repository.
        git: Where the commits are; None where they are not known.
    """

    def __init__(self, top: Path, git: Git | None) -> None:
        self._top = top
        self._git = git
        self._texts: dict[str, str | None] = {}

    def today(self, line: GlossaryLine) -> GlossaryLine | None:
        """Return the line with the file that holds the name today, None when there is none.

        A file that moved is looked for under its own name; of several the one with the most
        folders in common is taken.
        """
        if self.has_name(line):
            return line
        old = line.path.split("/")
        places = [path for path in self._paths if path.split("/")[-1] == old[-1]]
        places.sort(key=lambda path: (-_n_common(path.split("/"), old), path))
        moved = [replace(line, path=path) for path in places]
        return next((one for one in moved if self.has_name(one)), None)

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        head = self._git.head() if self._git is not None else None
        if self._git is None or head is None:
            return ()
        return tuple(path for path, _, _ in tree_paths(self._git, head))

    def has_file(self, line: GlossaryLine) -> bool:
        """Return whether the line's file exists."""
        return self._text(line.path) is not None

    def has_name(self, line: GlossaryLine) -> bool:
        """Return whether the line's file holds the name as a word."""
        text = self._text(line.path) or ""
        return re.search(rf"(?<!\w){re.escape(line.name)}(?!\w)", text) is not None

    def _text(self, path: str) -> str | None:
        if path not in self._texts:
            self._texts[path] = self._look(path)
        return self._texts[path]

    def _look(self, path: str) -> str | None:
        if not (self._top / ".git").exists() and self._git is not None:  # bare
            done = self._git.run("show", f"HEAD:{path}", max_output_bytes=_MAX_SOURCE_BYTES)
            return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
        try:
            real = inside(self._top, path)
            data = read_file(real.parent, real.name, _MAX_SOURCE_BYTES).data
            return data.decode("utf-8", "replace")
        except (OSError, ValueError, WhereinError):
            return None


def _n_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return how many last parts two paths have in common."""
    pairs = zip(reversed(first), reversed(second), strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))
