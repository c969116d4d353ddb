"""Writes the JSON schemas of a tool's arguments and of what it returns, from the registry."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from wherein.tools.registry import Face, Parameter, ParameterType, Tool, load

__all__ = ["input_schema", "output_schema", "row_schema", "schema_of"]

_TYPES: Mapping[ParameterType, dict[str, object]] = {
    ParameterType.TEXT: {"type": "string"},
    ParameterType.TEXTS: {"type": "array", "items": {"type": "string"}},
    ParameterType.INTEGER: {"type": "integer"},
    ParameterType.NUMBER: {"type": "number"},
    ParameterType.FLAG: {"type": "boolean"},
}

_SCALARS: Mapping[object, dict[str, object]] = {
    str: {"type": "string"},
    Path: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
}


def input_schema(tool: Tool, face: Face = Face.MCP) -> dict[str, object]:
    """Return the JSON Schema of the arguments; names it lacks are refused."""
    parameters = tool.for_face(face)
    schema: dict[str, object] = {
        "type": "object",
        "properties": {item.name: _property(item) for item in parameters},
        "additionalProperties": False,
    }
    required = [item.name for item in parameters if item.is_required]
    if required:
        schema["required"] = required
    return schema


def _property(parameter: Parameter) -> dict[str, object]:
    kind = ParameterType.TEXT if parameter.takes_one else parameter.type
    schema: dict[str, object] = dict(_TYPES[kind])
    if parameter.choices:
        target = cast("dict[str, object]", schema.get("items", schema))
        target["enum"] = list(parameter.choices)
    if parameter.minimum is not None:
        schema["minimum"] = int(parameter.minimum)
    if parameter.maximum is not None:
        schema["maximum"] = int(parameter.maximum)
    default = parameter.default
    if default is not None and default != ():
        schema["default"] = default
    schema["description"] = parameter.help
    return schema


def output_schema(tool: Tool) -> dict[str, object]:
    """Return the JSON Schema of the structured answer; fields that say nothing may be absent."""
    return schema_of(load(tool.result), is_slim=True)


def row_schema(tool: Tool) -> dict[str, object]:
    """Return the JSON Schema of one line of ``--json``."""
    result = load(tool.result)
    if not tool.rows:
        return schema_of(result)
    hints = _hints(result)
    items = [schema_of(get_args(hints[name])[0]) for name in tool.rows.split("|")]
    return items[0] if len(items) == 1 else {"anyOf": items}


def schema_of(hint: object, *, is_slim: bool = False) -> dict[str, object]:
    """Return the JSON Schema of a type.

    Args:
        hint: A frozen value's class, or any annotation its fields have.
        is_slim: True when fields that say nothing (null, empty) may be absent.
    """
    if hint in _SCALARS:
        return dict(_SCALARS[hint])
    if not isinstance(hint, type) or get_origin(hint) is not None:
        return _generic(cast("object", hint), is_slim=is_slim)
    if issubclass(hint, Enum):
        return {"type": "string", "enum": [cast("object", item.value) for item in hint]}
    kind = cast("type[object]", hint)
    return _object(kind, is_slim=is_slim) if is_dataclass(kind) else {}


def _object(hint: type, *, is_slim: bool) -> dict[str, object]:
    hints = _hints(hint)
    names = [field.name for field in fields(cast("Any", hint)) if not field.name.startswith("_")]
    schema: dict[str, object] = {
        "type": "object",
        "properties": {name: schema_of(hints[name], is_slim=is_slim) for name in names},
        "additionalProperties": False,
    }
    if not is_slim:
        schema["required"] = names
    return schema


def _hints(owner: object) -> dict[str, object]:
    """Return a class's annotations.

    A name that is imported for the type checker alone stands for any value: loading its module
    (numpy) would cost more than the schema is worth.
    """
    unknown: dict[str, object] = {}
    while True:
        try:
            return get_type_hints(owner, localns=unknown)
        except NameError as error:
            unknown[str(error.name)] = object


def _generic(hint: object, *, is_slim: bool) -> dict[str, object]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        options = [schema_of(item, is_slim=is_slim) for item in arguments]
        return {"anyOf": options}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {
            "type": "object",
            "additionalProperties": schema_of(arguments[1], is_slim=is_slim),
        }
    if isinstance(origin, type) and issubclass(origin, Sequence | set | frozenset):
        return {"type": "array", "items": _items(arguments, is_slim=is_slim)}
    return {}


def _items(arguments: tuple[object, ...], *, is_slim: bool) -> dict[str, object]:
    """Return the schema of a sequence's items; a tuple of several types allows any of them."""
    distinct = list(dict.fromkeys(item for item in arguments if item is not Ellipsis))
    if len(distinct) == 1:
        return schema_of(distinct[0], is_slim=is_slim)
    return {"anyOf": [schema_of(item, is_slim=is_slim) for item in distinct]}
