"""Runs one command: settings, context, the tool's function, and its result on the screen."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from wherein.cli.arguments import COMMON, Typed, read_typed
from wherein.cli.settings_reader import SettingsReader
from wherein.cli.terminal import ProgressBar, is_colored
from wherein.configuration import Configuration, configure, find_root
from wherein.embed.departure import ModelAccess
from wherein.errors import PathError
from wherein.tools.context import ToolContext
from wherein.tools.registry import Face, Tool, load, read_arguments

if TYPE_CHECKING:
    from wherein.render.rendered import Rendered

__all__ = ["Invocation", "run_command"]


@dataclass(frozen=True, slots=True)
class Invocation:
    """What commands that are no tools want to know besides their arguments."""

    context: ToolContext
    configuration: Configuration
    environment: Mapping[str, str]


def run_command(tool: Tool, words: Sequence[str]) -> int:
    """Run ``tool`` with what was typed after its name, and return the exit code."""
    typed = read_typed(tool, words)
    if typed.common.get("help"):
        from wherein.cli.help import command_help

        sys.stdout.write(command_help(tool))
        return 0
    common = _common(typed)
    arguments = read_arguments(tool, typed.arguments, Face.CLI)
    max_tokens = cast("int | None", arguments.pop("max_tokens", None))
    root = _root(cast("str | None", common["root"]))
    flags = cast("tuple[str, ...]", common["set"] or ())
    configuration = configure(root, os.environ, flags)
    for note in configuration.notes:
        sys.stderr.write(f"wherein: note: {note}\n")
    with ProgressBar(is_shown=sys.stderr.isatty()) as bar:
        is_free = common["root"] is None
        context = _context(root, configuration, bar, is_free=is_free, may_name=tool.may_name_roots)
        context = replace(context, settings_of=SettingsReader(os.environ, flags))
        result = _call(tool, context, configuration, arguments)
    if result is None:
        return 0
    if common["json"]:
        return _print_json(tool, result)
    return _print_text(tool, result, max_tokens, cast("str", common["color"]))


def _common(typed: Typed) -> dict[str, object]:
    """Return the checked options that every command takes."""
    shell = Tool("wherein", "", "", "", "", parameters=COMMON)
    return read_arguments(shell, typed.common, Face.CLI)


def _root(name: str | None) -> Path:
    if name is None:
        try:
            return find_root(Path.cwd())
        except OSError as error:
            message = "the current folder is gone or cannot be read"
            raise PathError(message, hint="change to a folder that exists") from error
    path = Path(name).expanduser()
    if not path.is_dir():
        message = f"{name!r} is no folder"
        raise PathError(message, hint="--root names the folder that paths start at")
    return path.resolve()


def _context(
    root: Path, configuration: Configuration, bar: ProgressBar, *, is_free: bool, may_name: bool
) -> ToolContext:
    return ToolContext(
        settings=configuration.settings,
        root=root,
        roots=tuple(Path(name).resolve() for name in configuration.settings.roots),
        standing=Path.cwd().resolve() if is_free else root,
        may_name_roots=is_free and may_name,
        is_patient=True,
        on_progress=bar.report,
        access=ModelAccess(os.environ, lambda departure: bar.note(departure.sentence())),
    )


def _call(
    tool: Tool, context: ToolContext, configuration: Configuration, arguments: dict[str, object]
) -> object:
    function = load(tool.function)
    if _is_own(tool):
        return function(Invocation(context, configuration, os.environ), **arguments)
    return function(context, **arguments)


def _is_own(tool: Tool) -> bool:
    """Return True for commands that exist on the command line only."""
    return tool.function.startswith("wherein.cli.")


def _print_json(tool: Tool, result: object) -> int:
    from wherein.render.json_lines import dump
    from wherein.render.rendered import rows_of

    rows = rows_of(result, tool.rows)
    for row in rows:
        sys.stdout.write(dump(row) + "\n")
    _print_messages(tool, result)
    return _exit_code(result, is_found=bool(rows))


def _print_messages(tool: Tool, result: object) -> None:
    from wherein.render.rendered import messages_of

    for message in messages_of(tool.name, result):
        sys.stderr.write(f"wherein: note: {message}\n")


def _print_text(tool: Tool, result: object, max_tokens: int | None, color: str) -> int:
    from wherein.render.rendered import Style, fit, render

    style = Style(is_colored=is_colored(color, os.environ))
    own = load(f"{tool.function.partition(':')[0]}:render") if _is_own(tool) else None
    rendered = cast("Rendered", own(result, style)) if own else render(tool.name, result, style)
    sys.stdout.write(rendered.whole() if max_tokens is None else fit(rendered, max_tokens).text)
    sys.stdout.flush()
    _print_messages(tool, result)
    return _exit_code(result, is_found=rendered.is_found)


def _exit_code(result: object, *, is_found: bool) -> int:
    """Return 2 for a result that reports a failure itself (doctor), else 0 found, 1 nothing."""
    if getattr(result, "is_failed", False):
        return 2
    return 0 if is_found and not getattr(result, "is_empty", False) else 1
