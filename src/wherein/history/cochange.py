"""Which files usually change together, with support, confidence and lift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wherein.history.view import HistoryView

__all__ = ["CoChange", "Companion"]

# Chosen on the multi-file commits of the nine larger public replay repositories (recall@5 of the
# other files given one): these values .473; a cap of 20 files .460, decay to 0.15 of the history
# .452, ordering by confidence times lift^.5 .444.
_HALF_LIFE = 0.5
_MAX_FILES = 100
_FOLDER_PRIOR = 0.05
_TREE_PRIOR = 0.03
"""Added to the confidence: the other file's share of all co-changes, in the folder and anywhere.
They order companions whose evidence is thin and never make a companion of their own."""


@dataclass(frozen=True, slots=True)
class Companion:
    """A file that changed together with the given ones."""

    path: str
    support: int
    """Commits that changed it and one of the given files (100 files at most each)."""
    confidence: float
    """Share of the given file's changes it was part of; recent and small commits count more."""
    lift: float
    """Support over what chance would give files that change as often; about 1 means unrelated."""


class CoChange:
    """Co-change statistics of one view."""

    def __init__(self, view: HistoryView) -> None:
        self._view = view
        counts = np.maximum(view.n_files - 1, 1).astype(np.float64)
        is_counted = (view.n_files >= 2) & (view.n_files <= _MAX_FILES)
        self._weight = np.where(is_counted, view.decay(_HALF_LIFE) / counts, 0.0)
        rows, files = view.changes
        self._activity = np.bincount(files, self._weight[rows], minlength=len(view.paths))
        is_small = view.n_files <= _MAX_FILES
        self._n_commits = int((is_small & view.reachable).sum())
        self._n_changes = np.bincount(files, is_small[rows], minlength=len(view.paths))
        self._folders = _folder_ids(view.paths)

    def companions(self, file_ids: Sequence[int], limit: int) -> list[Companion]:
        """Return the files that most surely change with any of ``file_ids``, best first."""
        n_files = len(self._view.paths)
        score, confidence, expected = np.zeros(n_files), np.zeros(n_files), np.zeros(n_files)
        support = np.zeros(n_files, dtype=np.int64)
        top = float(self._activity.max()) if n_files else 0.0
        for file_id in dict.fromkeys(file_ids):
            together, count = self._together(file_id)
            mine = max(float(self._activity[file_id]), 1e-12)
            share = together / mine
            prior = self._activity / top if top > 0 else self._activity
            same_folder = self._folders == self._folders[file_id]
            score += share + prior * (_TREE_PRIOR + _FOLDER_PRIOR * same_folder)
            expected += self._n_changes * self._n_changes[file_id] / max(self._n_commits, 1)
            confidence = np.maximum(confidence, share)
            support += count
        score[list(file_ids)] = 0.0
        found = np.nonzero((support > 0) & (score > 0))[0]
        found = found[np.lexsort((found, -score[found]))][:limit]
        order: list[int] = found.tolist()
        return [
            Companion(
                path=self._view.paths[at],
                support=int(support[at]),
                confidence=min(float(confidence[at]), 1.0),
                lift=float(support[at] / max(expected[at], 1e-12)),
            )
            for at in order
        ]

    def _together(self, file_id: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return summed weights and number of the commits each file shares with ``file_id``."""
        n_files = len(self._view.paths)
        rows = self._view.rows_changing(file_id)
        rows = rows[self._weight[rows] > 0]
        files, at = self._view.expand(rows)
        together = np.bincount(files, self._weight[rows][at], minlength=n_files).astype(np.float64)
        count = np.bincount(files, minlength=n_files).astype(np.int64)
        together[file_id] = 0.0
        count[file_id] = 0
        return together, count


def _folder_ids(paths: Sequence[str]) -> NDArray[np.int64]:
    ids: dict[str, int] = {}
    folders = [path.rpartition("/")[0] for path in paths]
    return np.array([ids.setdefault(folder, len(ids)) for folder in folders], dtype=np.int64)
