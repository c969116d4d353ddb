"""A file's chunks: cut by its syntax, each with the symbol it holds or lies in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from wherein.chunk.lines import paragraph_cuts
from wherein.chunk.pieces import join_small, split
from wherein.parse.pairing import CONTAINER_KINDS
from wherein.types import Chunk, Definition, Parsed

__all__ = ["CHUNK_VERSION", "chunk_file"]

CHUNK_VERSION = 1
"""Part of the recipe: raise it when the same parse can give other chunks."""

_SMALL_SHARE = 6
"""Pieces below this part of a chunk's size join their neighbours: 250 of 1,500, where a prototype
found its best ranking with pieces under 350 bytes joined."""

_LINE_FEED = 0x0A
_TRANSPARENT = frozenset({"module", "namespace", "section"})
"""Kinds whose members stand apart as if nothing were round them."""

_APART = (
    CONTAINER_KINDS
    | _TRANSPARENT
    | {"constructor", "function", "message", "method", "resource", "service", "table", "view"}
)
_HEADS = CONTAINER_KINDS | {"module", "namespace"}


def chunk_file(
    text: bytes, language: str | None, parsed: Parsed | None, chunk_chars: int
) -> tuple[Chunk, ...]:
    """Return the chunks of one file; concatenated they are ``text``.

    Args:
        text: The file as UTF-8.
        language: Grammar name, None for text without one.
        parsed: `parse.tags.parse` of the same text, or None.
        chunk_chars: Most characters of a chunk, white space not counted.

    Returns:
        Chunks in order, none without text. An empty file has none.
    """
    if not text:
        return ()
    max_ink = max(chunk_chars, 1)
    definitions = parsed.definitions if parsed else ()
    cuts = list(zip(parsed.cuts, parsed.cut_depths, strict=True)) if parsed else []
    if not cuts:
        cuts = paragraph_cuts(text)
    places = _places(text, [0, *(offset for offset, _ in cuts)], definitions)
    ranges = join_small(
        split(text, cuts, max_ink, _apart(definitions, places)),
        max_ink=max_ink,
        small_ink=max_ink // _SMALL_SHARE,
        heads={p: d.end_byte for d, p in zip(definitions, places, strict=True) if d.kind in _HEADS},
        members={p for d, p in zip(definitions, places, strict=True) if d.kind in _APART},
    )
    return _label(text, ranges, definitions, "text" if language is None else "code")


def _places(text: bytes, cuts: Sequence[int], definitions: Sequence[Definition]) -> list[int]:
    """Return the cut at which each definition begins (its line's start), -1 where there is none."""
    places: list[int] = []
    for definition in definitions:
        cut = cuts[bisect_right(cuts, definition.start_byte) - 1]
        places.append(-1 if text[cut : definition.start_byte].strip() else cut)
    return places


def _apart(definitions: Sequence[Definition], places: Sequence[int]) -> frozenset[int]:
    """Return the cuts that always divide: functions and classes not inside another, and headings.

    Two functions that would fit into one chunk are two chunks all the same; what is small is
    joined later. A class that fits stays whole.
    """
    apart: set[int] = set()
    inside_until = 0
    for definition, place in zip(definitions, places, strict=True):
        if definition.start_byte < inside_until or definition.kind not in _APART:
            continue
        apart.add(place)
        if definition.kind not in _TRANSPARENT:
            inside_until = definition.end_byte
    return frozenset(apart)


def _label(
    text: bytes,
    ranges: Sequence[tuple[int, int]],
    definitions: Sequence[Definition],
    default_kind: str,
) -> tuple[Chunk, ...]:
    """Return the chunks of ``ranges`` with what they hold or lie in."""
    lines = _lines(text, ranges)
    held = _held(ranges, lines, definitions)
    chunks: list[Chunk] = []
    around: list[Definition] = []
    position = 0
    for (start, end), (start_line, end_line), inside in zip(ranges, lines, held, strict=True):
        while position < len(definitions) and definitions[position].start_byte < start:
            around.append(definitions[position])
            position += 1
        around = [definition for definition in around if definition.end_byte > start]
        owner = _owner(inside, around, start, end)
        chunks.append(
            Chunk(
                start_byte=start,
                end_byte=end,
                start_line=start_line,
                end_line=end_line,
                kind=owner.kind if owner else default_kind,
                symbol=owner.name if owner else "",
                enclosing=owner.enclosing if owner else (),
                signature=owner.signature if owner else "",
                names=tuple(dict.fromkeys([definition.name for definition in inside])),
            )
        )
    return tuple(chunks)


def _lines(text: bytes, ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the first and last line of each range."""
    lines: list[tuple[int, int]] = []
    line = 1
    for start, end in ranges:
        first = line
        line += text.count(b"\n", start, end)
        lines.append((first, line - (text[end - 1] == _LINE_FEED)))
    return lines


def _held(
    ranges: Sequence[tuple[int, int]],
    lines: Sequence[tuple[int, int]],
    definitions: Sequence[Definition],
) -> list[list[Definition]]:
    """Return the definitions whose name stands in each range."""
    starts = [start for start, _ in ranges]
    held: list[list[Definition]] = [[] for _ in ranges]
    for definition in definitions:
        index = bisect_right(starts, definition.start_byte) - 1
        while lines[index][1] < definition.name_line:
            index += 1
        held[index].append(definition)
    return held


def _owner(
    inside: Sequence[Definition], around: Sequence[Definition], start: int, end: int
) -> Definition | None:
    """Return the definition a chunk is called after: the largest it holds, else the innermost."""
    if inside:
        return max(
            inside, key=lambda d: (min(d.end_byte, end) - max(d.start_byte, start), -d.start_byte)
        )
    return around[-1] if around else None
