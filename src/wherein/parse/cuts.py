"""Where a file may be cut, with the depth of each place in the syntax."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from wherein.parse.spans import Source, Span

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["order_cuts", "walk_large"]

_LARGE_BYTES = 1000
"""Nodes up to this size are not looked into: they fit into a chunk of the usual 1,500 characters
(smaller ones are cut by lines), and looking into all of them would cost as much as the parse."""

_MAX_CUT_DEPTH = 100
"""Bounds the work of splitting 100,000 nested braces; people do not nest this deep."""

_MAX_CUTS = 200_000
"""Bounds a file that is one list of a million items; the rest is cut by lines."""

_MAX_QUERY_STEPS = 500_000_000
"""A query's cursor looks, at every node, at the ancestors and at the later siblings up to the next
named one. 100,000 open braces are that many nameless siblings: 7 s. Real code stays under a
hundredth of this bound, which is half a second."""

_MANY_CHILDREN = 2_000
_BLANKS = frozenset(b" \t\n")


def walk_large(source: Source, root: Node) -> tuple[dict[int, int], bool]:
    """Return the cuts with their depths, and whether a query would take too long.

    A node that begins a line cuts at the line's start, one in the middle of a line only when it is
    large, as in minified code.
    """
    text = source.text
    depths: dict[int, int] = {}
    level: list[Node] = [root]
    n_nodes = root.descendant_count
    depth, steps = 0, 0
    while level and steps <= _MAX_QUERY_STEPS:
        large: list[Node] = []
        is_cut = depth < _MAX_CUT_DEPTH and len(depths) < _MAX_CUTS
        for node in level:
            children = node.children
            if len(children) > _MANY_CHILDREN:
                steps += _sibling_steps(children)
            for child in children:
                start, end = child.byte_range
                is_large = end - start > _LARGE_BYTES
                if is_large:
                    large.append(child)
                elif start and text[start - 1] not in _BLANKS:
                    continue
                if is_cut:
                    line_start = source.indented_from(start)
                    if line_start is not None:
                        depths.setdefault(line_start, depth)
                    elif is_large:
                        depths.setdefault(start, depth)
        level = large
        depth += 1
        steps += n_nodes
    return depths, steps > _MAX_QUERY_STEPS


def _sibling_steps(children: Sequence[Node]) -> int:
    """Return how many later siblings the cursor looks at: a run of n nameless ones costs n * n."""
    runs = groupby(children, key=attrgetter("is_named"))
    return sum(len(list(run)) ** 2 for is_named, run in runs if not is_named) // 2


def order_cuts(
    source: Source, depths: dict[int, int], heads: Sequence[Span]
) -> list[tuple[int, int]]:
    """Return ``(offset, depth)`` in order, none between a definition and what is above it.

    Args:
        source: The text.
        depths: From `walk_large`.
        heads: For each definition with comments or decorators above it: where those begin, and
            where itself begins.
    """
    for head in heads:
        _join_leading(source, head, depths)
    depths.pop(0, None)
    return sorted(depths.items())


def _join_leading(source: Source, head: Span, depths: dict[int, int]) -> None:
    """Move the cut before the definition up to the first line of its comments."""
    newlines = source.newlines
    first, last = bisect_left(newlines, head[0]), bisect_left(newlines, head[1])
    found = [depths.pop(end + 1) for end in newlines[first:last] if end + 1 in depths]
    if found:
        start = newlines[first - 1] + 1 if first else 0
        depths[start] = min(*found, depths.get(start, found[0]))
