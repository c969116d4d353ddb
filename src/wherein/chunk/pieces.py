"""Cuts a text into pieces of bounded size: at shallow places first, then by lines, then anywhere.

The method is cAST's (Zhang et al. 2025, "cAST: enhancing code retrieval-augmented generation with
structural chunking via abstract syntax tree"): split what is too large at its children, join
small neighbours. It works on offsets with depths instead of nodes, so prose, configuration and
text without a grammar go the same way.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import accumulate, pairwise

from wherein.chunk.lines import line_cuts
from wherein.chunk.sizes import count_ink

__all__ = ["join_small", "split"]

Piece = tuple[int, int, int, int]
"""First byte, byte after the last, depth of the cut it begins at, size."""

_TINY_SHARE = 4
"""A class head below this part of a small piece (``class A {``) goes with its first member."""


def split(
    text: bytes, cuts: Sequence[tuple[int, int]], max_ink: int, apart: Container[int]
) -> list[Piece]:
    """Return pieces of at most ``max_ink`` that concatenate to ``text``.

    Args:
        text: The file.
        cuts: ``(offset, depth)`` in order, each inside the text.
        max_ink: Largest size, in characters that are not white space.
        apart: Offsets of cuts that no piece may have inside.
    """
    offsets = [0, *(offset for offset, _ in cuts), len(text)]
    depths = [0, *(depth for _, depth in cuts), 0]
    ink = [0, *accumulate(count_ink(text[a:b]) for a, b in pairwise(offsets))]
    n_apart = [0, *accumulate(offset in apart for offset in offsets)]
    pieces: list[Piece] = []
    pending = [(0, len(offsets) - 1)]
    while pending:
        first, last = pending.pop()
        start, end, depth = offsets[first], offsets[last], depths[first]
        size = ink[last] - ink[first]
        if size <= max_ink and n_apart[first + 1] == n_apart[last]:
            pieces.append((start, end, depth, size))
        elif last - first == 1:
            pieces += _by_lines(text, start, end, depth, max_ink)
        else:
            shallowest = min(depths[first + 1 : last])
            inner = range(first + 1, last)
            bounds = [first, *(i for i in inner if depths[i] == shallowest), last]
            pending += reversed(list(pairwise(bounds)))
    return pieces


def _by_lines(text: bytes, start: int, end: int, depth: int, max_ink: int) -> list[Piece]:
    bounds = [start, *line_cuts(text, start, end, max_ink), end]
    # Two deeper than its neighbours: such a piece is joined with its own kind only.
    return [
        (a, b, depth if a == start else depth + 2, count_ink(text[a:b]))
        for a, b in pairwise(bounds)
    ]


def join_small(
    pieces: Sequence[Piece],
    *,
    max_ink: int,
    small_ink: int,
    heads: Mapping[int, int],
    members: Container[int],
) -> list[tuple[int, int]]:
    """Return ranges in which small neighbours of one parent are together.

    Args:
        pieces: From `split`.
        max_ink: Largest size of a range.
        small_ink: A piece from this size on stands alone.
        heads: Start of each definition that is a container (a class) to its end.
        members: Starts of functions and classes.
    """
    joined: list[tuple[int, int]] = []
    group_start, group_depth, group = 0, 0, 0
    for start, end, depth, size in pieces:
        is_small = min(size, group) < small_ink and depth >= group_depth
        leaves_head = (
            start in members
            and heads.get(group_start, 0) > start
            and group >= small_ink // _TINY_SHARE
        )
        fits = bool(joined) and group + size <= max_ink
        if fits and (group == 0 or size == 0 or (is_small and not leaves_head)):
            joined[-1] = (group_start, end)
            group += size
        else:
            joined.append((start, end))
            group_start, group_depth, group = start, depth, size
    return joined
