"""Maps every change of the history to the file it belongs to today, through renames."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wherein.history.block import Block

__all__ = ["follow_renames", "global_changes"]

_MAX_RENAMES = 12
"""Renames followed for one change; a file moved more often than this is rare."""


def global_changes(
    blocks: Sequence[Block], starts: NDArray[np.int64], names: dict[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return rows, path ids and old path ids of all changes; ``names`` gets the ids of paths."""
    rows: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    paths: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    olds: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    for block, (start, _) in zip(blocks, pairwise(starts.tolist()), strict=True):
        ids = np.array([names.setdefault(path, len(names)) for path in block.paths] + [-1])
        counts = np.diff(block.change_offsets)
        rows.append(np.repeat(np.arange(block.n, dtype=np.int64) + start, counts))
        paths.append(ids[block.change_paths])
        olds.append(ids[block.change_old])  # -1 reads the -1 at the end
    return np.concatenate(rows), np.concatenate(paths), np.concatenate(olds)


def follow_renames(
    path_ids: NDArray[np.int64],
    position: NDArray[np.int64],
    renames: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    in_tree: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the tree file each change belongs to, following renames that came after it.

    Args:
        path_ids: The path of each change, at its time.
        position: When each change happened.
        renames: Old path, time and new path of every rename.
        in_tree: Path id to the tree's file id, -1 where the tree has no such path.
    """
    old, when, new = renames
    if not len(path_ids):
        return np.empty(0, dtype=np.int64)
    width = int(position.max()) + 2
    key = old * width + when
    by_key = np.argsort(key, kind="stable")
    key, new, when = key[by_key], new[by_key], when[by_key]
    current, now = path_ids.copy(), position.copy()
    for _ in range(_MAX_RENAMES):
        if not len(key):
            break
        at = np.searchsorted(key, current * width + now, side="right")
        at = np.minimum(at, len(key) - 1)
        follows = (key[at] // width == current) & (key[at] % width > now)
        if not follows.any():
            break
        current = np.where(follows, new[at], current)
        now = np.where(follows, when[at], now)
    final = in_tree[current]
    return np.where(final >= 0, final, in_tree[path_ids])
