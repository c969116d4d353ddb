"""A searcher of the user's own that is a tool of an MCP server, run beside a copy of the tree."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote, urlsplit

from wherein.budget import count_tokens
from wherein.errors import ExternalError, ProgramTimeoutError
from wherein.measure.arms import Found, Opened
from wherein.measure.arms_external import known_path, paths_in_output
from wherein.measure.replay_trees import TextTree
from wherein.measure.requests import Request
from wherein.measure.tree_folder import TreeFolder

if TYPE_CHECKING:
    from wherein.external.mcp_client import McpServer, ToolAnswer

__all__ = ["McpArm", "filled", "paths_in_structured"]

_TIMEOUT_S = 60.0
_MAX_FAILURES = 3
"""After so many times in a row without an answer in time, or without a server, it is given up:
300 requests of a minute each would be five hours of waiting for nothing."""


class McpArm:
    """Calls a tool of a server for every request and reads the paths in its answers.

    The server runs in a folder with the tree's files and nothing else. It is started before the
    first request and again when the tree changed, so that it cannot answer from an older one.

    Args:
        name: What the report calls it.
        command: The server's command, never run by a shell.
        tool: The tool that is called.
        arguments: Its arguments; ``{query}`` in a text is replaced by the request.
        timeout_s: Seconds the server may take to be ready, and for each answer.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        tool: str,
        arguments: Mapping[str, object],
        *,
        timeout_s: float = _TIMEOUT_S,
    ) -> None:
        self._name = name
        self._command = list(command)
        self._tool = tool
        self._arguments = dict(arguments)
        self._timeout_s = timeout_s
        self._folder = TreeFolder()
        self._server: McpServer | None = None
        self._n_failures = 0

    @property
    def name(self) -> str:
        """What the report calls it."""
        return self._name

    def prepare(self, tree: TextTree) -> None:
        """Write the tree's files to a folder of our own."""
        if self._folder.write(tree):
            self._end_server()

    def close(self) -> None:
        """End the server and remove the folder."""
        self._end_server()
        self._folder.remove()

    def search(self, request: Request) -> Found:
        """Call the tool for one request."""
        if self._n_failures >= _MAX_FAILURES:
            return Found((), note=f"given up after {_MAX_FAILURES} failures in a row")
        started = time.monotonic()
        try:
            server = self._running()
            started = time.monotonic()  # an agent's server runs already
            answer = server.call(self._tool, filled(self._arguments, request.text))
        except (ExternalError, OSError) as error:
            self._n_failures += 1
            self._end_server()
            is_late = isinstance(error, ProgramTimeoutError)
            return Found(
                (), seconds=time.monotonic() - started, note="timed out" if is_late else str(error)
            )
        self._n_failures = 0
        seconds = time.monotonic() - started
        if answer.is_error:
            said = (answer.text.splitlines() or [""])[0][:100]
            return Found((), seconds=seconds, note=f"the tool failed: {said}")
        found = _paths(answer, self._folder.path, self._folder.files)
        return Found(tuple(Opened(path, tokens, 1) for path, tokens in found), seconds=seconds)

    def _running(self) -> McpServer:
        if self._server is None:
            from wherein.external.mcp_client import McpServer

            self._server = McpServer(self._command, self._folder.path, self._timeout_s)
        return self._server

    def _end_server(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            try:
                server.close()
            except ExternalError:
                return  # it is ended all the same


def filled(value: Mapping[str, object], query: str) -> dict[str, object]:
    """Return arguments with the query put in for ``{query}``, at any depth."""
    return {key: _with_query(item, query) for key, item in value.items()}


def _with_query(value: object, query: str) -> object:
    if isinstance(value, str):
        return value.replace("{query}", query)
    if isinstance(value, list):
        return [_with_query(item, query) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return filled(cast("dict[str, object]", value), query)
    return value


def _paths(answer: ToolAnswer, folder: Path, known: frozenset[str]) -> list[tuple[str, int]]:
    """Return the known files of an answer: of its structured content, else of its text."""
    structured = paths_in_structured(answer.structured, folder, known)
    return structured or paths_in_output(answer.text, folder, known)


def paths_in_structured(
    value: object, folder: Path, known: frozenset[str]
) -> list[tuple[str, int]]:
    """Return the known files that whole texts of a JSON value name, each with the tokens up to it.

    A text counts when all of it is a path, with or without line numbers, or a ``file:`` address: a
    path inside a line of code that is shown names no place.
    """
    found: dict[str, int] = {}
    spent = 0
    for key, leaf in _leaves("", value):
        spent += count_tokens(f"{json.dumps(key)}: {json.dumps(leaf, ensure_ascii=False)},")
        path = _named(leaf, folder, known) if isinstance(leaf, str) else None
        if path is not None and path not in found:
            found[path] = spent
            spent = 0
    return list(found.items())


def _leaves(key: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield the keys and values of a JSON value that hold no others, in order."""
    if isinstance(value, dict):
        for name, item in cast("dict[str, object]", value).items():
            yield from _leaves(name, item)
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _leaves(key, item)
    elif value is not None:
        yield key, value


def _named(text: str, folder: Path, known: frozenset[str]) -> str | None:
    if text.startswith("file://"):
        text = unquote(urlsplit(text).path)
    return known_path(text.removeprefix(f"{os.path.realpath(folder)}/"), known)
