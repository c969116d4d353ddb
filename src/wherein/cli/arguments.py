"""Turns what was typed after a command into the arguments of its tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wherein.errors import UsageError, near_name_hint
from wherein.tools.registry import Face, Parameter, ParameterType, Tool

__all__ = ["COMMON", "Typed", "flags_of", "known_flags", "off_flags_of", "read_typed"]

COMMON: tuple[Parameter, ...] = (
    Parameter("json", ParameterType.FLAG, "print JSON, one object a line", flags=("--json",)),
    Parameter(
        "root",
        ParameterType.TEXT,
        "folder that paths start at and may not leave (default: the repository around here)",
        flags=("--root",),
        metavar="DIR",
    ),
    Parameter(
        "color",
        ParameterType.TEXT,
        "when to colour",
        default="auto",
        choices=("auto", "always", "never"),
        flags=("--color", "--colour"),
    ),
    Parameter(
        "set",
        ParameterType.TEXTS,
        "a setting for this call; can be repeated",
        flags=("--set",),
        metavar="NAME=VALUE",
    ),
    Parameter("help", ParameterType.FLAG, "print this help", flags=("-h", "--help")),
)
"""Options that every command takes."""

_PLACES = frozenset({"PATH", "DIR", "TARGET"})
"""Operands that name a file or folder: an empty one is a slip of the shell."""


@dataclass(slots=True)
class Typed:
    """What was typed: arguments of the tool, and the options every command takes."""

    arguments: dict[str, object] = field(default_factory=dict[str, object])
    common: dict[str, object] = field(default_factory=dict[str, object])


def flags_of(parameter: Parameter) -> tuple[str, ...]:
    """Return the options that set ``parameter``; a positional one has those it names."""
    if parameter.flags or parameter.is_positional:
        return parameter.flags
    return (f"--{parameter.name.replace('_', '-')}",)


def off_flags_of(parameter: Parameter) -> tuple[str, ...]:
    """Return the options that set a flag to false."""
    return parameter.off_flags


def known_flags(tool: Tool) -> Mapping[str, Parameter]:
    """Return option to parameter for one command, other names for it last."""
    found: dict[str, Parameter] = {}
    for item in (*COMMON, *tool.for_face(Face.CLI)):
        marks = (mark for mark in item.spellings if mark.startswith("-"))
        found.update(dict.fromkeys((*flags_of(item), *off_flags_of(item), *marks), item))
    for item in tool.for_face(Face.CLI):  # what an agent calls it in a server's tools
        for alias in item.aliases:
            found.setdefault(f"--{alias.lstrip('-').replace('_', '-')}", item)
    return found


def read_typed(tool: Tool, words: Sequence[str]) -> Typed:
    """Return what ``words`` (after the command's name) say.

    Options and operands may come in any order; ``--`` ends the options; short flags may be joined.

    Raises:
        UsageError: An option is unknown (with the near name), a value is missing or left over.
    """
    reader = _Reader(tool, list(words))
    reader.read()
    return reader.finish()


@dataclass(slots=True)
class _Reader:
    tool: Tool
    words: list[str]
    typed: Typed = field(default_factory=Typed)
    operands: list[str] = field(default_factory=list[str])

    def read(self) -> None:
        flags = known_flags(self.tool)
        at = 0
        while at < len(self.words):
            word = self.words[at]
            if word == "--":
                self.operands.extend(self.words[at + 1 :])
                return
            if word.startswith("--"):
                at = self._read_long(flags, word, at)
            elif word.startswith("-") and len(word) > 1:
                at = self._read_short(flags, word, at)
            else:
                self.operands.append(word)
                at += 1

    def _read_long(self, flags: Mapping[str, Parameter], word: str, at: int) -> int:
        name, has_value, value = word.partition("=")
        if name in self.tool.always:
            return at + 1
        parameter = self._find(flags, name)
        if name in parameter.spellings:
            self._target(parameter).setdefault(parameter.name, parameter.spellings[name])
            return at + 1
        if parameter.type is ParameterType.FLAG:
            self._put_flag(parameter, name, value if has_value else "true")
            return at + 1
        if has_value:
            self._put(parameter, value)
            return at + 1
        self._put(parameter, self._value(name, at))
        return at + 2

    def _read_short(self, flags: Mapping[str, Parameter], word: str, at: int) -> int:
        for offset, char in enumerate(word[1:], start=1):
            name = f"-{char}"
            if name in self.tool.always:
                continue
            parameter = self._find(flags, name, word)
            if name in parameter.spellings:
                self._target(parameter).setdefault(parameter.name, parameter.spellings[name])
                continue
            if parameter.type is ParameterType.FLAG:
                self._put_flag(parameter, name, "true")
                continue
            rest = word[offset + 1 :].removeprefix("=")
            self._put(parameter, rest or self._value(name, at))
            return at + 1 if rest else at + 2
        return at + 1

    def _find(self, flags: Mapping[str, Parameter], name: str, word: str = "") -> Parameter:
        if name in flags:
            return flags[name]
        message = f"{self.tool.name} has no option {word or name!r}"
        more = f"see: wherein {self.tool.name} --help; text that starts with a dash goes after --"
        raise UsageError(message, hint=near_name_hint(name, flags, fallback=more))

    def _value(self, name: str, at: int) -> str:
        if at + 1 < len(self.words):
            return self.words[at + 1]
        message = f"{name} needs a value"
        raise UsageError(message, hint=f"see: wherein {self.tool.name} --help")

    def _put_flag(self, parameter: Parameter, name: str, value: str) -> None:
        is_off = name in off_flags_of(parameter)
        self._target(parameter)[parameter.name] = ("false" if is_off else "true", value)[not is_off]

    def _put(self, parameter: Parameter, value: str) -> None:
        target = self._target(parameter)
        if parameter.type is ParameterType.TEXTS:
            held = target.setdefault(parameter.name, [])
            if isinstance(held, list):
                held.append(value)  # pyright: ignore[reportUnknownMemberType]
        else:
            target[parameter.name] = value

    def _target(self, parameter: Parameter) -> dict[str, object]:
        return self.typed.common if parameter in COMMON else self.typed.arguments

    def finish(self) -> Typed:
        """Give the operands to the positional parameters, in order."""
        rest = list(self.operands)
        for item in self.tool.for_face(Face.CLI):
            if not item.is_positional or item.name in self.typed.arguments:
                continue
            if item.type is ParameterType.TEXTS and not item.takes_one:
                taken, rest = rest, []
                if taken:
                    self.typed.arguments[item.name] = taken
            elif rest:
                taken = [rest.pop(0)]
                self.typed.arguments[item.name] = taken[0]
            else:
                continue
            if "" in taken and item.metavar in _PLACES:
                message = f"{item.metavar} is empty"
                hint = "'.' is the folder here; perhaps a variable of the shell is not set"
                raise UsageError(message, hint=hint)
        if rest:
            message = f"{self.tool.name} does not take {rest[0]!r}"
            raise UsageError(message, hint="put a text of several words in quotes")
        return self.typed
