"""Cuts texts into the batches that a model is given at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wherein.embed.protocol import TextEmbedder

__all__ = ["TEXT_CHARS", "batches", "embed_in_batches"]

TEXT_CHARS = 8_000
"""Longer texts are cut: a chunk of 1,500 characters never is, a file without a grammar may be."""

_BATCH_CHARS = 120_000
"""Servers limit a request by tokens: 120,000 characters are some 36,000."""


def batches(texts: Sequence[str], batch_texts: int) -> Iterator[list[int]]:
    """Yield the places of the texts that go together, blank texts left out."""
    batch: list[int] = []
    n_chars = 0
    for place, text in enumerate(texts):
        if not text.strip():
            continue
        size = min(len(text), TEXT_CHARS)
        if batch and (len(batch) >= batch_texts or n_chars + size > _BATCH_CHARS):
            yield batch
            batch, n_chars = [], 0
        batch.append(place)
        n_chars += size
    if batch:
        yield batch


def embed_in_batches(embedder: TextEmbedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return one vector for each text; blank ones are zero, and the model never sees them."""
    vectors = np.zeros((len(texts), embedder.dim), np.float32)
    for batch in batches(texts, embedder.batch_texts):
        vectors[batch] = embedder.embed_texts([texts[place] for place in batch])
    return vectors
