"""Reads one's own labelled queries, and the floors that their figures must reach."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from math import isfinite
from typing import cast

from wherein.errors import PathError, UsageError, near_name_hint
from wherein.tools.context import ToolContext

__all__ = ["CEILINGS", "FLOORS", "KINDS", "BenchQuery", "read_floor", "read_queries"]

KINDS = ("behaviour", "exact", "impact", "past bug")
"""What a query asks: how something works, a name or text, what a change reaches, a bug of old."""

FLOORS = ("recall_at_1", "recall_at_5", "recall_at_10", "precision_at_3", "ndcg_at_10", "mrr")
CEILINGS = ("tokens", "without_right")
"""Figures that must not be less, and that must not be more, than is asked for."""


@dataclass(frozen=True, slots=True)
class BenchQuery:
    """One labelled query."""

    query: str
    expect: tuple[str, ...]
    """``path`` or ``path#Symbol``; any spelling of the end of a symbol's full name."""
    kind: str = "behaviour"


def read_queries(context: ToolContext, file: str) -> tuple[list[BenchQuery], dict[str, float]]:
    """Return the queries and the floors of a file.

    Raises:
        PathError: It cannot be read.
        UsageError: It is not of the form `bench.bench` describes.
    """
    path = context.resolve_folder(file)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{file!r} cannot be read"
        raise PathError(message, hint="give a TOML or JSON file of queries") from error
    try:
        data: object = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # both kinds of decode error are the first
        message = f"{file!r} is not {'JSON' if path.suffix == '.json' else 'TOML'}: {error}"
        raise UsageError(message) from error
    table = cast("dict[str, object]", data) if isinstance(data, dict) else {"query": data}
    rows = table.get("query", table.get("queries"))
    if not isinstance(rows, list) or not rows:
        message = f"{file!r} has no queries"
        raise UsageError(message, hint="write [[query]] tables with query and expect")
    floors = table.get("floors", {})
    if not isinstance(floors, dict):
        message = f"floors of {file!r} are not a table"
        raise UsageError(message, hint="write [floors] with recall_at_10 = 0.8")
    found = [_read_query(row, place) for place, row in enumerate(cast("list[object]", rows), 1)]
    named = cast("dict[str, object]", floors)
    return found, dict(_checked_floor(name, value) for name, value in named.items())


def _read_query(row: object, place: int) -> BenchQuery:
    if not isinstance(row, dict):
        message = f"query {place} is not a table"
        raise UsageError(message, hint="write query = '…' and expect = ['path#Symbol']")
    values = cast("dict[str, object]", row)
    for name in values:
        if name not in {"query", "expect", "kind"}:
            message = f"query {place} has an unknown key {name!r}"
            raise UsageError(message, hint=near_name_hint(name, ("query", "expect", "kind")))
    text, expect, kind = values.get("query"), values.get("expect"), values.get("kind", KINDS[0])
    listed = [expect] if isinstance(expect, str) else expect
    if not isinstance(text, str) or not text.strip():
        message = f"query {place} has no text"
        raise UsageError(message)
    if not isinstance(listed, list) or not listed:
        message = f"query {place} expects nothing"
        raise UsageError(message, hint="write expect = ['path#Symbol']")
    if kind not in KINDS:
        message = f"query {place} has an unknown kind {kind!r}"
        hint = near_name_hint(str(kind), KINDS, fallback=f"one of {', '.join(KINDS)}")
        raise UsageError(message, hint=hint)
    places = tuple(str(item).removeprefix("./") for item in cast("list[object]", listed))
    return BenchQuery(text, places, str(kind))


def read_floor(text: str) -> tuple[str, float]:
    """Return name and value of a floor written as ``recall_at_10=0.8``.

    Raises:
        UsageError: It is not of that form.
    """
    name, _, value = text.partition("=")
    try:
        return _checked_floor(name.strip(), float(value))
    except ValueError as error:
        message = f"{text!r} is no floor"
        raise UsageError(message, hint="write it as recall_at_10=0.8") from error


def _checked_floor(name: str, value: object) -> tuple[str, float]:
    known = (*FLOORS, *CEILINGS)
    if name not in known:
        message = f"unknown floor {name!r}"
        raise UsageError(
            message, hint=near_name_hint(name, known, fallback=f"one of {', '.join(known)}")
        )
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        message = f"floor {name} cannot be {value!r}"
        raise UsageError(message, hint="give a number")
    return name, float(value)
