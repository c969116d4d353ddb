"""Finds the renderer of a result, and fits what it gives into a budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, is_dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from wherein.budget import Fitted, fit_to_budget
from wherein.render.json_lines import dump, to_json
from wherein.tools.registry import Tool

__all__ = [
    "PLAIN",
    "Rendered",
    "Style",
    "fit",
    "for_model",
    "messages_of",
    "render",
    "rows_name",
    "rows_of",
    "trimmed",
]

_COLORS: Mapping[str, str] = {
    "path": "35",
    "line": "32",
    "symbol": "1;34",
    "weak": "33",
    "match": "1;31",
    "dim": "2",
    "bad": "31",
    "good": "32",
}


@dataclass(frozen=True, slots=True)
class Style:
    """How a result is shown."""

    is_colored: bool = False
    detail: str = "concise"
    """``concise`` or ``full``."""
    prefix: str = ""
    """Put before relative paths, so that they open from where the person stands."""
    for_agent: bool = False
    """True for a model: how to go on is said in arguments, not in options."""

    def paint(self, role: str, text: str) -> str:
        """Return ``text`` in the colour of its role, when colour is wanted."""
        return f"\x1b[{_COLORS[role]}m{text}\x1b[0m" if self.is_colored else text


PLAIN = Style()


def _no_foot(_n_shown: int) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A result as text: parts in order of importance, with what goes around them."""

    parts: tuple[str, ...]
    head: str = ""
    foot: Callable[[int], str] = field(default=_no_foot)
    """Given how many parts are shown, returns the last lines (notes, how to go on)."""
    is_found: bool = True
    """False when nothing was found: the command line then ends with 1."""

    def whole(self) -> str:
        """Return the text without a budget."""
        return self.head + "".join(self.parts) + self.foot(len(self.parts))


def render(name: str, result: object, style: Style = PLAIN) -> Rendered:
    """Return the text of a tool's result, from ``render/<name>.py`` (or its rows without one)."""
    module = f"wherein.render.{name}"
    if find_spec(module) is None:
        return Rendered((dump(to_json(result)) + "\n",))
    function = cast("Callable[[object, Style], Rendered]", import_module(module).render)
    return function(result, style)


def fit(rendered: Rendered, budget: int) -> Fitted:
    """Return the text within ``budget`` model tokens."""
    return fit_to_budget(rendered.parts, budget, head=rendered.head, foot=rendered.foot)


def rows_of(result: object, rows: str) -> list[object]:
    """Return the JSON objects that ``--json`` prints: the rows, or the whole result."""
    name = rows_name(result, rows)
    if not name:
        return [to_json(result)]
    return cast("list[object]", to_json(getattr(result, name), name))


def rows_name(result: object, rows: str) -> str:
    """Return the field that holds the rows: the first of ``a|b`` that is not empty."""
    names = rows.split("|")
    return next((name for name in names if name and getattr(result, name)), names[0])


def trimmed(tool: Tool, result: object, rendered: Rendered, n_parts: int) -> object:
    """Return the result with what its first ``n_parts`` parts show.

    ``render/<name>.py`` may have a function ``trim``; without one, a row is a part.
    """
    if n_parts >= len(rendered.parts):
        return result
    own = _own(tool.name, "trim")
    if own is not None:
        return own(result, n_parts)
    name = rows_name(result, tool.rows)
    if not name or not is_dataclass(result) or isinstance(result, type):
        return result
    return replace(result, **{name: getattr(result, name)[: max(n_parts, 0)]})


def for_model(tool: Tool, found: dict[str, object]) -> dict[str, object]:
    """Return a result as JSON without what a model has no use for.

    ``render/<name>.py`` may have a function ``slim``; without one, nothing is left out.
    """
    own = _own(tool.name, "slim")
    return cast("dict[str, object]", own(found)) if own is not None else found


def _own(tool_name: str, function: str) -> Callable[..., object] | None:
    """Return a function that ``render/<name>.py`` may have."""
    module = f"wherein.render.{tool_name}"
    return getattr(import_module(module), function, None) if find_spec(module) else None


def messages_of(name: str, result: object) -> list[str]:
    """Return what the command line says of a result on standard error."""
    module = f"wherein.render.{name}"
    if find_spec(module) is None:
        return []
    function = getattr(import_module(module), "messages", None)
    return cast("list[str]", function(result)) if function is not None else []
