"""Writes files whole or not at all, so that a step that was killed leaves nothing half done."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


def write_arrays(path: Path, arrays: dict[str, NDArray]) -> None:
    """Write arrays as ``.npz``; the name they have until then is one that no step looks for."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    with partial.open("wb") as stream:
        np.savez(stream, **arrays)
    partial.replace(path)
