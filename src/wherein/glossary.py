"""What the team says and what the code calls it: lines of a glossary, and queries widened by them.

Search and the scripted grep searcher of `wherein replay` widen a request with the same lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from wherein.tokens import identifier_terms, scan_words

__all__ = [
    "MAX_LINES",
    "Glossary",
    "GlossaryLine",
    "expand",
    "format_line",
    "parse_line",
    "said_terms",
    "words_of",
]

# The groups end with what is no space: a line of nothing but spaces costs no more than its length.
_LINE = re.compile(
    r"^\s*[-*+]\s+(?P<said>\S(?:.*?\S)?)\s+(?:→|->)\s+`(?P<name>[^`]+)`"
    r"\s+in\s+(?P<path>\S(?:.*\S)?)\s*$"
)
_IDENTIFIER = re.compile(r"(?:.*[.:#>])?([^\W\d][\w$]*)[!?]?(?:\(\))?")

MAX_LINES = 1000
"""Lines that widen a query: the largest budget of `wherein glossary` holds half as many."""

_MAX_CHARS = 200
"""A longer name or saying is a mistake, or meant to cost time."""

_MAX_NAMES = 8
"""Names added to one query: more would drown its own words."""


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
    keys = [(said_terms(said), names) for said, names in glossary.items()]
    return _spoken_of(query, keys)


def _spoken_of(query: str, keys: Iterable[tuple[frozenset[str], Sequence[str]]]) -> list[str]:
    asked = said_terms(query)
    found = [
        (-len(wanted), name)
        for wanted, names in keys
        if wanted and wanted <= asked
        for name in names
    ]
    found.sort(key=lambda item: item[0])
    return [name for name in dict.fromkeys(name for _, name in found) if name not in query]


class Glossary:
    """Lines made ready to widen many queries.

    Only identifiers are looked for, of a qualified name the last part; other lines are left out.

    Args:
        lines: The first `MAX_LINES` count.
    """

    def __init__(self, lines: Iterable[GlossaryLine]) -> None:
        usable: list[GlossaryLine] = []
        for line in islice(lines, MAX_LINES):
            found = _IDENTIFIER.fullmatch(line.name) if len(line.name) <= _MAX_CHARS else None
            if found is not None and len(line.said) <= _MAX_CHARS:
                usable.append(replace(line, name=found[1]))
        self._keys = [(said_terms(said), names) for said, names in words_of(usable).items()]

    def names_for(self, query: str) -> tuple[str, ...]:
        """Return the names to look for besides the query's own words, at most eight."""
        return tuple(_spoken_of(query, self._keys)[:_MAX_NAMES]) if self._keys else ()
