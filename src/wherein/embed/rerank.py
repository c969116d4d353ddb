"""Reranks through a ``/rerank`` endpoint, or with a cross-encoder in a local folder."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from wherein.embed.departure import Announce, departure
from wherein.embed.http import JsonClient, is_loopback
from wherein.errors import ProviderError

__all__ = ["EndpointReranker"]

_TEXT_CHARS = 6_000


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
        announce: Told once before text leaves for another machine; without one, none leaves.

    Raises:
        ProviderError: The endpoint is on another machine and nobody would be told.
    """

    def __init__(self, client: JsonClient, *, announce: Announce | None = None) -> None:
        endpoint = client.endpoint
        self._client = client
        self._announce = announce
        self._is_announced = is_loopback(endpoint.host)
        if announce is None and not self._is_announced:
            message = f"text would leave this machine for {endpoint.host!r} without notice"
            raise ProviderError(message, hint="name the endpoint in your own settings")
        self.name = f"{endpoint.model or 'default reranker'} at {endpoint.host}"

    def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one score for each text, higher is better."""
        if not texts:
            return np.zeros(0, np.float32)
        endpoint = self._client.endpoint
        cut = [text[:_TEXT_CHARS] for text in texts]
        if not self._is_announced and self._announce is not None:
            self._announce(departure(endpoint.host, endpoint.model, sum(map(len, cut))))
            self._is_announced = True
        payload: dict[str, object] = {"query": query}
        if endpoint.model:
            payload |= {"model": endpoint.model, "documents": cut, "top_n": len(cut)}
        else:
            payload |= {"texts": cut, "truncate": True}
        return self._scores(self._client.post("rerank", payload), len(cut))

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
        for item in found:
            value = item.score if item.relevance_score is None else item.relevance_score
            if value is not None and 0 <= item.index < n_texts:
                scores[item.index] = value
        if not np.isfinite(scores).all():
            message = f"{self.name} did not score every text"
            raise ProviderError(message, hint="the server is broken; the order is unchanged")
        return scores
