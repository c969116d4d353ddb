"""Turns results into JSON: one object a line for programs, one value for the server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from wherein.walk.paths import show_path

__all__ = ["dump", "to_json"]

_PATH_FIELDS = frozenset({"path", "paths", "repository", "root", "not_covered", "files"})
"""Fields that hold paths; they are shown as everywhere, so that they can be handed back."""


def to_json(value: object, name: str = "") -> object:
    """Return ``value`` as JSON's types; frozen values become objects of their public fields."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Enum):
        return cast("object", value.value)
    if isinstance(value, str):
        return show_path(value) if name in _PATH_FIELDS else value
    if isinstance(value, Path):
        return show_path(str(value))
    return _container(value, name)


def _container(value: object, name: str) -> object:
    if is_dataclass(value):
        return {item: to_json(getattr(value, item), item) for item in _public_names(type(value))}
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {str(key): to_json(item) for key, item in items}
    if isinstance(value, Iterable):
        found = [to_json(item, name) for item in cast("Iterable[object]", value)]
        is_unordered = isinstance(value, set | frozenset)
        return sorted(found, key=str) if is_unordered else found
    message = f"no JSON for {type(value).__name__}"
    raise TypeError(message)


@lru_cache(maxsize=256)
def _public_names(kind: type[object]) -> tuple[str, ...]:
    return tuple(
        field.name for field in fields(cast("Any", kind)) if not field.name.startswith("_")
    )


def dump(value: object) -> str:
    """Return JSON on one line; what is not Unicode is written as escapes, so it stays valid."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))
    for separator in ("\u2028", "\u2029", "\u0085"):
        text = text.replace(separator, f"\\u{ord(separator):04x}")
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
