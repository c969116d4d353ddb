"""Puts one table into a TOML file, or one entry into a YAML file, touching no other byte."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import cast

from wherein.errors import UsageError

__all__ = ["with_toml_table", "with_yaml_entry", "without_toml_table", "without_yaml_entry"]

_HAND = "mend the file by hand, then run install again"


def with_toml_table(text: str, table: str, name: str, values: Mapping[str, object]) -> str:
    """Return ``text`` with ``[table.name]`` at its end, or replaced where it stands.

    Raises:
        UsageError: The file does not parse, or holds the table in a form that cannot be added to.
    """
    before = _parsed(text)
    if cast("dict[str, object]", before.get(table, {})).get(name) == dict(values):
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    bare = without_toml_table(text, table, name)
    lines = [f"[{table}.{name}]", *(f"{key} = {_toml(value)}" for key, value in values.items())]
    gap = "" if not bare else newline if bare.endswith("\n") else newline * 2
    new = bare + gap + newline.join(lines) + newline
    expected = {**before, table: {**cast("dict[str, object]", before.get(table, {}))}}
    cast("dict[str, object]", expected[table])[name] = dict(values)
    if _parsed(new) != expected:
        message = f"[{table}.{name}] cannot be added to this file"
        raise UsageError(message, hint=_HAND)
    return new


def without_toml_table(text: str, table: str, name: str) -> str:
    """Return ``text`` without ``[table.name]`` and its subtables."""
    header = re.compile(
        rf"(?:\r?\n)?^\[{re.escape(table)}\.\"?{re.escape(name)}\"?(?:\.[^\]\n]*)?\][^\n]*\n?"
        rf"(?:(?!\[)[^\n]*\n)*(?:(?!\[)[^\n]+\Z)?",
        re.MULTILINE,
    )
    return header.sub("", text)


def _parsed(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = f"the file does not parse: {error}"
        raise UsageError(message, hint=_HAND) from error


def _toml(value: object) -> str:
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in cast("list[object]", value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def with_yaml_entry(text: str, key: str, name: str, entry: Mapping[str, object]) -> str:
    """Return ``text`` with an entry below the top-level ``key``, a mapping or a list of names.

    An entry with a ``name`` field of its own goes into a list (``- name: …``), any other into a
    mapping (``name: …``). It becomes the first below the key, which is added when absent.
    """
    bare = without_yaml_entry(text, key, name)
    newline = "\r\n" if "\r\n" in text else "\n"
    found = re.search(
        rf"^{re.escape(key)}:[ \t]*([^\n#]*?)[ \t]*(#[^\n]*)?\r?$", bare, re.MULTILINE
    )
    if found is None:
        gap = "" if not bare or bare.endswith("\n") else newline
        lines = [f"{key}:", *_yaml_lines(name, entry, "  ")]
        return bare + gap + newline.join(lines) + newline
    if found.group(1):
        return _into_flow(bare, found, name, entry)
    end = bare.find("\n", found.start())
    at = len(bare) if end < 0 else end + 1
    lines = _yaml_lines(name, entry, _yaml_indent(bare[at:]))
    gap = newline if end < 0 else ""
    return bare[:at] + gap + newline.join(lines) + newline + bare[at:]


def _into_flow(text: str, found: re.Match[str], name: str, entry: Mapping[str, object]) -> str:
    """Put the entry into ``key: {…}`` or ``key: […]`` as JSON, which is YAML."""
    value = found.group(1)
    if value[0] not in "{[":
        message = f"{name!r} cannot be added below a single value"
        raise UsageError(message, hint=_HAND)
    flow = json.dumps(dict(entry), ensure_ascii=False)
    new = flow if value[0] == "[" else f"{name}: {flow}"
    at = found.start(1) + 1
    return text[:at] + new + ("" if value in {"{}", "[]"} else ", ") + text[at:]


def _yaml_indent(rest: str) -> str:
    """Return the indentation of what stands below the key now; two blanks when nothing does."""
    for line in rest.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            indent = line[: len(line) - len(line.lstrip(" "))]
            return indent if indent or line.startswith("- ") else "  "
    return "  "


def _yaml_lines(name: str, entry: Mapping[str, object], indent: str) -> list[str]:
    items = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    if entry.get("name") == name and "type" not in entry:
        return [f"{indent}- {items[0]}", *(f"{indent}  {item}" for item in items[1:])]
    return [f"{indent}{name}:", *(f"{indent}  {item}" for item in items)]


def without_yaml_entry(text: str, key: str, name: str) -> str:
    """Return ``text`` without the entry below ``key``; the key itself stays."""
    section = re.search(rf"^{re.escape(key)}:[^\n]*\n", text, re.MULTILINE)
    if section is None:
        return text
    start = section.end()
    quoted = rf"[\"']?{re.escape(name)}[\"']?"
    entry = re.compile(
        rf"^([ \t]*)(?:- name: {quoted}|{quoted}:)[ \t]*\r?\n(?:\1[ ]+[^\n]*(?:\n|\Z))*",
        re.MULTILINE,
    )
    found = entry.search(text, start)
    between = text[start : found.start()] if found else ""
    if found is None or re.search(r"^[^\s#-]", between, re.MULTILINE):
        return text
    return text[: found.start()] + text[found.end() :]
