"""Names the definitions of a file: which one a line lies in, and which ones a name means."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wherein.errors import PathError, UsageError, near_name_hint
from wherein.settings import Settings
from wherein.tools.excerpt import visible
from wherein.tools.file_filter import FileFilter
from wherein.tools.file_paths import Scope, resolve_place
from wherein.types import Definition
from wherein.walk.paths import show_path

__all__ = ["SymbolFinder", "definitions_in", "definitions_named", "full_name", "symbol_lines"]

MAX_PARSED_BYTES = 2_000_000
"""Larger files are data; parsing them takes a second and more."""


def full_name(definition: Definition) -> str:
    """Return the name with those of the definitions around it: ``Ledger.post``."""
    return ".".join((*definition.enclosing, definition.name))


def definitions_in(root: Path, path: str) -> tuple[Definition, ...]:
    """Return the definitions of one file, parsed from its bytes as they are now.

    Raises:
        PathError: The file is gone or may not be read.
    """
    from wherein.parse.tags import parse
    from wherein.walk.encoding import decode
    from wherein.walk.language import detect_language
    from wherein.walk.reading import read_file

    read = read_file(root, path, MAX_PARSED_BYTES + 1)
    if len(read.data) > MAX_PARSED_BYTES:
        return ()
    decoded = decode(read.data)
    language = detect_language(path, read.data[:8192])
    if decoded is None or language is None:
        return ()
    return parse(decoded.text.encode("utf-8", "replace"), language).definitions


def definitions_named(
    definitions: Sequence[Definition], symbol: str, path: str
) -> list[Definition]:
    """Return the definitions in ``path`` that ``symbol`` names: by full name or the end of one.

    ``Ledger.post``, ``Ledger::post`` and ``post`` name the same; case counts only where it tells
    definitions apart.

    Raises:
        UsageError: There is none.
    """
    found = _matching(definitions, symbol)
    if found:
        return found
    message = f"{show_path(path)!r} defines no {visible(symbol)!r}"
    names = sorted({definition.name for definition in definitions})
    last = _components(symbol)[-1:]
    hint = near_name_hint(last[0] if last else "", names)
    listed = ", ".join(names[:20]) + ("…" if len(names) > 20 else "")
    fallback = f"it defines {listed}" if names else "no definitions are known in it"
    raise UsageError(message, hint=hint or fallback)


def symbol_lines(settings: Settings, root: Path, path: str, symbol: str) -> tuple[int, int]:
    """Return the first and last line, from 1, of the first definition that ``symbol`` names.

    Raises:
        PathError: The file is gone, or one whose names are not told: it holds secrets.
        UsageError: There is no such definition.
    """
    reason = FileFilter(settings, root).refusal(path, is_named=True)
    if reason:
        message = f"{show_path(path)!r} is not shown: {reason}"
        raise PathError(message, hint="files that hold secrets are never read")
    first = definitions_named(definitions_in(root, path), symbol, path)[0]
    return first.start_line, first.end_line


def _components(symbol: str) -> list[str]:
    for separator in ("::", "#", "/", " ", "->"):
        symbol = symbol.replace(separator, ".")
    return [part for part in symbol.removesuffix("()").split(".") if part]


def _matching(definitions: Sequence[Definition], symbol: str) -> list[Definition]:
    """Return the definitions whose full name is or ends in ``symbol``, exact case first."""
    exact = [d for d in definitions if d.name == symbol]
    if exact:
        return exact
    asked = _components(symbol)
    if not asked:
        return []
    for fold in (str, str.casefold):
        wanted = [fold(part) for part in asked]
        found = [
            d
            for d in definitions
            if [fold(part) for part in (*d.enclosing, d.name)][-len(wanted) :] == wanted
        ]
        if found:
            return found
    return []


class SymbolFinder:
    """Finds the definitions around lines; parses each file once."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._definitions: dict[str, tuple[Definition, ...]] = {}

    def enclosing_names(self, path: str, lines: Sequence[int]) -> list[str]:
        """Return for each line the full name of the innermost definition around it, or empty."""
        definitions = self._of(path)
        return [_innermost(definitions, line) for line in lines]

    def _of(self, path: str) -> tuple[Definition, ...]:
        found = self._definitions.get(path)
        if found is None:
            try:
                place = resolve_place(self._scope, path)
                found = definitions_in(place.root, place.path)
            except PathError:
                found = ()
            self._definitions[path] = found
        return found


def _innermost(definitions: Sequence[Definition], line: int) -> str:
    around = [d for d in definitions if d.start_line <= line <= d.end_line]
    if not around:
        return ""
    return full_name(min(around, key=lambda d: (d.end_line - d.start_line, -d.start_byte)))
