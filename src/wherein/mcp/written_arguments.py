"""Takes requests as some clients write them: arguments as a text of JSON, null for nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError

__all__ = ["read_written_arguments"]


async def read_written_arguments(
    ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult:
    """Hand on a call with its arguments as an object, and any request without nulls in ``_meta``.

    Arguments that are no object are refused by name: the library says only that something is wrong.

    Raises:
        MCPError: The arguments are no object.
    """
    params = _without_nulls(ctx.params or {})
    ctx = ctx if ctx.params is None else replace(ctx, params=params)
    arguments = params.get("arguments")
    if ctx.method != "tools/call" or arguments is None or isinstance(arguments, dict):
        return await call_next(ctx)
    read = _object_in(arguments) if isinstance(arguments, str) else None
    if read is None:
        message = "the arguments of a call must be an object, such as {}"
        raise MCPError(types.INVALID_PARAMS, message)
    return await call_next(replace(ctx, params={**params, "arguments": read}))


def _without_nulls(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters; where their ``_meta`` holds null, without it."""
    if "_meta" not in params:
        return params
    rest = {name: value for name, value in params.items() if name != "_meta"}
    meta = cast("object", params["_meta"])
    if not isinstance(meta, dict):
        return rest if meta is None else params
    items = cast("dict[str, object]", meta).items()
    return {**rest, "_meta": {name: value for name, value in items if value is not None}}


def _object_in(text: str) -> dict[str, object] | None:
    """Return the object that a text of JSON holds, None for any other text."""
    try:
        found = cast("object", json.loads(text or "{}"))
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", found) if isinstance(found, dict) else None
