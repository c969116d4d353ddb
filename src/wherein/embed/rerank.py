"""Reranks through a ``/rerank`` endpoint: Cohere, Jina, Voyage, vLLM, Text Embeddings Inference."""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from wherein.embed.departure import Announce, Announcer
from wherein.embed.http import JsonClient
from wherein.errors import ProviderError

__all__ = ["EndpointReranker"]

_TEXT_CHARS = 6_000

_SECONDS = 10.0
"""Who waits for a search gets one in its own order after so long."""

_BATCH_TEXTS = 32
"""Text Embeddings Inference takes so many by default; the others take a thousand."""


class _Scored(msgspec.Struct):
    index: int
    relevance_score: float | None = None
    """Cohere, Jina, Voyage, vLLM."""
    score: float | None = None
    """Text Embeddings Inference."""


class _Wrapped(msgspec.Struct):
    results: list[_Scored] | None = None
    data: list[_Scored] | None = None
    """Voyage's name for it."""


class EndpointReranker:
    """Asks a server for the relevance of each text.

    Args:
        client: The connection. An endpoint without a model is asked as Text Embeddings Inference.
        announce: Told before text leaves for another machine; without one, none leaves.

    Raises:
        ProviderError: The endpoint is on another machine and nobody would be told.
    """

    def __init__(self, client: JsonClient, *, announce: Announce | None = None) -> None:
        endpoint = client.endpoint
        self._client = client
        self._announcer = Announcer(
            endpoint.host, endpoint.model, announce, is_readable=endpoint.is_readable
        )
        self.name = f"{endpoint.model or 'default reranker'} at {endpoint.host}"

    def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one score for each text, higher is better."""
        if not texts:
            return np.zeros(0, np.float32)
        cut = [text[:_TEXT_CHARS] for text in texts]
        self._announcer.tell(sum(map(len, cut)))
        end = time.monotonic() + _SECONDS
        size = len(cut) if self._client.endpoint.model else _BATCH_TEXTS
        parts = [
            self._asked(query, cut[start : start + size], end - time.monotonic())
            for start in range(0, len(cut), size)
        ]
        return np.concatenate(parts)

    def _asked(self, query: str, texts: list[str], seconds: float) -> NDArray[np.float32]:
        model = self._client.endpoint.model
        payload: dict[str, object] = {"query": query}
        if model:
            payload |= {"model": model, "documents": texts}
            if self._client.endpoint.host.endswith("voyageai.com"):
                payload["top_k"] = len(texts)  # where the others say top_n
            else:
                payload["top_n"] = len(texts)
        else:
            payload |= {"texts": texts, "truncate": True}
        answer = self._client.post("rerank", payload, seconds=max(seconds, 0.0))
        return self._scores(answer, len(texts))

    def _scores(self, answer: object, n_texts: int) -> NDArray[np.float32]:
        try:
            if isinstance(answer, list):
                found = msgspec.convert(answer, list[_Scored])
            else:
                wrapped = msgspec.convert(answer, _Wrapped)
                found = wrapped.results if wrapped.results is not None else wrapped.data or []
        except msgspec.ValidationError as error:
            message = f"{self.name} did not send scores: {error}"
            raise ProviderError(message, hint="check that the model is a reranker") from error
        scores = np.full(n_texts, np.nan, np.float32)
        with np.errstate(over="ignore"):  # a number too large for float32 is not finite then
            for item in found:
                value = item.score if item.relevance_score is None else item.relevance_score
                if value is not None and 0 <= item.index < n_texts:
                    scores[item.index] = value
        if not np.isfinite(scores).all():
            message = f"{self.name} did not score every text"
            raise ProviderError(message, hint="the server is broken; the order is unchanged")
        return scores
