"""The tools as the server lists them: plain values, made without importing the protocol library."""

from __future__ import annotations

from wherein.tools.registry import Face, Tool, tools
from wherein.tools.schema import input_schema, output_schema

__all__ = [
    "INSTRUCTIONS",
    "TITLE",
    "list_entries",
    "tool_entry",
]

TITLE = "Wherein: code search"

INSTRUCTIONS = (
    "Wherein finds code in this workspace. Use search first for any question of where or how "
    "something is done: one call replaces several rounds of grep. Use grep for every occurrence of "
    "an exact text, glob for file names, read for path:start-end or path#Symbol. Answers reflect "
    "the files as they are now."
)


def list_entries() -> list[dict[str, object]]:
    """Return the entries of ``tools/list``, in the registry's order."""
    return [tool_entry(tool) for tool in tools(Face.MCP)]


def tool_entry(tool: Tool) -> dict[str, object]:
    """Return one entry of ``tools/list``."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description(),
        "inputSchema": input_schema(tool),
        "outputSchema": output_schema(tool),
        "annotations": {
            "title": tool.title,
            "readOnlyHint": tool.is_read_only,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
        "_meta": {"anthropic/alwaysLoad": True},
    }
