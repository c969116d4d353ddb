"""A searcher of the user's own: any command, run in a copy of the tree that is replayed."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from wherein.budget import count_tokens
from wherein.errors import ProgramTimeoutError
from wherein.external.run import run
from wherein.external.start import no_git_above
from wherein.measure.arms import Found, Opened
from wherein.measure.replay_trees import TextTree
from wherein.measure.requests import Request
from wherein.measure.tree_folder import TreeFolder

__all__ = ["CommandArm", "known_path", "paths_in_output"]

_TIMEOUT_S = 60.0
_MAX_OUTPUT_BYTES = 1_000_000
_PLACE_AFTER = re.compile(r"(?::\d+(?:[-:]\d+)?.*)?$")


class CommandArm:
    """Runs a command for every request and reads the paths it prints, in their order.

    Args:
        name: What the report calls it.
        words: The command; ``{query}`` in a word is replaced by the request, never by a shell.
    """

    def __init__(self, name: str, words: list[str]) -> None:
        self._name = name
        self._words = words
        self._folder = TreeFolder()

    @property
    def name(self) -> str:
        """What the report calls it."""
        return self._name

    def prepare(self, tree: TextTree) -> None:
        """Write the tree's files to a folder of our own."""
        self._folder.write(tree)

    def close(self) -> None:
        """Remove the folder."""
        self._folder.remove()

    def search(self, request: Request) -> Found:
        """Run the command for one request."""
        argv = [word.replace("{query}", request.text) for word in self._words]
        started = time.monotonic()
        try:
            done = run(
                argv,
                cwd=self._folder.path,
                timeout_s=_TIMEOUT_S,
                max_output_bytes=_MAX_OUTPUT_BYTES,
                env_extra=no_git_above(self._folder.path),  # the log holds the answers
            )
        except ProgramTimeoutError:
            return Found((), seconds=time.monotonic() - started, note="timed out")
        output = done.stdout.decode("utf-8", "replace")
        found = paths_in_output(output, self._folder.path, self._folder.files)
        note = f"exit code {done.returncode}" if done.returncode not in {0, 1} else ""
        opened = tuple(Opened(path, tokens, 1) for path, tokens in found)
        return Found(opened, seconds=time.monotonic() - started, note=note)


def paths_in_output(output: str, folder: Path, known: frozenset[str]) -> list[tuple[str, int]]:
    """Return the known files that lines of ``output`` name, each with the tokens up to it.

    A line names a file at its start, with a line number after it or without, or as one of its
    words or a JSON string.
    """
    found: dict[str, int] = {}
    spent = 0
    prefix = f"{os.path.realpath(folder)}/"
    for line in output.split("\n"):
        spent += count_tokens(line) + 1
        path = _named(line.replace(prefix, ""), known)
        if path is not None and path not in found:
            found[path] = spent
            spent = 0
    return list(found.items())


def known_path(text: str, known: frozenset[str]) -> str | None:
    """Return the known file that ``text`` starts with, a line number after it or nothing."""
    path = _PLACE_AFTER.sub("", text.strip()).removeprefix("./")
    return path if path in known else None


def _named(line: str, known: frozenset[str]) -> str | None:
    text = line.strip()
    first = known_path(text, known)
    if first is not None:
        return first
    for word in re.findall(r"[^\s\"'`,;()\[\]{}<>|]+", text):
        bare = re.sub(r":\d+(?:[-:]\d+)*:?$", "", word).removeprefix("./").rstrip(":")
        if bare in known:
            return bare
    return None
