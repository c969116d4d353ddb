"""Chooses the place to show in each file: its best chunk, further places, telling lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from wherein.search.matches import Matches
from wherein.search.place_scores import place_scores
from wherein.search.query import Query
from wherein.store.tree_index import FoundDefinition, TreeIndex
from wherein.tokens import identifier_terms, scan_words
from wherein.types import Span

__all__ = ["Place", "choose_place", "matched_lines"]

MAX_FURTHER = 2
"""Further places shown of one file."""

FURTHER_MARGIN = 2.0
"""A further place is at most this much less likely than the best chunk, as a difference of
log-odds: with it one of the places shown is right as often as one of the three best chunks."""


@dataclass(frozen=True, slots=True)
class Place:
    """What is shown of a file."""

    chunk: int
    """Ordinal of the chunk, -1 for a file without one."""
    start_line: int
    end_line: int
    symbol: str
    kind: str
    signature: str
    further: tuple[Span, ...] = ()


def choose_place(
    matches: Matches,
    query: Query,
    row: int,
    similarities: NDArray[np.float32] | None,
    literal_line: int | None = None,
) -> Place:
    """Return the best place in a candidate file.

    A definition of a name in the query comes first, then the line of a quoted text, then the chunks
    by `place_scores`.
    """
    index, file = matches.index, int(matches.files[row])
    start = int(matches.starts[row])
    rows = np.arange(start, start + int(matches.sizes[row]) - 1)
    rows = rows[matches.allowed[rows]]
    path = index.path(file)
    if not len(rows):
        return Place(-1, 1, max(index.file(file).n_lines, 1), "", "file", "")
    ordinals = matches.rows[rows].tolist()
    scores = place_scores(matches, rows, similarities)
    of_chunk = dict(zip(ordinals, scores.tolist(), strict=True))
    named = [item for item in _named_definitions(index, query, file) if item.chunk in of_chunk]
    named.sort(key=lambda item: -of_chunk[item.chunk])
    first = [_definition_place(index, item) for item in named]
    likely = np.argsort(-scores, kind="stable")
    if literal_line is not None:
        first += [
            _chunk_place(index, chunk)
            for chunk in ordinals
            if index.chunk(chunk).start_line <= literal_line <= index.chunk(chunk).end_line
        ][:1]
    near = likely[scores[likely] >= scores[likely[0]] - FURTHER_MARGIN]
    rest = (_chunk_place(index, ordinals[place]) for place in near[: 1 + MAX_FURTHER + len(first)])
    best, *others = _apart((*first, *rest), 1 + MAX_FURTHER)
    return replace(
        best, further=tuple(Span(path, other.start_line, other.end_line) for other in others)
    )


def _apart(places: Iterable[Place], limit: int) -> list[Place]:
    """Return the first ``limit`` places that share no line with an earlier one."""
    kept: list[Place] = []
    for place in places:
        if len(kept) == limit:
            break
        if all(place.end_line < k.start_line or k.end_line < place.start_line for k in kept):
            kept.append(place)
    return kept


def _named_definitions(index: TreeIndex, query: Query, file: int) -> list[FoundDefinition]:
    """Return the definitions of the query's names in a file: qualified ones first."""
    found: list[FoundDefinition] = []
    for *outer, name in query.qualified:
        found += [
            item
            for item in index.definitions_of(file, name)
            if item.definition.enclosing[-len(outer) :] == tuple(outer)
        ]
    for name in query.symbols:
        found += index.definitions_of(file, name)
    if not found and query.is_symbol:
        found += index.definitions_of(file, query.words[0], ignore_case=True)
    return list({(item.chunk, item.definition.start_byte): item for item in found}.values())


def _definition_place(index: TreeIndex, item: FoundDefinition) -> Place:
    start, end = _lines(index, item)
    found = item.definition
    return Place(item.chunk, start, end, found.name, found.kind, found.signature)


def _chunk_place(index: TreeIndex, ordinal: int) -> Place:
    chunk = index.chunk(ordinal)
    return Place(
        ordinal, chunk.start_line, chunk.end_line, chunk.symbol, chunk.kind, chunk.signature
    )


MAX_DEFINITION_LINES = 300
"""A definition up to this long is shown whole, so that reading the range reads all of it; of a
longer one (a class of thousands of lines) the first chunk is the better place to begin."""


MIN_HEAD_LINES = 10
"""Of a very long definition at least so many lines are shown: its first chunk may end with its
first line, when what stands before it was small enough to be in the same chunk."""


def _lines(index: TreeIndex, item: FoundDefinition) -> tuple[int, int]:
    """Return the definition's lines, of a very long one as far as its first chunks go."""
    definition = item.definition
    if definition.end_line - definition.start_line < MAX_DEFINITION_LINES:
        return definition.start_line, definition.end_line
    chunk, end = item.chunk, definition.start_line
    while end - definition.start_line < MIN_HEAD_LINES - 1:
        end = min(index.chunk(chunk).end_line, definition.end_line)
        chunk += 1
    return definition.start_line, end


MAX_LINES = 5


def matched_lines(
    lines: Sequence[str], first_line: int, weights: dict[str, float], limit: int = MAX_LINES
) -> tuple[int, ...]:
    """Return the lines with most of the query's idf, most telling first.

    Args:
        lines: The place's lines.
        first_line: Number of the first of them.
        weights: Term to idf.
        limit: Lines returned at most.
    """
    scored: list[tuple[float, int]] = []
    wanted = weights.keys()
    for number, line in enumerate(lines, start=first_line):
        words = set(scan_words(line[:1000]))
        found = wanted & set(chain.from_iterable(map(identifier_terms, words)))
        if found:
            # Sorted: the sum's last bit must not depend on the order of a set.
            score = sum(sorted(weights[term] for term in found))
            scored.append((-score, number))
    scored.sort()
    return tuple(number for _, number in scored[:limit])
