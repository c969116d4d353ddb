"""What the team says and what the code calls it: lines of a glossary, and queries widened by them.

Search may widen a query with the same function: ``expand(query, words_of(lines))`` gives names of
the code that are looked for besides the query's own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from wherein.tokens import identifier_terms, scan_words

__all__ = ["GlossaryLine", "expand", "format_line", "parse_line", "said_terms", "words_of"]

_LINE = re.compile(
    r"^\s*[-*+]\s+(?P<said>\S.*?)\s+(?:→|->)\s+`(?P<name>[^`]+)`\s+in\s+(?P<path>\S.*?)\s*$"
)


@dataclass(frozen=True, slots=True)
class GlossaryLine:
    """One line: people say this, the code says that."""

    said: str
    name: str
    path: str
    """The file that defines or holds the name, relative to the repository's top."""


def format_line(line: GlossaryLine) -> str:
    """Return the line as it stands in a file for agents."""
    return f"- {line.said} → `{line.name}` in {line.path}"


def parse_line(text: str) -> GlossaryLine | None:
    """Return what `format_line` wrote, or a person in the same form; None for any other text."""
    found = _LINE.match(text)
    return GlossaryLine(found["said"], found["name"], found["path"]) if found else None


def said_terms(said: str) -> frozenset[str]:
    """Return the terms that a text must hold for a line to count."""
    return frozenset(term for word in scan_words(said) for term in identifier_terms(word))


def words_of(lines: Iterable[GlossaryLine]) -> dict[str, tuple[str, ...]]:
    """Return what is said to the names in the code, in the order of the lines."""
    found: dict[str, tuple[str, ...]] = {}
    for line in lines:
        known = found.get(line.said, ())
        if line.name not in known:
            found[line.said] = (*known, line.name)
    return found


def expand(query: str, glossary: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names of the code that ``query`` speaks of, without those it holds itself.

    A key counts when all its words stand in the query, in any form and order (``refunds`` for
    ``refund``). Keys of more words come first: they are surer.

    Args:
        query: What is asked.
        glossary: What is said to the names in the code, see `words_of`.
    """
    if not glossary:
        return []
    asked = said_terms(query)
    found: list[tuple[int, str]] = []
    for said, names in glossary.items():
        wanted = said_terms(said)
        if wanted and wanted <= asked:
            found.extend((-len(wanted), name) for name in names)
    found.sort(key=lambda item: item[0])
    return [name for name in dict.fromkeys(name for _, name in found) if name not in query]
