"""Embeds through an OpenAI-compatible endpoint: Ollama, vLLM, OpenAI, Voyage, Jina."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from wherein.embed.arrays import normalised
from wherein.embed.departure import Announce, departure
from wherein.embed.http import JsonClient, is_loopback
from wherein.errors import ProviderError
from wherein.types import ChunkTerms

__all__ = ["EndpointEmbedder"]

_BATCH_TEXTS = 64
_BATCH_CHARS = 120_000
"""Servers limit a request by tokens: 120,000 characters are some 36,000."""

_TEXT_CHARS = 8_000
"""Longer texts are cut: a chunk of 1,500 characters never is, a file without a grammar may be."""

_PROBE = "wherein"
_QUERY_CACHE = 256

_Role = Literal["query", "passage"]


class _Item(msgspec.Struct):
    embedding: list[float]
    index: int | None = None


class _Answer(msgspec.Struct):
    data: list[_Item]


class EndpointEmbedder:
    """Sends texts in batches and checks every vector that comes back.

    Args:
        client: The connection, with the endpoint it goes to.
        announce: Told once before text leaves for another machine; without one, none leaves.
        expected_chars: How many characters the whole run will send, for the announcement.

    Raises:
        ProviderError: The endpoint is on another machine and nobody would be told.
    """

    def __init__(
        self, client: JsonClient, *, announce: Announce | None = None, expected_chars: int = 0
    ) -> None:
        endpoint = client.endpoint
        self._client = client
        self._announce = announce
        self._expected_chars = expected_chars
        self._dim = 0
        self._is_announced = is_loopback(endpoint.host)
        if announce is None and not self._is_announced:
            message = f"text would leave this machine for {endpoint.host!r} without notice"
            raise ProviderError(message, hint="name the endpoint in your own settings")
        self.name = f"{endpoint.model or 'default model'} at {endpoint.host}"
        self._cached_query = lru_cache(maxsize=_QUERY_CACHE)(self._query)

    @property
    def dim(self) -> int:
        """Number of dimensions, asked of the server once with a text of our own."""
        if not self._dim:
            self._dim = self._request([_PROBE], "passage").shape[1]
        return self._dim

    @property
    def fingerprint(self) -> str:
        """Differs by address, model and dimension; the key takes no part."""
        endpoint = self._client.endpoint
        about = f"{endpoint.url}\n{endpoint.model}\n{self.dim}\n{_TEXT_CHARS}"
        return f"endpoint-{blake2b(about.encode(), digest_size=12).hexdigest()}"

    def embed_chunks(
        self, terms: ChunkTerms, strings: Mapping[int, str], texts: Sequence[str]
    ) -> NDArray[np.float32]:
        """Return one vector for each text; blank ones are zero and not sent."""
        del terms, strings
        vectors = np.zeros((len(texts), self.dim), np.float32)
        for batch in _batches(texts):
            vectors[batch] = self._checked([texts[i] for i in batch], "passage")
        return normalised(vectors)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the query's vector; the last ones are remembered."""
        if not text.strip():
            return np.zeros(self.dim, np.float32)
        return self._cached_query(text).copy()

    def _query(self, text: str) -> NDArray[np.float32]:
        return normalised(self._checked([text], "query"))[0]

    def _checked(self, texts: Sequence[str], role: _Role) -> NDArray[np.float32]:
        self._tell(sum(map(len, texts)))
        vectors = self._request([text[:_TEXT_CHARS] for text in texts], role)
        if vectors.shape[1] != self.dim:
            message = f"{self.name} sent {vectors.shape[1]} dimensions where it had sent {self.dim}"
            raise ProviderError(message, hint="the model behind the address changed; index again")
        return vectors

    def _tell(self, n_chars: int) -> None:
        """Announce the first departure; raises what the announcement raises."""
        if not self._is_announced and self._announce is not None:
            endpoint, total = self._client.endpoint, max(n_chars, self._expected_chars)
            self._announce(departure(endpoint.host, endpoint.model, total))
            self._is_announced = True

    def _request(self, texts: list[str], role: _Role) -> NDArray[np.float32]:
        endpoint = self._client.endpoint
        payload: dict[str, object] = {"input": texts, **_role_fields(endpoint.host, role)}
        if endpoint.model:
            payload["model"] = endpoint.model
        answer = self._client.post("embeddings", payload)
        try:
            items = msgspec.convert(answer, _Answer).data
        except msgspec.ValidationError as error:
            message = f"{self.name} did not send embeddings: {error}"
            raise ProviderError(
                message, hint="check that the model is one for embedding"
            ) from error
        return self._vectors(items, len(texts))

    def _vectors(self, items: list[_Item], n_texts: int) -> NDArray[np.float32]:
        order = [item.index if item.index is not None else i for i, item in enumerate(items)]
        if sorted(order) != list(range(n_texts)):
            message = f"{self.name} sent {len(items)} vectors for {n_texts} texts"
            raise ProviderError(message, hint="send fewer texts at once, or use another server")
        lengths = {len(item.embedding) for item in items}
        if len(lengths) != 1 or 0 in lengths:
            message = f"{self.name} sent vectors of different dimensions: {sorted(lengths)!r}"
            raise ProviderError(message, hint="the server is broken; nothing was stored")
        vectors = np.zeros((n_texts, lengths.pop()), np.float32)
        for place, item in zip(order, items, strict=True):
            vectors[place] = item.embedding
        if not np.isfinite(vectors).all():
            message = f"{self.name} sent a vector that is not finite"
            raise ProviderError(message, hint="the server is broken; nothing was stored")
        return vectors


def _batches(texts: Sequence[str]) -> Iterator[list[int]]:
    """Yield the places of the texts that go into one request, blank texts left out."""
    batch: list[int] = []
    n_chars = 0
    for place, text in enumerate(texts):
        if not text.strip():
            continue
        size = min(len(text), _TEXT_CHARS)
        if batch and (len(batch) == _BATCH_TEXTS or n_chars + size > _BATCH_CHARS):
            yield batch
            batch, n_chars = [], 0
        batch.append(place)
        n_chars += size
    if batch:
        yield batch


def _role_fields(host: str, role: _Role) -> dict[str, str]:
    """Return how a provider wants to be told queries from passages, where it has a way."""
    if host.endswith("voyageai.com"):
        return {"input_type": "query" if role == "query" else "document"}
    if host.endswith("jina.ai"):
        return {"task": f"retrieval.{role}"}
    return {}
