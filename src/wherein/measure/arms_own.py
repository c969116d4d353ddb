"""Reads the arms that a user writes: a command, or a tool of an MCP server."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence

from wherein.errors import UsageError
from wherein.measure.arms import Arm
from wherein.measure.arms_external import CommandArm
from wherein.measure.arms_mcp import McpArm, filled

__all__ = ["parse_arm"]

_SERVER = "mcp:"
_NAME = re.compile(r"[A-Za-z][\w.-]{0,30}")
_HINT = "write it as name=command {query}, as in rga='rg -il {query}'"
_MCP_HINT = "write it as name=mcp:COMMAND tool=TOOL ARGUMENT={query}"


def parse_arm(text: str) -> Arm:
    """Return the arm of ``name=command {query}`` or ``name=mcp:command tool=T argument={query}``.

    Raises:
        UsageError: There is no name, no command, or no place for the query.
    """
    name, separator, command = text.partition("=")
    if not separator or not _NAME.fullmatch(name):
        message = f"{text!r} is no arm"
        raise UsageError(message, hint=_HINT)
    is_server = command.startswith(_SERVER)
    try:
        words = shlex.split(command.removeprefix(_SERVER))
    except ValueError as error:
        message = f"the command of arm {name!r} cannot be split: {error}"
        raise UsageError(message, hint=_HINT) from error
    if is_server:
        return _server_arm(name, words)
    if not words or not any("{query}" in word for word in words):
        message = f"arm {name!r} has no place for the query"
        raise UsageError(message, hint=_HINT)
    return CommandArm(name, words)


def _server_arm(name: str, words: Sequence[str]) -> McpArm:
    """Return the arm of ``COMMAND… tool=TOOL ARGUMENT=VALUE…``.

    The first word that starts with ``tool=`` ends the command. A value that is JSON (a number,
    ``true``, a list…) is passed as such, all else as text.
    """
    at = next((n for n, word in enumerate(words) if word.startswith("tool=")), len(words))
    command, call = list(words[:at]), list(words[at:])
    tool = call[0].removeprefix("tool=") if call else ""
    if not command or not tool:
        what = "tool" if command else "command"
        message = f"arm {name!r} names no {what}"
        raise UsageError(message, hint=_MCP_HINT)
    arguments: dict[str, object] = {}
    for word in call[1:]:
        key, separator, text = word.partition("=")
        if not separator or not key:
            message = f"{word!r} in arm {name!r} is no argument"
            raise UsageError(message, hint=_MCP_HINT)
        arguments[key] = _value(text)
    if filled(arguments, "") == arguments:
        message = f"arm {name!r} has no place for the query"
        raise UsageError(message, hint=_MCP_HINT)
    return McpArm(name, command, tool, arguments)


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text
