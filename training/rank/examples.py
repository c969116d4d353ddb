"""What the fit learns from: for each request, the signals of its first-stage files, with labels.

One ``.npz`` file holds one repository, so that leaving one repository out is leaving one file out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Examples:
    """All requests of one repository.

    The rows of request ``i`` are ``offsets[i]:offsets[i + 1]``, in the first stage's order.
    """

    repository: str
    source: str
    """``peer``, ``replay`` (the public sets) or ``made`` (requests of other repositories)."""
    signal_names: tuple[str, ...]
    signals: NDArray[np.float32]
    """Shape ``(n_rows, n_signals)``."""
    labels: NDArray[np.bool_]
    """Shape ``(n_rows,)``: whether the file answers the request."""
    counts: NDArray[np.bool_]
    """Shape ``(n_rows,)``: False for paths that the set's rule drops before it counts ten."""
    offsets: NDArray[np.int64]
    n_targets: NDArray[np.int64]
    """Shape ``(n_requests,)``: targets in all, also those the first stage missed."""
    categories: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.categories)

    def request(self, i: int) -> slice:
        """Return the rows of request ``i``."""
        return slice(int(self.offsets[i]), int(self.offsets[i + 1]))


def save(examples: Examples, folder: Path) -> None:
    """Write ``SOURCE-REPOSITORY.npz``."""
    head = {
        "repository": examples.repository,
        "source": examples.source,
        "signal_names": examples.signal_names,
        "categories": examples.categories,
    }
    np.savez_compressed(
        folder / f"{examples.source}-{examples.repository}.npz",
        head=np.array(json.dumps(head)),
        signals=examples.signals,
        labels=examples.labels,
        counts=examples.counts,
        offsets=examples.offsets,
        n_targets=examples.n_targets,
    )


def load_folder(folder: Path, sources: Sequence[str] | None = None) -> list[Examples]:
    """Return the examples of every repository in ``folder``, sorted by file name."""
    loaded: list[Examples] = []
    for path in sorted(folder.glob("*.npz")):
        with np.load(path, allow_pickle=False) as data:
            head = json.loads(str(data["head"]))
            if sources is not None and head["source"] not in sources:
                continue
            loaded.append(
                Examples(
                    head["repository"],
                    head["source"],
                    tuple(head["signal_names"]),
                    data["signals"],
                    data["labels"],
                    data["counts"],
                    data["offsets"],
                    data["n_targets"],
                    tuple(head["categories"]),
                )
            )
    return loaded
