"""Cuts a text into pieces of bounded size: at shallow places first, then by lines, then anywhere.

The method is cAST's (Zhang et al. 2025, "cAST: enhancing code retrieval-augmented generation with
structural chunking via abstract syntax tree"): split what is too large at its children, join
small neighbours. It works on offsets with depths instead of nodes, so prose, configuration and
text without a grammar go the same way.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Container, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from wherein.chunk.lines import line_cuts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["join_small", "split"]

Piece = tuple[int, int, int]
"""First byte, byte after the last, depth of the cut it begins at."""


def split(
    text: bytes, ink: NDArray[np.uint32], cuts: Sequence[tuple[int, int]], max_ink: int
) -> list[Piece]:
    """Return pieces of at most ``max_ink`` that concatenate to ``text``.

    Args:
        text: The file.
        ink: `sizes.ink_before` of it.
        cuts: ``(offset, depth)`` in order, each inside the text.
        max_ink: Largest size, in characters that are not white space.
    """
    offsets = [offset for offset, _ in cuts]
    depths = dict(cuts)
    sizes = {offset: int(size) for offset, size in zip(offsets, ink[offsets], strict=True)}
    sizes[0], sizes[len(text)] = 0, int(ink[-1])
    pieces: list[Piece] = []
    pending: list[Piece] = [(0, len(text), 0)]
    while pending:
        start, end, depth = pending.pop()
        if sizes[end] - sizes[start] <= max_ink:
            pieces.append((start, end, depth))
            continue
        first, last = bisect_right(offsets, start), bisect_left(offsets, end)
        if first >= last:
            pieces += _by_lines(text, ink, (start, end, depth), max_ink)
            continue
        inner = [(place, depths[place]) for place in offsets[first:last]]
        shallowest = min(level for _, level in inner)
        bounds = [place for place, level in inner if level == shallowest]
        pending.append((bounds[-1], end, shallowest))
        pending += [(bounds[i], bounds[i + 1], shallowest) for i in range(len(bounds) - 2, -1, -1)]
        pending.append((start, bounds[0], depth))
    return pieces


def _by_lines(text: bytes, ink: NDArray[np.uint32], piece: Piece, max_ink: int) -> list[Piece]:
    start, end, depth = piece
    bounds = [start, *line_cuts(text, ink, start, end, max_ink), end]
    # Two deeper than its neighbours: such a piece is joined with its own kind only.
    return [(a, b, depth if a == start else depth + 2) for a, b in pairwise(bounds)]


def join_small(
    pieces: Sequence[Piece],
    ink: NDArray[np.uint32],
    *,
    max_ink: int,
    small_ink: int,
    heads: Mapping[int, int],
    members: Container[int],
) -> list[tuple[int, int]]:
    """Return ranges in which small neighbours of one parent are together.

    Args:
        pieces: From `split`.
        ink: `sizes.ink_before` of the text.
        max_ink: Largest size of a range.
        small_ink: A piece from this size on stands alone.
        heads: Start of each definition that is a container (a class) to its end.
        members: Starts of definitions.
    """
    bounds = [piece[0] for piece in pieces]
    sizes = [*(int(size) for size in ink[bounds]), int(ink[-1])]
    joined: list[tuple[int, int]] = []
    group_start, group_depth, group_index = 0, 0, 0
    for index, (start, end, depth) in enumerate(pieces):
        size = sizes[index + 1] - sizes[index]
        group = sizes[index] - sizes[group_index]
        fits = index > 0 and sizes[index + 1] - sizes[group_index] <= max_ink
        is_small = min(size, group) < small_ink and depth >= group_depth
        leaves_head = (
            start in members and heads.get(group_start, 0) > start and group >= small_ink // 4
        )
        if fits and (group == 0 or size == 0 or (is_small and not leaves_head)):
            joined[-1] = (group_start, end)
            continue
        group_start, group_depth, group_index = start, depth, index
        joined.append((start, end))
    return joined
