"""Embeds through an OpenAI-compatible endpoint: Ollama, vLLM, OpenAI, Voyage, Jina."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from wherein.embed.arrays import normalised
from wherein.embed.batches import TEXT_CHARS, embed_in_batches
from wherein.embed.departure import Announce, Announcer
from wherein.embed.http import JsonClient, RefusedError
from wherein.embed.protocol import CHANGED_HINT
from wherein.errors import ProviderError
from wherein.types import ChunkTerms

__all__ = ["EndpointEmbedder"]

_BATCH_TEXTS = 64

_LEAST_CHARS = 500
"""A text that a model refuses is halved down to here; what it refuses still is not its length."""

_TOO_MUCH = frozenset({400, 413, 422})
"""What servers answer to more texts, or longer ones, than they take."""

_QUERY_SECONDS = 10.0
"""Who waits for a search gets one without vectors after so long."""

_PROBE = "wherein"
_QUERY_CACHE = 256

_Role = Literal["query", "passage"]

_PREFIXES: tuple[tuple[str, str, str], ...] = (
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("e5-", "query: ", "passage: "),
    (
        "mxbai-embed-large",
        "Represent this sentence for searching relevant passages: ",
        "",
    ),
    ("bge-large-en", "Represent this sentence for searching relevant passages: ", ""),
    ("bge-base-en", "Represent this sentence for searching relevant passages: ", ""),
    ("bge-small-en", "Represent this sentence for searching relevant passages: ", ""),
    (
        "qwen3-embedding",
        "Instruct: Given a question or a change request, retrieve the code that it is about\n"
        "Query: ",
        "",
    ),
)
"""Part of a model's name, and what it was trained to see before a query and before a passage."""


class _Item(msgspec.Struct):
    embedding: list[float]
    index: int | None = None


class _Answer(msgspec.Struct):
    data: list[_Item]


class EndpointEmbedder:
    """Sends texts in batches and checks every vector that comes back.

    Args:
        client: The connection, with the endpoint it goes to.
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
        self._dim = 0
        self.name = f"{endpoint.model or 'default model'} at {endpoint.host}"
        self._prefixes = _prefixes(endpoint.model)
        self._cached_query = lru_cache(maxsize=_QUERY_CACHE)(self._query)

    @property
    def batch_texts(self) -> int:
        """How many texts one request holds."""
        return _BATCH_TEXTS

    @property
    def dim(self) -> int:
        """Number of dimensions; the server is asked once, with a text of our own."""
        if not self._dim:
            self._request([_PROBE], "passage", None)
        return self._dim

    @property
    def fingerprint(self) -> str:
        """Differs by address, model and what is put before a text; the key takes no part."""
        endpoint = self._client.endpoint
        about = f"{endpoint.url.rstrip('/')}\n{endpoint.model}\n{TEXT_CHARS}\n{self._prefixes[1]}"
        return f"endpoint-{blake2b(about.encode(), digest_size=12).hexdigest()}"

    def expect(self, n_chars: int) -> None:
        """Be told how many characters a run will send at most; each run is announced."""
        self._announcer.expect(n_chars)

    def embed_chunks(
        self, terms: ChunkTerms, strings: Mapping[int, str], texts: Sequence[str]
    ) -> NDArray[np.float32]:
        """Return one vector for each text; blank ones are zero and not sent."""
        del terms, strings
        return embed_in_batches(self, texts)

    def embed_texts(
        self, texts: Sequence[str], *, seconds: float | None = None
    ) -> NDArray[np.float32]:
        """Return one vector for each text; what the server finds too much is sent in parts."""
        self._announcer.tell(sum(map(len, texts)))
        cut = [self._prefixes[1] + text[:TEXT_CHARS] for text in texts]
        return normalised(self._in_parts(cut, seconds))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the query's vector; the last ones are remembered."""
        if not text.strip():
            return np.zeros(self.dim, np.float32)
        return self._cached_query(text).copy()

    def _query(self, text: str) -> NDArray[np.float32]:
        self._announcer.tell(len(text))
        asked = self._prefixes[0] + text[:TEXT_CHARS]
        return normalised(self._request([asked], "query", _QUERY_SECONDS))[0]

    def _in_parts(self, texts: list[str], seconds: float | None) -> NDArray[np.float32]:
        try:
            return self._request(texts, "passage", seconds)
        except RefusedError as error:
            if error.status not in _TOO_MUCH:
                raise
            if len(texts) > 1:
                half = len(texts) // 2
                parts = (texts[:half], texts[half:])
                return np.concatenate([self._in_parts(part, seconds) for part in parts])
            if len(texts[0]) // 2 < _LEAST_CHARS:
                raise
            return self._in_parts([texts[0][: len(texts[0]) // 2]], seconds)

    def _request(self, texts: list[str], role: _Role, seconds: float | None) -> NDArray[np.float32]:
        endpoint = self._client.endpoint
        payload: dict[str, object] = {"input": texts, **_role_fields(endpoint.host, role)}
        if endpoint.model:
            payload["model"] = endpoint.model
        answer = self._client.post("embeddings", payload, seconds=seconds)
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
        (length,) = lengths
        if self._dim not in (0, length):
            message = f"{self.name} sent {length} dimensions where it had sent {self._dim}"
            raise ProviderError(message, hint=CHANGED_HINT)
        vectors = np.zeros((n_texts, length), np.float32)
        with np.errstate(over="ignore"):  # a number too large for float32 is not finite then
            for place, item in zip(order, items, strict=True):
                vectors[place] = item.embedding
            squares = np.einsum(
                "ij,ij->i", vectors, vectors
            )  # not finite either where they overflow
        if not np.isfinite(squares).all():
            message = f"{self.name} sent a vector that is not finite"
            raise ProviderError(message, hint="the server is broken; nothing was stored")
        # One text without a word that the model knows may be zero, all of a request's may not.
        if n_texts > 1 and not squares.any():
            message = f"{self.name} sent nothing but zeros"
            raise ProviderError(message, hint="the server is broken; nothing was stored")
        self._dim = length
        return vectors


def _prefixes(model: str) -> tuple[str, str]:
    """Return what stands before a query and before a passage."""
    name = model.lower()
    found = (item[1:] for item in _PREFIXES if item[0] in name)
    return next(found, ("", ""))


def _role_fields(host: str, role: _Role) -> dict[str, str]:
    """Return how a provider wants to be told queries from passages, where it has a way."""
    if host.endswith("voyageai.com"):
        return {"input_type": "query" if role == "query" else "document"}
    if host.endswith("jina.ai"):
        return {"task": f"retrieval.{role}"}
    return {}
