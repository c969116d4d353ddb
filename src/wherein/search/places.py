"""Chooses the place to show in each file: its best chunk, further places, telling lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from wherein.search.matches import Matches
from wherein.search.query import Query
from wherein.store.tree_index import FoundDefinition, TreeIndex
from wherein.tokens import identifier_terms, scan_words
from wherein.types import Chunk, Span

__all__ = ["Place", "choose_place", "matched_lines"]

MAX_FURTHER = 2
"""Further places shown of one file."""

FURTHER_SHARE = 0.6
"""A further place has at least this share of the best chunk's score."""

_DENSE_SHARE = 0.3
"""What the nearest chunk's cosine counts beside the best BM25F, when choosing between chunks."""


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
    further: tuple[Span, ...]


def choose_place(
    matches: Matches,
    query: Query,
    row: int,
    similarities: NDArray[np.float32] | None,
    literal_line: int | None = None,
) -> Place:
    """Return the best place in a candidate file.

    A definition of a name in the query comes first, then the line of a quoted text, then the chunk
    with the best score.
    """
    index, file = matches.index, int(matches.files[row])
    start = int(matches.starts[row])
    rows = np.arange(start, start + int(matches.sizes[row]) - 1)
    rows = rows[matches.allowed[rows]]
    path = index.path(file)
    if not len(rows):
        return Place(-1, 1, max(index.file(file).n_lines, 1), "", "file", "", ())
    named = _named_definitions(index, query, file)
    if named:
        allowed = set(matches.rows[rows].tolist())
        named = [item for item in named if item.chunk in allowed]
    scores = _chunk_scores(matches, rows, similarities)
    if named:
        by_chunk = dict(zip(matches.rows[rows].tolist(), scores.tolist(), strict=True))
        named.sort(key=lambda item: -by_chunk[item.chunk])
        return _definition_place(index, path, named)
    if literal_line is not None:
        for place, chunk in enumerate(matches.rows[rows].tolist()):
            start_line, end_line = index.chunk_lines(chunk)
            if start_line <= literal_line <= end_line:
                scores[place] = np.inf
                break
    order = np.argsort(-scores, kind="stable")
    ordinals = matches.rows[rows[order]].tolist()
    chunk = index.chunk(ordinals[0])
    further = _further(index, path, ordinals, scores[order])
    return Place(
        ordinals[0],
        chunk.start_line,
        chunk.end_line,
        chunk.symbol,
        chunk.kind,
        chunk.signature,
        further,
    )


def _chunk_scores(
    matches: Matches, rows: NDArray[np.int64], similarities: NDArray[np.float32] | None
) -> NDArray[np.float64]:
    scores = matches.scores[rows].astype(np.float64)
    best = scores.max(initial=0.0)
    if best > 0:
        scores /= best
    if similarities is not None:
        near = similarities[matches.rows[rows]].astype(np.float64)
        nearest = near.max(initial=0.0)
        if nearest > 0:
            scores += _DENSE_SHARE * np.clip(near / nearest, 0, 1)
    return scores


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


def _definition_place(index: TreeIndex, path: str, named: Sequence[FoundDefinition]) -> Place:
    first = named[0]
    chunk = index.chunk(first.chunk)
    start, end = _lines(first, chunk)
    further = tuple(
        Span(path, *_lines(item, index.chunk(item.chunk))) for item in named[1 : 1 + MAX_FURTHER]
    )
    definition = first.definition
    return Place(
        first.chunk, start, end, definition.name, definition.kind, definition.signature, further
    )


MAX_DEFINITION_LINES = 300
"""A definition up to this long is shown whole, so that reading the range reads all of it; of a
longer one (a class of thousands of lines) the first chunk is the better place to begin."""


def _lines(item: FoundDefinition, chunk: Chunk) -> tuple[int, int]:
    """Return the definition's lines, of a very long one as far as its first chunk goes."""
    definition = item.definition
    if definition.end_line - definition.start_line < MAX_DEFINITION_LINES:
        return definition.start_line, definition.end_line
    start = max(definition.start_line, chunk.start_line)
    end = max(min(definition.end_line, chunk.end_line), definition.name_line)
    return start, max(start, end)


def _further(
    index: TreeIndex, path: str, ordinals: Sequence[int], scores: NDArray[np.float64]
) -> tuple[Span, ...]:
    """Return the next best chunks that are nearly as good."""
    spans: list[Span] = []
    for ordinal, score in zip(ordinals[1 : 1 + MAX_FURTHER], scores[1:].tolist(), strict=False):
        if score <= 0 or score < FURTHER_SHARE * min(float(scores[0]), 2.0):
            break
        spans.append(Span(path, *index.chunk_lines(ordinal)))
    return tuple(spans)


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
