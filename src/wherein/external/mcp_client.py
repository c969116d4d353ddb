"""Talks to a tool server of somebody else's over its standard input and output.

The protocol library starts the process in a group of its own, closes its input when we are done,
and kills the whole group when it does not end by itself.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, cast

import anyio
import mcp_types as types
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, MCPError, StdioServerParameters
from mcp.client import ClientRequestContext
from mcp.client.stdio import stdio_client

from wherein.errors import ExternalError, ProgramTimeoutError
from wherein.external.start import clean_environment, no_git_above

__all__ = ["McpServer", "ToolAnswer"]

# Else Python writes the library's complaints to standard error: one with its traceback for each
# line of a server that prints something else than messages.
logging.getLogger("mcp").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool of a server answered."""

    text: str
    """All text of the answer, and the addresses of the resources it links to."""
    structured: object
    """The answer as JSON values, None when the server gives none."""
    is_error: bool
    """Whether the server says that the tool failed."""


class McpServer:
    """A running server. Use as a context, or call `close`.

    Args:
        argv: Program and arguments; never a shell.
        cwd: Folder it runs in; it is told that this is the workspace when it asks.
        timeout_s: Seconds it may take to be ready, and for each answer.

    Raises:
        ExternalError: It cannot be started, or does not speak the protocol.
        ProgramTimeoutError: It was not ready in time.
    """

    def __init__(self, argv: Sequence[str], cwd: Path, timeout_s: float) -> None:
        self._name = Path(argv[0]).name
        self._timeout_s = timeout_s
        self._stack = ExitStack()
        try:
            self._portal = self._stack.enter_context(start_blocking_portal())
            silence = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - the stack's
            self._stack.enter_context(silence)  # complaints would fill the screen under a bar
            opened = _opened(self._portal, argv, cwd, silence, timeout_s)
            self._client = self._stack.enter_context(opened)
            # The library asks for the list at the first call, whose time is to be the tool's.
            self._portal.call(self._client.list_tools)
        except BaseException as error:
            self._stack.close()
            raise self._failure(error, "could not be started") from error

    def __enter__(self) -> McpServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, tool: str, arguments: Mapping[str, object]) -> ToolAnswer:
        """Call a tool.

        Raises:
            ExternalError: The server refused the call, broke the protocol, or is gone.
            ProgramTimeoutError: It did not answer in time.
        """
        try:
            result = self._portal.call(self._client.call_tool, tool, dict(arguments))
        except Exception as error:
            raise self._failure(error, "failed") from error
        text = "\n".join(_text_of(block) for block in result.content)
        return ToolAnswer(text, result.structured_content, bool(result.is_error))

    def close(self) -> None:
        """End the server and whatever it started."""
        try:
            self._stack.close()
        except Exception as error:
            raise self._failure(error, "did not end well") from error

    def _failure(self, error: BaseException, what: str) -> BaseException:
        """Return what is raised for an error of the library; interrupts stay what they are."""
        first = _first(error)
        if not isinstance(first, Exception):
            return first
        if isinstance(first, MCPError) and first.code == types.REQUEST_TIMEOUT:
            return ProgramTimeoutError(f"{self._name} did not answer within {self._timeout_s:g} s")
        reason = (str(first).splitlines() or [""])[0] or type(first).__name__
        message = f"{self._name} {what}: {reason}"
        return ExternalError(message, hint="run the command by hand: it must speak MCP on stdio")


def _opened(
    portal: BlockingPortal, argv: Sequence[str], cwd: Path, silence: TextIO, timeout_s: float
) -> AbstractContextManager[Client]:
    async def roots(context: ClientRequestContext) -> types.ListRootsResult:
        await anyio.lowlevel.checkpoint()
        root = types.Root.model_validate({"uri": cwd.as_uri(), "name": cwd.name})
        return types.ListRootsResult(roots=[root])

    environment = clean_environment(no_git_above(cwd))  # the server is to see this folder alone
    parameters = StdioServerParameters(
        command=argv[0], args=list(argv[1:]), env=environment, cwd=cwd
    )
    client = Client(
        stdio_client(parameters, silence),
        read_timeout_seconds=timeout_s,
        list_roots_callback=roots,
        mode="legacy",  # every server of today knows it; some hang on a probe of a newer revision
        cache=None,
    )
    return portal.wrap_async_context_manager(client)


def _text_of(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent():
            return block.text
        case types.ResourceLink():
            return str(block.uri)
        case types.EmbeddedResource():
            resource = block.resource
            inner = resource.text if isinstance(resource, types.TextResourceContents) else ""
            return f"{resource.uri}\n{inner}"
        case _:
            return ""


def _first(error: BaseException) -> BaseException:
    """Return the first error of a group that a task group made."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
