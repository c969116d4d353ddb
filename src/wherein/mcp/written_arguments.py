"""Takes the arguments of a tool call that a client wrote as a text of JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, cast

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError

__all__ = ["read_written_arguments"]


async def read_written_arguments(
    context: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult:
    """Hand on a call with its arguments as an object.

    What is none is refused by name: the library says only that something is wrong.

    Raises:
        MCPError: The arguments are no object.
    """
    params = context.params or {}
    arguments = params.get("arguments")
    if context.method != "tools/call" or arguments is None or isinstance(arguments, dict):
        return await call_next(context)
    read = _object_in(arguments) if isinstance(arguments, str) else None
    if read is None:
        message = "the arguments of a call must be an object, such as {}"
        raise MCPError(types.INVALID_PARAMS, message)
    return await call_next(replace(context, params={**params, "arguments": read}))


def _object_in(text: str) -> dict[str, object] | None:
    """Return the object that a text of JSON holds, None for any other text."""
    try:
        found = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", found) if isinstance(found, dict) else None
