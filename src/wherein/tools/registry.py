"""What a tool is, and which tools there are: the command line, the server and the docs ask here."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from math import isnan
from typing import cast

from wherein.errors import UsageError

__all__ = [
    "MAX_TOKENS",
    "Face",
    "Parameter",
    "ParameterType",
    "Tool",
    "get_tool",
    "load",
    "read_arguments",
    "tool_names",
    "tools",
]


class Face(StrEnum):
    """Where a tool or parameter can be used."""

    CLI = "cli"
    MCP = "mcp"


class ParameterType(StrEnum):
    """The shapes an argument can have."""

    TEXT = "text"
    TEXTS = "texts"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"


BOTH_FACES = (Face.CLI, Face.MCP)

_MAX_TEXT_CHARS = 200_000
"""A longer argument is a mistake or an attack; a query of 100 KB is allowed."""

_TRUE_WORDS = frozenset({"true", "1", "yes", "on"})
_FALSE_WORDS = frozenset({"false", "0", "no", "off"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool, the same for every face."""

    name: str
    type: ParameterType
    help: str
    default: object = None
    is_required: bool = False
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    aliases: tuple[str, ...] = ()
    """Other names agents use for it; accepted, not advertised."""
    spellings: Mapping[str, str] = field(default_factory=dict[str, str])
    """What else is written for a choice: another value (``files_with_matches``), or, with a dash,
    an option without a value (``-n``) that chooses it where the parameter itself is not given."""
    flags: tuple[str, ...] = ()
    """Options of the command line; ``--name`` when empty and not positional."""
    off_flags: tuple[str, ...] = ()
    """Options that set a flag to false (``--no-tests``)."""
    is_positional: bool = False
    takes_one: bool = False
    """A list that takes one operand only; more come from its options."""
    metavar: str = ""
    faces: tuple[Face, ...] = BOTH_FACES


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool or command, defined once."""

    name: str
    title: str
    summary: str
    """One line with the words that make somebody choose the tool."""
    function: str
    """``module:function``; its docstring is the text a model reads."""
    result: str
    """``module:class`` of the frozen value it returns; empty when it reports itself."""
    parameters: tuple[Parameter, ...] = ()
    rows: str = ""
    """Field of the result that ``--json`` prints one object a line of, ``a|b`` for the first that
    is not empty; empty prints the whole."""
    faces: tuple[Face, ...] = BOTH_FACES
    is_read_only: bool = True
    foreign: Mapping[str, str] = field(default_factory=dict[str, str])
    """Arguments that other tools of its kind have and it has not: what to write instead."""
    may_name_roots: bool = True
    """On the command line, whether a person may name repositories anywhere. False where operands
    are paths: they stay inside the root, as those of a server's tools do."""
    always: tuple[str, ...] = ()
    """Options that programs like it need for what this one always does: they change nothing."""

    def parameter(self, name: str) -> Parameter:
        """Return the parameter called ``name``."""
        return next(item for item in self.parameters if item.name == name)

    def for_face(self, face: Face) -> tuple[Parameter, ...]:
        """Return the parameters ``face`` offers."""
        return tuple(item for item in self.parameters if face in item.faces)

    def description(self) -> str:
        """Return the summary and the function's docstring, up to its ``Args:``."""
        text = inspect.getdoc(load(self.function)) or ""
        body = text.split("\nArgs:")[0].split("\nRaises:")[0].split("\nReturns:")[0].strip()
        return f"{self.summary}\n\n{body}"


MAX_TOKENS = Parameter(
    "max_tokens",
    ParameterType.INTEGER,
    "most model tokens of the answer; what is cut is said",
    minimum=100,
    maximum=10_000,
    aliases=("token_budget", "budget", "max_output_tokens"),
    metavar="N",
)
"""How much of an answer is shown: read by the face, not handed to the function."""

_CATALOGS = (
    "wherein.tools.catalog",
    "wherein.tools.catalog_exact",
    "wherein.tools.catalog_history",
    "wherein.tools.catalog_structure",
    "wherein.measure.catalog",
)
"""Modules with a table ``TOOLS``, in the order they are shown; one that is not there is left out.

They hold names and words alone, so that listing every tool imports none of them.
"""


def load(path: str) -> Callable[..., object]:
    """Return what ``module:name`` names, importing the module now."""
    module, _, name = path.partition(":")
    return cast("Callable[..., object]", getattr(import_module(module), name))


@lru_cache(maxsize=1)
def _catalogued() -> Mapping[str, Tool]:
    modules = [import_module(name) for name in _CATALOGS if find_spec(name) is not None]
    listed = [cast("tuple[Tool, ...]", module.TOOLS) for module in modules]
    return {tool.name: tool for tool in chain.from_iterable(listed) if _exists(tool.function)}


def _exists(path: str) -> bool:
    """Return True when the module of ``module:name`` is there, without importing it."""
    return find_spec(path.partition(":")[0]) is not None


def tool_names() -> tuple[str, ...]:
    """Return the names of all tools, in the order they are shown."""
    return tuple(_catalogued())


def get_tool(name: str) -> Tool | None:
    """Return the tool called ``name``."""
    return _catalogued().get(name)


def tools(face: Face | None = None) -> tuple[Tool, ...]:
    """Return all tools in the order they are shown, those of one ``face`` when given."""
    found = _catalogued().values()
    return tuple(tool for tool in found if face is None or face in tool.faces)


def read_arguments(
    tool: Tool, raw: Mapping[str, object], face: Face = Face.MCP
) -> dict[str, object]:
    """Return checked keyword arguments for the tool's function, defaults filled in.

    Raises:
        UsageError: A name is unknown, a required argument is missing, or a value has the wrong
            type or range; the message names the argument.
    """
    known: dict[str, Parameter] = {}
    chosen: dict[str, tuple[str, str]] = {}
    for item in tool.for_face(face):
        known.update(dict.fromkeys((item.name, *item.aliases), item))
        chosen.update({mark: (item.name, choice) for mark, choice in item.spellings.items()})
    values: dict[str, object] = {}
    by_mark: dict[str, object] = {}
    for given, value in raw.items():
        name = given if given in known or given in chosen else _snake_case(given)
        if name in chosen and name.startswith("-"):
            if _read_flag(value):
                by_mark.setdefault(*chosen[name])
            continue
        if name not in known:
            message = f"{tool.name} has no argument {given!r}"
            raise UsageError(message, hint=_argument_hint(tool, name, raw, face))
        if value is not None:
            values[known[name].name] = _checked(tool, known[name], value)
    values = {**by_mark, **values}
    for item in tool.for_face(face):
        if item.is_required and item.name not in values:
            message = f"{tool.name} needs the argument {item.name!r}"
            raise UsageError(message, hint=f"{item.name} is {item.help}")
        values.setdefault(item.name, item.default)
    return values


def _snake_case(name: str) -> str:
    """Return ``file_path`` for ``filePath``, as some agents write every argument."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def _argument_hint(tool: Tool, name: str, raw: Mapping[str, object], face: Face) -> str:
    """Return what to write instead of an unknown argument: first of all one that is missing."""
    if name in tool.foreign:
        return tool.foreign[name]
    items = tool.for_face(face)
    missing = [i for i in items if i.is_required and not {i.name, *i.aliases} & set(raw)]
    for among in (missing, items):
        names = {spelled: item.name for item in among for spelled in (item.name, *item.aliases)}
        near = get_close_matches(name, sorted(names), n=1)
        if near:
            return f"did you mean {names[near[0]]!r}?"
        if missing:
            return f"{missing[0].name} is {missing[0].help}"
    return f"its arguments are {', '.join(item.name for item in items)}"


def _checked(tool: Tool, parameter: Parameter, value: object) -> object:
    """Return ``value`` in the parameter's type, or raise `UsageError`."""
    if parameter.type is ParameterType.TEXTS and not parameter.takes_one:
        value = _written_list(value)
    read = _READERS[parameter.type](value)
    if read is None:
        message = f"{tool.name}: {parameter.name} cannot be {_brief(value)}"
        raise UsageError(message, hint=f"{parameter.name} is {_type_words(parameter)}")
    if isinstance(read, str):
        read = parameter.spellings.get(read, read)
    items = cast("tuple[object, ...]", read) if isinstance(read, tuple) else (read,)
    for item in items:
        _check_item(tool, parameter, item)
    return cast("object", read)


def _check_item(tool: Tool, parameter: Parameter, item: object) -> None:
    if parameter.choices and item not in parameter.choices:
        message = f"{tool.name}: {parameter.name} cannot be {_brief(item)}"
        # All of them rather than the nearest: to "insensitive", that is "sensitive".
        folded = str(item).lower()
        is_case = folded in parameter.choices
        hint = f"did you mean {folded!r}?" if is_case else f"it is {_type_words(parameter)}"
        raise UsageError(message, hint=hint)
    if isinstance(item, int | float) and not isinstance(item, bool):
        too_small = parameter.minimum is not None and item < parameter.minimum
        too_large = parameter.maximum is not None and item > parameter.maximum
        if too_small or too_large or isnan(item):
            message = f"{tool.name}: {parameter.name} cannot be {item}"
            raise UsageError(message, hint=f"{parameter.name} is {_type_words(parameter)}")
    if isinstance(item, str) and len(item) > _MAX_TEXT_CHARS:
        message = f"{tool.name}: {parameter.name} has {len(item)} characters"
        raise UsageError(message, hint=f"at most {_MAX_TEXT_CHARS} are read")


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _type_words(parameter: Parameter) -> str:
    if parameter.choices:
        return "one of " + ", ".join(parameter.choices)
    kind = ParameterType.TEXT if parameter.takes_one else parameter.type
    words = {
        ParameterType.TEXT: "a text",
        ParameterType.TEXTS: "a list of texts",
        ParameterType.INTEGER: "a whole number",
        ParameterType.NUMBER: "a number",
        ParameterType.FLAG: "true or false",
    }[kind]
    low, high = parameter.minimum, parameter.maximum
    if low is not None and high is not None:
        return f"{words} from {low:g} to {high:g}"
    if low is not None:
        return f"{words}, at least {low:g}"
    return words


def _read_text(value: object) -> str | None:
    """Return a text, also out of a list of one."""
    texts = _read_texts(value)
    return texts[0] if texts is not None and len(texts) == 1 else None


def _read_texts(value: object) -> tuple[str, ...] | None:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list | tuple):
        items = cast("list[object]", value)
        texts = tuple(item for item in items if isinstance(item, str))
        return texts if len(texts) == len(items) else None
    return None


def _written_list(value: object) -> object:
    """Return the list that a text is in JSON: some clients hand over lists so. Others stay."""
    if not (isinstance(value, str) and value.startswith('["') and value.endswith('"]')):
        return value
    import json

    try:
        return cast("object", json.loads(value))
    except ValueError:
        return value


def _read_integer(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.strip().lstrip("+-").isdecimal() and len(value) < 20:
        return int(value)
    return None


def _read_number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return None


def _read_flag(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        word = value.strip().lower()
        return True if word in _TRUE_WORDS else False if word in _FALSE_WORDS else None
    return None


_READERS: Mapping[ParameterType, Callable[[object], object]] = {
    ParameterType.TEXT: _read_text,
    ParameterType.TEXTS: _read_texts,
    ParameterType.INTEGER: _read_integer,
    ParameterType.NUMBER: _read_number,
    ParameterType.FLAG: _read_flag,
}
