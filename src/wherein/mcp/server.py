"""Builds the protocol server over the registry."""

from __future__ import annotations

import logging
import threading
import time
from functools import partial
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError

from wherein import __version__
from wherein.errors import WhereinError
from wherein.mcp.answer import UnknownToolError, answer, failure
from wherein.mcp.listing import INSTRUCTIONS, TITLE, list_entries
from wherein.mcp.roots import ask_client, is_workspace
from wherein.mcp.state import ServerState
from wherein.mcp.written_arguments import read_written_arguments
from wherein.tools.context import CancelledError, Progress
from wherein.tools.session import Session

__all__ = ["build_server"]

_MAX_CALLS = 16
"""Calls worked on at once; further ones wait. Agents send a handful in parallel."""

_PROGRESS_EVERY_S = 0.25
"""Clients redraw no faster, and each message costs a write."""


def build_server(state: ServerState) -> Server[Any]:
    """Return a protocol server that answers from ``state``."""
    entries = [types.Tool.model_validate(entry) for entry in list_entries()]
    schemas = {entry.name: entry.input_schema for entry in entries}
    limiter = anyio.CapacityLimiter(_MAX_CALLS)

    async def list_tools(
        _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=entries)

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        if not state.has_workspace:
            await _find_workspace(state, context)
        if not state.has_workspace:
            return types.CallToolResult.model_validate(_tool_error(_NO_WORKSPACE))
        try:
            state.take_settings()
        except WhereinError as error:
            return types.CallToolResult.model_validate(failure(error))
        state.start_indexing()
        call = _Call(state, context, params)
        return types.CallToolResult.model_validate(await call.run(limiter))

    async def ask_again(_context: ServerRequestContext[Any], _params: object) -> None:
        state.forget_told_root()

    server: Server[Any] = Server(
        "wherein",
        version=__version__,
        title=TITLE,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=schemas.get,
    )
    server.middleware.append(read_written_arguments)
    server.add_notification_handler(
        "notifications/roots/list_changed", types.NotificationParams, ask_again
    )
    return server


_NO_WORKSPACE = (
    "the server was started in no workspace\nhint: start it in the project's folder, or with "
    "--root FOLDER in the client's configuration"
)


async def _find_workspace(state: ServerState, context: ServerRequestContext[Any]) -> None:
    """Ask the client where its workspace is; if it has none to say, it is where the server is."""
    root = await ask_client(context, state.environment)
    if root is not None:
        state.serve_root(root)
    elif is_workspace(state.root, state.environment):
        state.has_workspace = True


def _tool_error(text: str) -> dict[str, object]:
    return {"content": [{"type": "text", "text": text}], "isError": True}


class _Call:
    """One tool call: the work runs in a thread, the event loop stays free."""

    def __init__(
        self,
        state: ServerState,
        context: ServerRequestContext[Any],
        params: types.CallToolRequestParams,
    ) -> None:
        self._state = state
        self._context = context
        self._params = params
        self._cancelled = threading.Event()
        self._reported_s = 0.0
        self._scale = _Scale()

    async def run(self, limiter: anyio.CapacityLimiter) -> dict[str, object]:
        """Return the result; when the client cancels, the thread is told and stops."""
        try:
            return await anyio.to_thread.run_sync(
                self._work, abandon_on_cancel=True, limiter=limiter
            )
        except anyio.get_cancelled_exc_class():
            self._cancelled.set()
            raise

    def _work(self) -> dict[str, object]:
        try:
            return answer(
                self._state,
                self._session(),
                self._params.name,
                self._params.arguments or {},
                on_progress=self._report,
                is_cancelled=self._cancelled.is_set,
            )
        except UnknownToolError as error:
            raise MCPError(types.INVALID_PARAMS, f"{error.message}: {error.hint}") from error
        except CancelledError:
            return _tool_error("cancelled")
        except Exception:  # a fault of ours costs one answer, never the server
            logging.getLogger("wherein").exception("the tool %r failed", self._params.name)
            return _tool_error(
                "the tool failed; its server's log says why\nhint: try other arguments, or "
                "report it with that log"
            )

    def _session(self) -> Session | None:
        """Return the conversation's memory.

        Standard input and output are one conversation. Over HTTP the session id tells them apart;
        the 2026-07-28 protocol has none, so nothing can be known to have been shown there.
        """
        headers = getattr(self._context.request, "headers", None)
        if headers is None:
            return self._state.session("")
        session_id = headers.get("mcp-session-id")
        return self._state.session(session_id) if session_id else None

    def _report(self, progress: Progress) -> None:
        now = time.monotonic()
        if self._cancelled.is_set() or now - self._reported_s < _PROGRESS_EVERY_S:
            return
        told = self._scale.place(progress)
        if told is None:
            return
        self._reported_s = now
        done, total = told
        send = partial(
            self._context.session.report_progress,
            done,
            total,
            f"{progress.stage} {progress.unit}",
        )
        anyio.from_thread.run(send)


class _Scale:
    """Puts the stages of a build one behind the other: the protocol wants numbers that grow."""

    def __init__(self) -> None:
        self._stage = ""
        self._before = 0
        self._done = -1
        """In all stages; what was told last."""

    def place(self, progress: Progress) -> tuple[int, int | None] | None:
        """Return what is done and what there is; None when it is not more than the last time."""
        if progress.stage != self._stage:
            self._stage = progress.stage
            self._before = max(self._done, 0)
        done = self._before + progress.files_done
        if done <= self._done:
            return None
        self._done = done
        return done, self._before + progress.files_total if progress.files_total else None
