"""Serves one client on standard input and output, and ends with it."""

from __future__ import annotations

import logging
import sys
import threading
from importlib import import_module
from typing import TYPE_CHECKING, cast

from wherein.mcp.front import Wire, claim_wire, lead
from wherein.mcp.lifetime import end_process, watch_parent
from wherein.mcp.state import ServerState

if TYPE_CHECKING:
    from typing import TextIO

__all__ = ["serve_stdio"]


def serve_stdio(state: ServerState) -> None:
    """Serve until the client closes its end; does not return."""
    wire = claim_wire()
    watch_parent(state)
    code = 0
    try:
        _serve(state, wire)
    except* (BrokenPipeError, KeyboardInterrupt):  # the client is gone, or a person ends it
        pass
    except* BaseException:
        logging.getLogger("wherein").exception("the server ended with an error")
        code = 2
    sys.stderr.flush()
    end_process(state, code)


def _serve(state: ServerState, wire: Wire) -> None:
    warm = threading.Timer(_WARM_AFTER_S, _warm, (state,))
    warm.daemon = True
    warm.start()
    if not lead(wire):
        return
    import anyio

    anyio.run(_serve_rest, state, wire)


_WARM_AFTER_S = 0.3
"""Seconds after the start when what the first call needs is loaded: by then a client has its list
of tools, and the start of many servers at once is not slowed by it."""


def _warm(state: ServerState) -> None:
    import_module("wherein.mcp.server")
    state.start_indexing()


async def _serve_rest(state: ServerState, wire: Wire) -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    from wherein.mcp.server import build_server

    server = build_server(state)
    file = anyio.wrap_file(cast("TextIO", wire))
    async with stdio_server(file, file) as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())
        end_process(state, 0)  # a thread may still wait in a read; nothing is left to say
