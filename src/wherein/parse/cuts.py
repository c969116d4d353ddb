"""Where a file may be cut, with the depth of each place in the syntax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wherein.parse.spans import Source, Span

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["find_cuts"]

_LARGE_BYTES = 1000
"""Nodes up to this size are not looked into: they fit into a chunk of the usual 1,500 characters
(smaller ones are cut by lines), and looking into all of them would cost as much as the parse."""

_MAX_DEPTH = 100
"""Bounds the work of splitting 100,000 nested braces; people do not nest this deep."""

_MAX_CUTS = 200_000
"""Bounds a file that is one list of a million items; the rest is cut by lines."""

_BLANKS = frozenset(b" \t\n")


def find_cuts(source: Source, root: Node, heads: Sequence[Span]) -> list[tuple[int, int]]:
    """Return ``(offset, depth)`` in order, offsets at line starts wherever a line starts with it.

    A node in the middle of a line is a cut only when it is large, as in minified code. No cut
    stands between a definition and the comments and decorators above it.

    Args:
        source: The text.
        root: Root of its syntax tree.
        heads: For each definition with something above it: where that begins, where itself begins.
    """
    text = source.text
    depths: dict[int, int] = {}
    level: list[Node] = [root]
    for depth in range(_MAX_DEPTH):
        large: list[Node] = []
        for node in level:
            for child in node.children:
                start, end = child.byte_range
                is_large = end - start > _LARGE_BYTES
                if is_large:
                    large.append(child)
                elif start and text[start - 1] not in _BLANKS:
                    continue
                line_start = source.indented_from(start)
                if line_start is not None:
                    depths.setdefault(line_start, depth)
                elif is_large:
                    depths.setdefault(start, depth)
        if not large or len(depths) > _MAX_CUTS:
            break
        level = large
    for head in heads:
        _join_leading(source, head, depths)
    depths.pop(0, None)
    return sorted(depths.items())


def _join_leading(source: Source, head: Span, depths: dict[int, int]) -> None:
    """Move the cut before the definition up to the first line of its comments."""
    start, place = source.line_start(head[0]), source.line_start(head[1])
    found: int | None = None
    while place > start:
        depth = depths.pop(place, None)
        if depth is not None:
            found = depth if found is None else min(found, depth)
        place = source.line_start(place - 1)
    if found is not None:
        depths[start] = min(found, depths.get(start, found))
