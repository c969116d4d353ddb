"""What the rest of Wherein asks of whatever turns text into vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from wherein.types import ChunkTerms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["CHANGED_HINT", "Embedder", "Reranker", "TextEmbedder", "text_embedder"]


CHANGED_HINT = "the model changed behind its name: run 'wherein clear', then index again"


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


class TextEmbedder(Embedder, Protocol):
    """An embedder that reads texts and knows nothing of terms: a transformer, an endpoint.

    It is slow or costs money, so texts of many files go to it together, and each only once.
    """

    @property
    def batch_texts(self) -> int:
        """How many texts it takes at once."""
        ...

    def expect(self, n_chars: int) -> None:
        """Be told how many characters a run will give it at most, before the first of them."""
        ...

    def embed_texts(
        self, texts: Sequence[str], *, seconds: float | None = None
    ) -> NDArray[np.float32]:
        """Return one vector for each text, none of them blank.

        Args:
            texts: At most `batch_texts`.
            seconds: How long somebody waits for it, None for as long as it takes.

        Returns:
            Shape ``(len(texts), dim)``; rows are L2-normalised.

        Raises:
            ProviderError: The model cannot be reached, or gave what are no such vectors.
        """
        ...


def text_embedder(embedder: Embedder | None) -> TextEmbedder | None:
    """Return ``embedder`` if it reads texts.

    `isinstance` would read every property to find out, and a server is asked for its dimensions.
    """
    is_one = hasattr(type(embedder), "embed_texts")
    return cast("TextEmbedder", embedder) if is_one else None


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
