"""Signals of texts that stand in a file word for word."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from wherein.search.literal import MIN_RUN, LiteralMatch

__all__ = ["SIGNALS", "columns"]

SIGNALS: Mapping[str, str] = {
    "exact_text": "0 or 1: a quoted text, or the whole message, stands in the file word for word",
    "exact_sentence": "0 or 1: such a text of three words or more does",
    "phrase": "0..1: the whole query, of three words or more, stands in the file in a row: "
    "1 / sqrt(files that have it)",
    "message_run": "0..0.9: share of a message's words that stand there in a row",
}


def columns(
    files: NDArray[np.int64], literals: Mapping[int, LiteralMatch]
) -> dict[str, NDArray[np.float32]]:
    """Return the group's columns, each of shape ``(F,)``."""
    matched = [literals.get(file) for file in files.tolist()]
    phrase = np.array([match is not None and match.is_phrase for match in matched], np.bool_)
    share = np.array([match.share if match else 0.0 for match in matched], np.float32)
    n_words = np.array([match.n_words if match else 0 for match in matched])
    share[phrase], n_words[phrase] = 0, 0
    return {
        "exact_text": (share >= 1).astype(np.float32),
        "exact_sentence": (n_words >= MIN_RUN).astype(np.float32),
        "phrase": (phrase / np.sqrt(max(phrase.sum(), 1))).astype(np.float32),
        "message_run": np.where(share < 1, share, np.float32(0)),
    }
