"""What the rest of Wherein asks of whatever turns text into vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from wherein.types import ChunkTerms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Embedder", "Reranker"]


@runtime_checkable
class Embedder(Protocol):
    """Turns chunks and queries into vectors of one space."""

    @property
    def name(self) -> str:
        """What ``wherein status`` shows."""
        ...

    @property
    def fingerprint(self) -> str:
        """Part of the recipe: differs whenever the same text could get another vector."""
        ...

    @property
    def dim(self) -> int:
        """Number of dimensions of every vector."""
        ...

    def embed_chunks(
        self, terms: ChunkTerms, strings: Mapping[int, str], texts: Sequence[str]
    ) -> NDArray[np.float32]:
        """Return the vectors of one file's chunks.

        Args:
            terms: The chunks' terms by field.
            strings: Term id to term, for every id in ``terms``.
            texts: The chunks' texts; only external providers look at them.

        Returns:
            Shape ``(n_chunks, dim)``; rows are L2-normalised, or zero where nothing is known.
        """
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the query's vector, shape ``(dim,)``, L2-normalised or zero."""
        ...


@runtime_checkable
class Reranker(Protocol):
    """Scores the first candidates against the query by reading both."""

    @property
    def name(self) -> str:
        """What ``wherein status`` shows."""
        ...

    def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one score for each text, higher is better, shape ``(len(texts),)``."""
        ...
