"""A searcher of the user's own: any command, run in a copy of the tree that is replayed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
import time
from pathlib import Path

from wherein.budget import count_tokens
from wherein.errors import ProgramTimeoutError, UsageError
from wherein.external.run import run
from wherein.measure.arms import Found, Opened
from wherein.measure.replay_trees import TextTree
from wherein.measure.requests import Request

__all__ = ["CommandArm", "parse_arm", "paths_in_output"]

_TIMEOUT_S = 60.0
_MAX_OUTPUT_BYTES = 1_000_000
_NAME = re.compile(r"[A-Za-z][\w.-]{0,30}")
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
        self._folder: Path | None = None
        self._written: dict[str, str] = {}
        self._tree: TextTree | None = None

    @property
    def name(self) -> str:
        """What the report calls it."""
        return self._name

    def prepare(self, tree: TextTree) -> None:
        """Write the tree's files to a folder of our own; only what differs is written again."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="wherein-replay-"))
        for path in sorted(self._written.keys() - tree.files.keys()):
            (self._folder / path).unlink(missing_ok=True)
            del self._written[path]
        for path, blob in tree.files.items():
            if self._written.get(path) != blob:
                target = self._folder / path
                if target.is_dir():
                    shutil.rmtree(target)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(tree.contents.bytes_of(blob))
                self._written[path] = blob
        self._tree = tree

    def close(self) -> None:
        """Remove the folder."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = None
        self._written.clear()

    def search(self, request: Request) -> Found:
        """Run the command for one request."""
        assert self._folder is not None  # noqa: S101 - prepare comes first
        assert self._tree is not None  # noqa: S101 - prepare comes first
        argv = [word.replace("{query}", request.text) for word in self._words]
        started = time.monotonic()
        try:
            done = run(
                argv,
                cwd=self._folder,
                timeout_s=_TIMEOUT_S,
                max_output_bytes=_MAX_OUTPUT_BYTES,
            )
        except ProgramTimeoutError:
            return Found((), seconds=time.monotonic() - started, note="timed out")
        output = done.stdout.decode("utf-8", "replace")
        found = paths_in_output(output, self._folder, frozenset(self._tree.files))
        note = f"exit code {done.returncode}" if done.returncode not in {0, 1} else ""
        opened = tuple(Opened(path, tokens, 1) for path, tokens in found)
        return Found(opened, seconds=time.monotonic() - started, note=note)


def parse_arm(text: str) -> CommandArm:
    """Return the arm of ``name=command {query}``.

    Raises:
        UsageError: There is no name, no command, or no place for the query.
    """
    name, separator, command = text.partition("=")
    hint = "write it as name=command {query}, as in rga='rg -il {query}'"
    if not separator or not _NAME.fullmatch(name):
        message = f"{text!r} is no arm"
        raise UsageError(message, hint=hint)
    try:
        words = shlex.split(command)
    except ValueError as error:
        message = f"the command of arm {name!r} cannot be split: {error}"
        raise UsageError(message, hint=hint) from error
    if not words or not any("{query}" in word for word in words):
        message = f"arm {name!r} has no place for the query"
        raise UsageError(message, hint=hint)
    return CommandArm(name, words)


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


def _named(line: str, known: frozenset[str]) -> str | None:
    text = line.strip()
    first = _PLACE_AFTER.sub("", text).removeprefix("./")
    if first in known:
        return first
    for word in re.findall(r"[^\s\"'`,;()\[\]{}<>|]+", text):
        bare = re.sub(r":\d+(?:[-:]\d+)*:?$", "", word).removeprefix("./").rstrip(":")
        if bare in known:
            return bare
    return None
