"""Signals of texts that stand in a file word for word."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from wherein.search.literal import LiteralMatch

__all__ = ["SIGNALS", "columns"]

SIGNALS: Mapping[str, str] = {
    "exact_text": "0 or 1: a quoted text, or the whole message, stands in the file word for word",
    "message_run": "0..0.9: share of a message's words that stand there in a row",
}


def columns(
    files: NDArray[np.int64], literals: Mapping[int, LiteralMatch]
) -> dict[str, NDArray[np.float32]]:
    """Return the group's columns, each of shape ``(F,)``."""
    shares = [literals[file].share if file in literals else 0.0 for file in files.tolist()]
    share = np.array(shares, np.float32)
    return {
        "exact_text": (share >= 1).astype(np.float32),
        "message_run": np.where(share < 1, share, np.float32(0)),
    }
