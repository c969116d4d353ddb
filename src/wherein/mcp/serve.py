"""Starts the server on the transport that was asked for."""

from __future__ import annotations

import os
from pathlib import Path

from wherein.mcp.roots import in_repository, is_workspace, named_by_environment
from wherein.mcp.state import ServerState
from wherein.tools.context import ToolContext

__all__ = ["serve"]


def serve(
    context: ToolContext,
    *,
    http: bool = False,
    host: str = "127.0.0.1",
    port: int = 0,
    token_file: str | None = None,
) -> None:
    """Serve the tools to a coding agent; clients start this, people rarely do.

    Without options it speaks the protocol on standard input and output, ends when its client does,
    and reads only below the folder it was started in (and the user's setting 'roots'). With --http
    it listens at this machine's own address alone and asks for a token.
    """
    environment = dict(os.environ)
    root = context.root
    is_told = not context.may_name_roots  # by --root
    is_sure = is_told or (is_workspace(root, environment) and in_repository(root))
    if not is_sure:
        named = named_by_environment(environment)
        root, is_sure = named or root, named is not None
    state = ServerState(context.settings, root, context.roots, environment)
    state.has_workspace, state.settings_of = is_sure, context.settings_of
    if http:
        from wherein.mcp.http import serve_http

        serve_http(state, host, port, Path(token_file) if token_file else None)
        return
    from wherein.mcp.stdio import serve_stdio

    serve_stdio(state)
