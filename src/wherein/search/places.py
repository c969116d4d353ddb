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

__all__ = ["Place", "choose_place", "lines_between", "matched_lines", "telling_texts"]

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
    chunks = matches.rows[rows]
    lines = index.lines_in(file)[chunks - int(index.chunk_offsets[file])]
    scores = place_scores(matches, rows, lines, similarities)
    order = np.argsort(-scores, kind="stable")
    near = order[scores[order] >= scores[order[0]] - FURTHER_MARGIN]
    if literal_line is not None:
        holds = (lines[:, 0] <= literal_line) & (literal_line <= lines[:, 1])
        near = np.concatenate([np.flatnonzero(holds)[:1], near])
    score_of = dict(zip(chunks.tolist(), scores.tolist(), strict=True))
    named = [
        item
        for item in _named_definitions(index, query, file)
        if item.chunk in score_of and _is_of(matches.kinds, item)
    ]
    named.sort(key=lambda item: (item.definition.kind == _DECLARATION, -score_of[item.chunk]))
    if matches.kinds:
        named += _definitions_of_kinds(matches, file, chunks[near].tolist())
    found = _apart(
        chain(
            ((*_lines(index, item), item) for item in named),
            ((*lines[place].tolist(), int(chunks[place])) for place in near.tolist()),
        )
    )
    place = _place(index, *found[0])
    return replace(place, further=tuple(Span(path, start, end) for start, end, _ in found[1:]))


_DECLARATION = "declaration"
"""A name without its body: what has the body is the place to read."""


def _is_of(kinds: frozenset[str], item: FoundDefinition) -> bool:
    return not kinds or item.definition.kind in kinds


def _definitions_of_kinds(
    matches: Matches, file: int, chunks: Sequence[int]
) -> list[FoundDefinition]:
    """Return the definitions of the kinds asked for in some chunks, those like the query first."""
    weights = matches.term_weights
    place_of = {chunk: place for place, chunk in enumerate(chunks)}

    def key(item: FoundDefinition) -> tuple[int, float]:
        terms = set(identifier_terms(item.definition.name))
        return place_of[item.chunk], -sum(sorted(weights.get(term, 0.0) for term in terms))

    found = matches.index.definitions_in(file)
    return sorted(
        (item for item in found if item.chunk in place_of and _is_of(matches.kinds, item)), key=key
    )


_Range = tuple[int, int, FoundDefinition | int]
"""First and last line, and the definition or the ordinal of the chunk that they are."""


def _apart(ranges: Iterable[_Range]) -> list[_Range]:
    """Return the first ranges that share no line with an earlier one, as many as are shown."""
    kept: list[_Range] = []
    for item in ranges:
        if all(item[1] < start or end < item[0] for start, end, _ in kept):
            kept.append(item)
        if len(kept) > MAX_FURTHER:
            break
    return kept


def _place(index: TreeIndex, start: int, end: int, source: FoundDefinition | int) -> Place:
    if isinstance(source, int):
        chunk = index.chunk(source)
        return Place(source, start, end, chunk.symbol, chunk.kind, chunk.signature)
    found = source.definition
    return Place(source.chunk, start, end, found.name, found.kind, found.signature)


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


def lines_between(content: str, start_line: int, end_line: int) -> list[str]:
    """Return the lines of a place, both ends included; what follows them is not split."""
    return content.split("\n", end_line)[start_line - 1 : end_line]


def telling_texts(lines: Sequence[str], first_line: int, numbers: Iterable[int]) -> dict[int, str]:
    """Return the text of the lines ``numbers`` and of the first that is not blank, by number."""
    head = next((number for number, line in enumerate(lines, first_line) if line.strip()), None)
    wanted = [*numbers, *([head] if head is not None else [])]
    return {
        number: lines[number - first_line]
        for number in wanted
        if 0 <= number - first_line < len(lines)
    }
