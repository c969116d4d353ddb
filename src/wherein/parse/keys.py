"""What a configuration file is divided into: sections and keys, by their indentation."""

from __future__ import annotations

import re
from collections.abc import Callable

from wherein.parse.outline import Entry, outline
from wherein.types import Parsed

__all__ = ["KEYS"]

_MAX_LEVEL = 3
"""Keys further in are not names that anybody asks for; they are places to cut."""

_MAX_NAMED = 2_000
_YAML = re.compile(
    rb"""^([ \t]*)((?:-[ \t]+)*)"""
    rb"""(?:"([^"\n]*)"|'([^'\n]*)'|([^\s#"'\[\]{}&*!|>%@`-][^\n#:]*?))[ \t]*:(?=\s)""",
    re.MULTILINE,
)
_JSON = re.compile(
    rb"""^([ \t]*)()(?:"([^"\n]*)"|'([^'\n]*)'|([A-Za-z_$][\w$]*))[ \t]*:""", re.MULTILINE
)
_SECTION = re.compile(
    rb"""^[ \t]*\[{1,2}[ \t]*([^\]\n]+?)[ \t]*\]{1,2}[ \t]*(?:[#;][^\n]*)?\r?$""", re.MULTILINE
)
_TOML_KEY = re.compile(
    rb"""^()()(?:"([^"\n]*)"|'([^'\n]*)'|([A-Za-z_][\w.-]*))[ \t]*=""", re.MULTILINE
)
_PROPERTY = re.compile(
    rb"""^()()(?:"([^"\n]*)"|'([^'\n]*)'|([A-Za-z_][\w.-]*))[ \t]*[=:]""", re.MULTILINE
)
_HASH_COMMENT = re.compile(rb"^[ \t]*[#;][^\n]*", re.MULTILINE)
_SLASH_COMMENT = re.compile(rb"^[ \t]*//[^\n]*", re.MULTILINE)


def _indented(pattern: re.Pattern[bytes], comment: re.Pattern[bytes]) -> Callable[[bytes], Parsed]:
    """Return a reader of keys nested by indentation."""

    def read(text: bytes) -> Parsed:
        entries: list[Entry] = []
        columns: list[tuple[int, bool]] = []
        n_named = 0
        for match in pattern.finditer(text):
            column = len(match.group(1).expandtabs(8)) + len(match.group(2))
            is_listed = bool(match.group(2))
            while columns and columns[-1][0] >= column:
                is_listed = is_listed or (columns[-1][0] == column and columns[-1][1])
                columns.pop()
            is_listed = is_listed or bool(columns and columns[-1][1])
            columns.append((column, is_listed))
            level = len(columns)
            is_named = level <= _MAX_LEVEL and n_named < _MAX_NAMED and not is_listed
            n_named += is_named
            entries.append(Entry(match.start(), level, _key(match), "key", is_named))
        return outline(text, entries, [m.span() for m in comment.finditer(text)])

    return read


def _sectioned(key: re.Pattern[bytes]) -> Callable[[bytes], Parsed]:
    """Return a reader of ``[section]`` lines with keys under them."""

    def read(text: bytes) -> Parsed:
        entries = [
            Entry(match.start(), 1, match.group(1).decode("utf-8", "replace"))
            for match in _SECTION.finditer(text)
        ]
        level = 2 if entries else 1
        first = entries[0].start if entries else len(text)
        keys = [
            Entry(match.start(), 1 if match.start() < first else level, _key(match), "key")
            for match in key.finditer(text)
        ]
        entries = sorted([*entries, *keys[:_MAX_NAMED]], key=lambda entry: entry.start)
        return outline(text, entries, [m.span() for m in _HASH_COMMENT.finditer(text)])

    return read


def _key(match: re.Match[bytes]) -> str:
    quoted, single, plain = match.group(3), match.group(4), match.group(5)
    return (quoted or single or plain or b"").decode("utf-8", "replace").strip()


KEYS: dict[str, Callable[[bytes], Parsed]] = {
    "ini": _sectioned(_PROPERTY),
    "json": _indented(_JSON, _SLASH_COMMENT),
    "json5": _indented(_JSON, _SLASH_COMMENT),
    "jsonc": _indented(_JSON, _SLASH_COMMENT),
    "properties": _sectioned(_PROPERTY),
    "toml": _sectioned(_TOML_KEY),
    "yaml": _indented(_YAML, _HASH_COMMENT),
}
"""Language of configuration to its reader."""
