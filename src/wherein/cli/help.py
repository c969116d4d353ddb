"""The help texts, written from the registry."""

from __future__ import annotations

import inspect
import textwrap

from wherein.cli.arguments import COMMON, flags_of, off_flags_of
from wherein.cli.commands import commands
from wherein.tools.registry import Face, Parameter, ParameterType, Tool, load

__all__ = ["command_help", "option_words", "overview", "usage"]

_WIDTH = 88
_COLUMN = 30


def overview() -> str:
    """Return the help of ``wherein`` itself."""
    lines = [
        "wherein: where in this code base is it? by name, meaning, structure and history",
        "",
        "usage: wherein COMMAND …",
        "",
        "commands:",
    ]
    for command in commands():
        lines.extend(_entry(command.name.replace("_", "-"), command.title.lower()))
    lines += [
        "",
        "wherein COMMAND --help says more; every command takes --json.",
        "exit codes: 0 found, 1 nothing found, 2 error",
        "",
    ]
    return "\n".join(lines)


def usage(tool: Tool) -> str:
    """Return the one-line usage of a command."""
    words = [f"wherein {tool.name.replace('_', '-')}"]
    for item in tool.for_face(Face.CLI):
        if item.is_positional:
            name = item.metavar or item.name.upper()
            is_list = item.type is ParameterType.TEXTS and not item.takes_one
            name = f"{name}…" if is_list else name
            words.append(name if item.is_required else f"[{name}]")
    return " ".join([*words, "[options]"])


def command_help(tool: Tool) -> str:
    """Return the help of one command."""
    lines = [f"usage: {usage(tool)}", "", *textwrap.wrap(tool.summary, _WIDTH)]
    text = inspect.getdoc(load(tool.function)) or ""
    body = text.split("\nArgs:")[0].split("\nReturns:")[0].split("\nRaises:")[0].strip()
    for paragraph in body.split("\n\n"):
        lines += ["", *textwrap.wrap(" ".join(paragraph.split()), _WIDTH)]
    lines += ["", "options:"]
    for item in (*tool.for_face(Face.CLI), *COMMON):
        lines.extend(_entry(option_words(item), _explained(item)))
    return "\n".join([*lines, ""])


def option_words(parameter: Parameter) -> str:
    """Return how an argument is written: ``-n, --limit N`` or ``PATH…``."""
    name = parameter.metavar or parameter.name.upper()
    flags = ", ".join((*flags_of(parameter), *off_flags_of(parameter)))
    if parameter.is_positional and not flags:
        return f"{name}…" if parameter.type is ParameterType.TEXTS else name
    if parameter.type is ParameterType.FLAG:
        return flags
    return f"{flags} {'|'.join(parameter.choices) or name}"


def _explained(parameter: Parameter) -> str:
    default = parameter.default
    if default in (None, (), "") or isinstance(default, bool):
        return parameter.help
    return f"{parameter.help} (default: {default})"


def _entry(left: str, right: str) -> list[str]:
    wrapped = textwrap.wrap(right, _WIDTH - _COLUMN)
    if len(left) > _COLUMN - 4:
        return [f"  {left}", *(f"{'':{_COLUMN}}{line}" for line in wrapped)]
    first, *others = wrapped or [""]
    return [f"  {left:{_COLUMN - 2}}{first}", *(f"{'':{_COLUMN}}{line}" for line in others)]
