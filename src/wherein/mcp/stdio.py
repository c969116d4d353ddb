"""Serves one client on standard input and output, and ends with it."""

from __future__ import annotations

import logging
import sys

from wherein.mcp.lifetime import end_process, watch_parent
from wherein.mcp.state import ServerState

__all__ = ["serve_stdio"]


def serve_stdio(state: ServerState) -> None:
    """Serve until the client closes its end; does not return."""
    watch_parent(state)
    import anyio

    code = 0
    try:
        anyio.run(_serve, state)
    except BrokenPipeError:
        pass
    except BaseException:
        logging.getLogger("wherein").exception("the server ended with an error")
        code = 2
    sys.stderr.flush()
    end_process(state, code)


async def _serve(state: ServerState) -> None:
    from mcp.server.stdio import stdio_server

    from wherein.mcp.server import build_server

    server = build_server(state)
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())
        end_process(state, 0)  # a thread may still wait in a read; nothing is left to say
