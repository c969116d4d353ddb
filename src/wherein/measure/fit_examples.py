"""What a fit learns from: for each request, the signals of its first-stage files, with labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Examples", "ExamplesBuilder"]


@dataclass(frozen=True, slots=True)
class Examples:
    """All requests of one repository.

    The rows of request ``i`` are ``offsets[i]:offsets[i + 1]``, in the first stage's order.
    """

    repository: str
    source: str
    """Where they come from: ``replay``, ``bench``, or the name of a public set."""
    signal_names: tuple[str, ...]
    signals: NDArray[np.float32]
    """Shape ``(n_rows, n_signals)``."""
    labels: NDArray[np.bool_]
    """Shape ``(n_rows,)``: whether the file answers the request."""
    counts: NDArray[np.bool_]
    """Shape ``(n_rows,)``: False for files that are left out before ten are counted."""
    offsets: NDArray[np.int64]
    n_targets: NDArray[np.int64]
    """Shape ``(n_requests,)``: targets in all, also those the first stage missed."""
    categories: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.categories)

    def request(self, i: int) -> slice:
        """Return the rows of request ``i``."""
        return slice(int(self.offsets[i]), int(self.offsets[i + 1]))

    def is_reachable(self, i: int) -> bool:
        """Return whether a file that answers request ``i`` is among its candidates."""
        return bool(self.labels[self.request(i)].any())

    def part(self, chosen: Sequence[int]) -> Examples:
        """Return only the requests ``chosen``, in that order."""
        slices = [self.request(i) for i in chosen]
        rows = np.concatenate(
            [np.zeros(0, np.int64), *(np.arange(s.start, s.stop, dtype=np.int64) for s in slices)]
        )
        sizes = np.array([s.stop - s.start for s in slices], np.int64)
        return Examples(
            self.repository,
            self.source,
            self.signal_names,
            self.signals[rows],
            self.labels[rows],
            self.counts[rows],
            np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]),
            self.n_targets[list(chosen)],
            tuple(self.categories[i] for i in chosen),
        )


class ExamplesBuilder:
    """Collects requests one by one.

    Args:
        repository: Its name.
        source: As in `Examples`.
    """

    def __init__(self, repository: str, source: str) -> None:
        self._repository = repository
        self._source = source
        self._blocks: list[tuple[tuple[str, ...], NDArray[np.float32]]] = []
        self._labels: list[bool] = []
        self._counts: list[bool] = []
        self._n_targets: list[int] = []
        self._categories: list[str] = []

    def add(
        self,
        names: tuple[str, ...],
        matrix: NDArray[np.float32],
        *,
        labels: Sequence[bool],
        counts: Sequence[bool],
        n_targets: int,
        category: str,
    ) -> None:
        """Add one request: a row of ``matrix``, a label and a mark for each candidate."""
        self._blocks.append((names, matrix))
        self._labels.extend(labels)
        self._counts.extend(counts)
        self._n_targets.append(n_targets)
        self._categories.append(category)

    def build(self) -> Examples:
        """Return what was added; a signal that a request lacks is 0 there."""
        names = tuple(dict.fromkeys(name for block, _ in self._blocks for name in block))
        place = {name: column for column, name in enumerate(names)}
        sizes = np.array([len(matrix) for _, matrix in self._blocks], np.int64)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        signals = np.zeros((int(offsets[-1]), len(names)), np.float32)
        for start, (block, matrix) in zip(offsets.tolist(), self._blocks, strict=False):
            columns = [place[name] for name in block]
            signals[start : start + len(matrix), columns] = matrix
        return Examples(
            self._repository,
            self._source,
            names,
            signals,
            np.array(self._labels, np.bool_),
            np.array(self._counts, np.bool_),
            offsets,
            np.array(self._n_targets, np.int64),
            tuple(self._categories),
        )
