"""A file's chunks: cut by its syntax, each with the symbol it holds or lies in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from wherein.chunk.lines import paragraph_cuts
from wherein.chunk.pieces import join_small, split
from wherein.chunk.sizes import ink_before
from wherein.parse.definitions import CONTAINER_KINDS
from wherein.parse.spans import Source
from wherein.types import Chunk, Definition, Parsed

__all__ = ["CHUNK_VERSION", "chunk_file"]

CHUNK_VERSION = 1
"""Part of the recipe: raise it when the same parse can give other chunks."""

_SMALL_SHARE = 6
"""Pieces below this part of a chunk's size join their neighbours: 250 of 1,500, where a prototype
found its best ranking with pieces under 350 bytes joined."""

_HEADS = CONTAINER_KINDS | {"module", "namespace"}
_PROSE = frozenset({"section"})


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
    ink = ink_before(text)
    definitions = parsed.definitions if parsed else ()
    cuts = list(zip(parsed.cuts, parsed.cut_depths, strict=True)) if parsed else []
    if not cuts:
        cuts = paragraph_cuts(text)
    pieces = split(text, ink, cuts, max_ink)
    ranges = join_small(
        pieces,
        ink,
        max_ink=max_ink,
        small_ink=max_ink // _SMALL_SHARE,
        heads={d.start_byte: d.end_byte for d in definitions if d.kind in _HEADS},
        members={d.start_byte for d in definitions},
    )
    return _label(Source(text), ranges, definitions, is_code=language is not None)


def _label(
    source: Source,
    ranges: Sequence[tuple[int, int]],
    definitions: Sequence[Definition],
    *,
    is_code: bool,
) -> tuple[Chunk, ...]:
    """Return the chunks of ``ranges`` with what they hold or lie in."""
    starts = [start for start, _ in ranges]
    held: list[list[Definition]] = [[] for _ in ranges]
    for definition in definitions:
        place = source.line_offset(definition.name_line)
        place = max(place, definition.start_byte)
        held[bisect_right(starts, place) - 1].append(definition)
    chunks: list[Chunk] = []
    around: list[Definition] = []
    position = 0
    for (start, end), inside in zip(ranges, held, strict=True):
        while position < len(definitions) and definitions[position].start_byte < start:
            around.append(definitions[position])
            position += 1
        around = [definition for definition in around if definition.end_byte > start]
        owner = _owner(inside, around, start, end)
        chunks.append(
            Chunk(
                start_byte=start,
                end_byte=end,
                start_line=source.line_of(start),
                end_line=source.last_line_of(start, end),
                kind=owner.kind if owner else ("code" if is_code else "text"),
                symbol=owner.name if owner else "",
                enclosing=owner.enclosing if owner else (),
                signature=owner.signature if owner else "",
                names=tuple(dict.fromkeys(definition.name for definition in inside)),
            )
        )
    return tuple(chunks)


def _owner(
    inside: Sequence[Definition], around: Sequence[Definition], start: int, end: int
) -> Definition | None:
    """Return the definition a chunk is called after: the largest it holds, else the innermost."""
    if inside:
        return max(
            inside, key=lambda d: (min(d.end_byte, end) - max(d.start_byte, start), -d.start_byte)
        )
    return around[-1] if around else None
