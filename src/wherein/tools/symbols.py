"""Names the definitions of a file: which one a line lies in, and where one of a name is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wherein.errors import PathError
from wherein.tools.file_paths import Scope, resolve_place
from wherein.types import Definition

__all__ = ["SymbolFinder", "definitions_in", "full_name"]

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
