"""Puts one table into a TOML file, touching no other byte."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import cast

from wherein.errors import UsageError

__all__ = ["with_toml_table", "without_toml_table"]

_BOM = "\ufeff"
"""Editors on Windows write it; readers of TOML skip it, Python's does not."""

_HAND = "mend the file by hand, then run install again"


def with_toml_table(text: str, table: str, name: str, values: Mapping[str, object]) -> str:
    """Return ``text`` with ``[table.name]`` at its end, or replaced where it stands.

    Raises:
        UsageError: The file does not parse, or holds the table in a form that cannot be added to.
    """
    before = _parsed(text)
    if _tables(before, table).get(name) == dict(values):
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    bare = _cut(text, table, name)
    lines = [f"[{table}.{name}]", *(f"{key} = {_toml(value)}" for key, value in values.items())]
    gap = "" if not bare else newline if bare.endswith("\n") else newline * 2
    new = bare + gap + newline.join(lines) + newline
    expected = {**before, table: {**_tables(before, table), name: dict(values)}}
    if not _says(new, expected):
        message = f"[{table}.{name}] cannot be added to this file"
        raise UsageError(message, hint=_HAND)
    return new


def without_toml_table(text: str, table: str, name: str) -> str:
    """Return ``text`` without ``[table.name]`` and its subtables.

    Raises:
        UsageError: The file does not parse, or holds the table in a form that cannot be cut.
    """
    if name not in text:
        return text
    before = _parsed(text)
    rest = {key: value for key, value in _tables(before, table).items() if key != name}
    bare = _cut(text, table, name)
    others = {key: value for key, value in before.items() if key != table}
    if not _says(bare, {**others, table: rest} if rest else others, empty=table):
        message = f"[{table}.{name}] cannot be taken out of this file"
        raise UsageError(message, hint="take it out by hand")
    return bare


def _cut(text: str, table: str, name: str) -> str:
    header = re.compile(
        rf"(?:\r?\n)?^\[{re.escape(table)}\.\"?{re.escape(name)}\"?(?:\.[^\]\n]*)?\][^\n]*\n?"
        rf"(?:(?!\[)[^\n]*\n)*(?:(?!\[)[^\n]+\Z)?",
        re.MULTILINE,
    )
    return header.sub("", text)


def _parsed(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text.removeprefix(_BOM))
    except (ValueError, RecursionError) as error:  # a number may have too many digits
        reason = "it nests too deep" if isinstance(error, RecursionError) else str(error)
        message = f"the file does not parse: {reason}"
        raise UsageError(message, hint=_HAND) from error


def _tables(parsed: Mapping[str, object], table: str) -> dict[str, object]:
    found = parsed.get(table, {})
    if not isinstance(found, dict):
        message = f"{table!r} holds no table"
        raise UsageError(message, hint=_HAND)
    return cast("dict[str, object]", found)


def _says(text: str, expected: Mapping[str, object], *, empty: str = "") -> bool:
    """Return whether the text parses to this; the table ``empty`` may be left empty."""
    try:
        found = tomllib.loads(text.removeprefix(_BOM))
        if empty and not found.get(empty, True):
            del found[empty]
        return found == expected
    except (ValueError, RecursionError):
        return False


def _toml(value: object) -> str:
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in cast("list[object]", value)) + "]"
    return json.dumps(value, ensure_ascii=False)
