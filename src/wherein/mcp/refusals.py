"""Answers what the protocol library drops without a word: whoever sent it would wait for ever."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import cast

__all__ = ["batch_of", "refusal"]

_MAX_BATCH = 1_000

_PARSE_ERROR = -32700
_INVALID_REQUEST = -32600

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

_NO_JSON = "the line is no JSON, or longer than 16 MB"
_HALF_A_CHARACTER = "a text in the message holds half a character (a lone surrogate)"
_NO_REQUEST = (
    'not a request of JSON-RPC: it has "jsonrpc": "2.0", an "id" that is a text or a whole number, '
    'a "method" and, if any, "params" that are an object'
)


def batch_of(line: str) -> list[bytes]:
    """Return the messages of a batch as lines of their own, nothing for any other line.

    The revision of 2025-03-26 lets clients send several messages as one list.
    """
    if not line.lstrip().startswith("["):
        return []
    found = _loaded(line)
    items = cast("list[object]", found) if isinstance(found, list) else []
    try:
        return [json.dumps(item).encode() for item in items[:_MAX_BATCH]]
    except RecursionError:
        return []


def refusal(line: str) -> dict[str, object] | None:
    """Return the answer to a line the library would drop; None for messages, answers and blanks."""
    from mcp_types import JSONRPCNotification, jsonrpc_message_adapter

    if not line.strip():
        return None
    found = _loaded(line)
    message = cast("dict[str, object]", found) if isinstance(found, dict) else dict[str, object]()
    if "method" not in message and ("result" in message or "error" in message):
        return None
    try:
        taken = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return _error(line, message, is_json=found is not None)
    # The library takes a request whose id is none for a notification, which has no answer.
    is_misread = "id" in message and isinstance(taken, JSONRPCNotification)
    return _error(line, message, is_json=found is not None) if is_misread else None


def _loaded(line: str) -> object:
    """Return what the line says; None when it is no JSON."""
    try:
        return cast("object", json.loads(line))
    except (ValueError, RecursionError):
        return None


def _error(line: str, message: Mapping[str, object], *, is_json: bool) -> dict[str, object]:
    code, why = _INVALID_REQUEST, _NO_REQUEST
    if not is_json:
        code, why = _PARSE_ERROR, _NO_JSON
    elif _SURROGATE.search(line):
        code, why = _PARSE_ERROR, _HALF_A_CHARACTER
    sent = message.get("id")
    is_id = isinstance(sent, int | str) and not isinstance(sent, bool)
    error = {"code": code, "message": why}
    return {"jsonrpc": "2.0", "id": sent if is_id else None, "error": error}
