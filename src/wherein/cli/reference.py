"""Writes the reference pages and the JSON schemas from the registry.

``python -m wherein.cli.reference FOLDER`` writes them; a test checks that they are as they would be
written.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import cast

from wherein.cli.arguments import COMMON
from wherein.cli.commands import commands
from wherein.cli.help import command_help, option_words, overview
from wherein.settings import SETTING_HELP, USER_ONLY, Settings
from wherein.tools.registry import Face, Tool, tools
from wherein.tools.schema import input_schema, output_schema, row_schema

__all__ = ["pages", "write"]

_HOME = Path("~/.cache/wherein")
"""The usual one; `settings.default_home` has the whole rule."""

_NOTE = "<!-- made by `python -m wherein.cli.reference`; do not edit -->\n"


def pages() -> dict[str, str]:
    """Return path (from the repository's root) to text of every generated file."""
    made = {
        "docs/reference/cli.md": _cli_page(),
        "docs/reference/mcp.md": _mcp_page(),
        "docs/reference/json.md": _json_page(),
        "docs/reference/settings.md": _settings_page(),
        "docs/reference/signals.md": _signals_page(),
    }
    for tool in commands():
        if tool.result:
            text = json.dumps(_schema(tool), indent=2, sort_keys=True)
            made[f"src/wherein/schemas/{tool.name}.json"] = f"{text}\n"
    return made


def _schema(tool: Tool) -> dict[str, object]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"one line of `wherein {_word(tool)} --json`",
        **row_schema(tool),
    }


def _word(tool: Tool) -> str:
    return tool.name.replace("_", "-")


def _cli_page() -> str:
    parts = ["# The command line\n", _NOTE, "```text", overview().rstrip(), "```\n"]
    for tool in commands():
        parts += [f"## wherein {_word(tool)}\n", "```text", command_help(tool).rstrip(), "```\n"]
    return "\n".join(parts)


def _mcp_page() -> str:
    parts = [
        "# The MCP server's tools\n",
        _NOTE,
        "All of them only read. Names that other tools use for an argument are understood as well;"
        " an unknown name is refused with the near one.\n",
    ]
    for tool in tools(Face.MCP):
        parts += [f"## {tool.name}: {tool.title}\n", tool.description() + "\n"]
        rows = [
            (
                f"`{item.name}`" + (" (required)" if item.is_required else ""),
                _type(cast("Mapping[str, Mapping[str, object]]", _properties(tool))[item.name]),
                item.help,
                ", ".join(f"`{alias}`" for alias in item.aliases),
            )
            for item in tool.for_face(Face.MCP)
        ]
        parts.append(_table(("argument", "type", "meaning", "also understood"), rows))
    return "\n".join(parts)


def _properties(tool: Tool) -> object:
    return input_schema(tool)["properties"]


def _type(schema: Mapping[str, object]) -> str:
    inner = cast("Mapping[str, object]", schema.get("items", schema))
    words = " or ".join(f"`{item}`" for item in cast("Sequence[str]", inner.get("enum", ())))
    words = words or str(inner.get("type", "any"))
    if "items" in schema:
        words = f"list of {words}"
    if "default" in schema:
        words += f", default `{json.dumps(schema['default'])}`"
    if "maximum" in schema:
        words += f", {schema.get('minimum', 0)} to {schema['maximum']}"
    return words


def _json_page() -> str:
    parts = [
        "# JSON for programs\n",
        _NOTE,
        "`--json` prints one object a line on standard output. The schemas are installed with the"
        " program, in its folder `schemas`. Paths are relative to the folder that was searched,"
        " with `/`; hidden characters in them are escaped, and every tool takes them back as they"
        " are shown. Lines are counted from 1 and both ends are included.\n",
    ]
    for tool in commands():
        if not tool.result:
            continue
        schema = row_schema(tool)
        options = cast("list[dict[str, object]]", schema.get("anyOf", [schema]))
        parts.append(f"## wherein {_word(tool)} --json\n")
        parts.extend(_table(("field", "type"), _field_rows(option)) for option in options)
    parts += ["## Structured answers of the server\n"]
    parts.extend(
        f"* `{tool.name}`: "
        + ", ".join(f"`{name}`" for name in cast("dict[str, object]", _output(tool)))
        for tool in tools(Face.MCP)
    )
    return "\n".join(parts) + "\n"


def _output(tool: Tool) -> object:
    return output_schema(tool).get("properties", {})


def _field_rows(schema: Mapping[str, object]) -> list[tuple[str, ...]]:
    properties = cast("dict[str, dict[str, object]]", schema.get("properties", {}))
    return [(f"`{name}`", _any_type(item)) for name, item in properties.items()]


def _any_type(schema: Mapping[str, object]) -> str:
    if "anyOf" in schema:
        options = cast("list[Mapping[str, object]]", schema["anyOf"])
        return " or ".join(dict.fromkeys(_any_type(option) for option in options))
    if schema.get("type") == "array":
        return f"list of {_any_type(cast('Mapping[str, object]', schema['items']))}"
    if "enum" in schema:
        return " or ".join(f"`{item}`" for item in cast("list[str]", schema["enum"]))
    if "properties" in schema:
        names = cast("dict[str, object]", schema["properties"])
        return "object with " + ", ".join(f"`{name}`" for name in names)
    return str(schema.get("type", "any"))


def _settings_page() -> str:
    defaults = Settings(home=Path("/"))
    rows = [
        (
            f"`{field.name}`",
            f"`{_shown(_HOME if field.name == 'home' else getattr(defaults, field.name))}`",
            SETTING_HELP[field.name],
            f"`WHEREIN_{field.name.upper()}`",
            "user only" if field.name in USER_ONLY else "",
        )
        for field in fields(defaults)
    ]
    head = (
        "Later places win: defaults, `~/.config/wherein/wherein.toml`, the repository's"
        " `wherein.toml` (or `[tool.wherein]` in `pyproject.toml`), environment variables, and"
        " `--set NAME=VALUE`. A repository's own file may not set what is marked *user only*: it"
        " could widen what is read, or name a program or a service. Its `ignore` and `deny` are"
        " added to the user's. Another repository that is searched has its own file; a running"
        " server reads the files anew when they change. `wherein config` prints every value and"
        " where it came from.\n"
    )
    common = "\n".join(f"* `{option_words(item)}`: {item.help}" for item in COMMON)
    table = _table(("setting", "default", "meaning", "environment", ""), rows)
    return "\n".join(
        ["# Settings\n", _NOTE, head, table, "## Options of every command\n", common, ""]
    )


_LATER_SIGNALS = {
    "h_knn": "0..1: votes of the commits whose messages are likest the query, over the most voted",
    "h_knn_rr": "0..1: 6 / (5 + rank) by those votes",
    "h_doc_rr": "0..1: 6 / (5 + rank) by BM25 of all the file's messages as one document",
    "reranker": "what an optional reranker says of the file's place, on the scale of the others",
}
"""Signals that are not there in every search: of earlier commits, and of a reranker."""


def _signals_page() -> str:
    from wherein.search.signal_groups import glossary
    from wherein.search.signals import SIGNALS

    meanings = {**SIGNALS, **glossary.SIGNALS, **_LATER_SIGNALS}
    head = (
        "A file's score is the sum of its signals, each times its weight."
        " `wherein search --explain` shows the largest parts, signed; with `--json` all that are"
        " not zero. The weights are in `search/data/weights.json`, one set for each of with and"
        " without earlier commits and"
        " vectors, or [your own](../guide/fit.md). BM25F and BM25 are the usual formulas for words,"
        " idf is how rare a word is; the *telling name* of a file is its name without endings, or"
        " its folder's for an index file.\n"
    )
    rows: list[tuple[str, str, str]] = []
    for name, text in meanings.items():
        extent, colon, meaning = text.partition(": ")
        rows.append((f"`{name}`", extent if colon else "", meaning if colon else text))
    return "\n".join(["# Signals\n", _NOTE, head, _table(("signal", "range", "meaning"), rows)])


def _shown(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    return json.dumps(list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([*lines, ""])


def write(folder: Path) -> list[str]:
    """Write every generated file below ``folder`` and return the names of those that changed."""
    changed: list[str] = []
    for name, text in pages().items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            changed.append(name)
    return changed


if __name__ == "__main__":
    for changed_name in write(Path(sys.argv[1] if len(sys.argv) > 1 else ".")):
        sys.stdout.write(f"{changed_name}\n")
