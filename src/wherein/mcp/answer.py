"""Answers one tool call: checked arguments in, text and structured content under a cap out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from wherein.budget import Fitted, count_tokens
from wherein.errors import UsageError, WhereinError, near_name_hint
from wherein.mcp.state import ServerState
from wherein.render.escape import show_path
from wherein.render.json_lines import dump, to_json
from wherein.render.rendered import Rendered, Style, fit, for_model, render, trimmed
from wherein.tools.context import CancelledError, Progress
from wherein.tools.registry import Face, Tool, get_tool, load, read_arguments, tools
from wherein.tools.session import Session

__all__ = ["UnknownToolError", "answer", "failure"]

_STYLE = Style(for_agent=True)
_MAX_SKIPPED_SHOWN = 20
_META_FIELDS = frozenset({"skipped", "not_covered", "snapshots", "counters"})
"""Fields of results that are for programs: they go into ``_meta``, which no model reads."""

_META_PREFIX = "wherein/"


class UnknownToolError(UsageError):
    """The client named a tool that does not exist."""


def answer(
    state: ServerState,
    session: Session | None,
    name: str,
    raw: Mapping[str, object],
    *,
    on_progress: Callable[[Progress], None],
    is_cancelled: Callable[[], bool],
) -> dict[str, object]:
    """Return a ``tools/call`` result; every expected failure is a tool error with a hint.

    Raises:
        UnknownToolError: There is no such tool.
        CancelledError: Nobody waits for the answer any more.
    """
    tool = get_tool(name)
    if tool is None or Face.MCP not in tool.faces:
        names = [item.name for item in tools(Face.MCP)]
        message = f"unknown tool {name!r}"
        raise UnknownToolError(message, hint=near_name_hint(name, names, fallback=", ".join(names)))
    try:
        arguments = read_arguments(tool, raw, Face.MCP)
        budget = cast("int", arguments.pop("max_tokens", None) or state.settings.max_tokens)
        draft = session.draft() if session else None
        context = state.context(draft, on_progress, is_cancelled)
        result = load(tool.function)(context, **arguments)
        found, n_shown = _success(tool, result, budget, state)
        _add_departures(found, state)
        if session and draft:
            session.keep(draft, n_shown)
        return found
    except CancelledError:
        raise
    except (WhereinError, OSError) as error:
        return failure(error)


def _add_departures(found: dict[str, object], state: ServerState) -> None:
    """Say where text went to since the last answer, in a block of its own."""
    notes = "\n".join(f"note: {sentence}" for sentence in state.take_departures())
    if notes:
        blocks = cast("list[object]", found["content"])
        found["content"] = [*blocks, {"type": "text", "text": notes}]


def failure(error: WhereinError | OSError) -> dict[str, object]:
    """Return the result of a call that could not be answered: why, and how to mend it."""
    lines = [str(error)]
    hint = getattr(error, "hint", "")
    if hint:
        lines.append(f"hint: {hint}")
    return {"content": [{"type": "text", "text": "\n".join(lines)}], "isError": True}


def _success(
    tool: Tool, result: object, budget: int, state: ServerState
) -> tuple[dict[str, object], int | None]:
    """Return the answer, and how many of the things the session remembers are in it."""
    rendered = render(tool.name, result, _STYLE)
    fitted = fit(rendered, budget)
    structured, n_copied = _structured(tool, result, rendered, fitted.n_parts, budget)
    text = fitted.text or "nothing found\n"
    found: dict[str, object] = {
        "content": [{"type": "text", "text": text.rstrip("\n")}],
        "structuredContent": structured,
        "isError": False,
    }
    meta = _meta(result, state)
    if meta:
        found["_meta"] = meta
    return found, _n_shown(tool, fitted, n_copied)


def _n_shown(tool: Tool, fitted: Fitted, n_copied: int) -> int | None:
    """Return None for all. A cut answer counts only where a part is a thing of its own.

    Some agents are shown the text and some the structured copy: what either lacks is not shown.
    """
    if not fitted.is_cut and n_copied >= fitted.n_parts:
        return None
    n_whole = fitted.n_parts - 1 if fitted.is_cut else fitted.n_parts
    return max(min(n_whole, n_copied), 0) if tool.rows == "hits" else 0


def _structured(
    tool: Tool, result: object, rendered: Rendered, n_parts: int, budget: int
) -> tuple[dict[str, object], int]:
    """Return the structured copy, what the text shows within the same budget, and its parts."""
    kept = n_parts
    while True:
        found = cast("dict[str, object]", _slim(to_json(trimmed(tool, result, rendered, kept))))
        found = {name: item for name, item in found.items() if name not in _META_FIELDS}
        found = for_model(tool, found)
        if kept <= 0 or count_tokens(dump(found)) <= budget:
            return found, kept
        kept -= max(1, kept // 8)


def _slim(value: object) -> object:
    """Leave out fields that say nothing: null, empty, and false."""
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        slimmed = {name: _slim(item) for name, item in items}
        return {name: item for name, item in slimmed.items() if not _says_nothing(item)}
    if isinstance(value, list):
        return [_slim(item) for item in cast("list[object]", value)]
    return value


def _says_nothing(value: object) -> bool:
    return value is None or value is False or value in ("", [], {})


def _meta(result: object, state: ServerState) -> dict[str, object]:
    """Return what programs may want to know; nothing but the snapshot when all is well."""
    meta: dict[str, object] = {}
    snapshots = cast("Mapping[str, str]", getattr(result, "snapshots", {}))
    if snapshots:
        meta["snapshot"] = {show_path(name): value for name, value in snapshots.items()}
    uncovered = cast("tuple[str, ...]", getattr(result, "not_covered", ()))
    if uncovered:
        meta["not_covered"] = [show_path(name) for name in uncovered[:_MAX_SKIPPED_SHOWN]]
        meta["n_not_covered"] = len(uncovered)
    skipped = cast("tuple[object, ...]", getattr(result, "skipped", ()))
    if skipped:
        meta["n_skipped"] = len(skipped)
        meta["skipped"] = to_json(skipped[:_MAX_SKIPPED_SHOWN])
    if state.indexing.is_running:
        progress = state.indexing.progress
        meta["indexing"] = {
            "n_done": progress.files_done if progress else 0,
            "n_total": progress.files_total if progress else 0,
            "unit": progress.unit if progress else "files",
        }
    if state.indexing.error:
        meta["indexing_error"] = state.indexing.error
    return {f"{_META_PREFIX}{name}": value for name, value in meta.items()}
