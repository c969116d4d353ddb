"""Keeps what the fit learns from (`wherein.measure.fit_examples`) in files.

One ``.npz`` file holds one repository, so that leaving one repository out is leaving one file out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wherein.measure.fit_examples import Examples

LABELLED = frozenset({"peer", "annotated"})
"""Sources whose queries were written for the set and labelled, scored by NDCG; the others are
commits, scored by hits."""


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
