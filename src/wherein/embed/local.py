"""Embedding models from a local folder, or of a hub name, that other packages run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from wherein.embed.arrays import normalised
from wherein.embed.batches import TEXT_CHARS, embed_in_batches
from wherein.embed.packages import fingerprint_of, load_model, model_folder, require_package
from wherein.embed.protocol import Embedder
from wherein.errors import ProviderError
from wherein.types import ChunkTerms

__all__ = ["Model2VecEmbedder", "SentenceEmbedder", "open_folder"]

_QUERY_CACHE = 256

_BATCH_TEXTS = 32
"""Some seconds of a small transformer on one core: how late a time limit may be noticed."""


class _StaticModel(Protocol):
    dim: int

    def encode(self, sentences: list[str]) -> NDArray[np.float32]: ...


class _SentenceModel(Protocol):
    prompts: dict[str, str]

    def encode(
        self,
        sentences: list[str],
        *,
        prompt_name: str | None,
        convert_to_numpy: bool,
        show_progress_bar: bool,
    ) -> NDArray[np.float32]: ...


def open_folder(name: str) -> Embedder:
    """Return the embedder in a local folder, or of a hub name (``owner/model``).

    A folder without a list of modules that holds a tokenizer and one matrix is a Model2Vec model;
    anything else is left to sentence-transformers. The model itself is loaded with the first text.

    Raises:
        ProviderError: The package that runs the model is missing, or the folder holds no model.
    """
    folder = model_folder(name)
    if folder is not None:
        is_static = _is_model2vec(folder)
    else:
        is_static = "/potion-" in name or "m2v" in name.lower()
    return Model2VecEmbedder(name) if is_static else SentenceEmbedder(name)


def _is_model2vec(folder: Path) -> bool:
    try:
        found: object = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        message = f"{str(folder)!r} holds no model: config.json cannot be read"
        raise ProviderError(message, hint="give a folder with config.json in it") from error
    if not isinstance(found, dict):
        return False
    config = cast("dict[str, object]", found)
    return config.get("model_type") == "model2vec" or "seq_length" in config


class _LocalEmbedder:
    """What both kinds share: they embed texts, whatever the terms are.

    Args:
        kind: What `wherein status` calls it.
        name: Folder or hub name.
    """

    def __init__(self, kind: str, name: str) -> None:
        self._kind = kind
        self._given = name
        self._digest = ""
        self._lock = Lock()
        self.name = f"{kind} {name}"
        self._cached = lru_cache(maxsize=_QUERY_CACHE)(self._query)

    @property
    def fingerprint(self) -> str:
        """Part of the recipe."""
        if not self._digest:
            self._digest = fingerprint_of(self._kind, self._given)
        return self._digest

    @property
    def batch_texts(self) -> int:
        """How many texts are encoded between two looks at the clock."""
        return _BATCH_TEXTS

    @property
    def dim(self) -> int:
        """Number of dimensions of every vector; loads the model."""
        raise NotImplementedError

    def expect(self, n_chars: int) -> None:
        """Nothing leaves the machine, so nobody is told."""
        del n_chars

    def embed_chunks(
        self, terms: ChunkTerms, strings: Mapping[int, str], texts: Sequence[str]
    ) -> NDArray[np.float32]:
        """Return one vector for each text; blank ones are zero."""
        del terms, strings
        return embed_in_batches(self, texts)

    def embed_texts(
        self, texts: Sequence[str], *, seconds: float | None = None
    ) -> NDArray[np.float32]:
        """Return one vector for each text."""
        del seconds  # a batch is short
        return self._checked([text[:TEXT_CHARS] for text in texts], is_query=False)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the query's vector; the last ones are remembered."""
        return self._cached(text).copy()

    def _query(self, text: str) -> NDArray[np.float32]:
        if not text.strip():
            return np.zeros(self.dim, np.float32)
        return self._checked([text[:TEXT_CHARS]], is_query=True)[0]

    def _checked(self, texts: list[str], *, is_query: bool) -> NDArray[np.float32]:
        with self._lock:  # the packages promise nothing of threads
            try:
                vectors = np.asarray(self._encode(texts, is_query=is_query), np.float32)
            except (RuntimeError, ValueError, IndexError) as error:
                message = f"{self.name} cannot embed: {error}"
                raise ProviderError(message, hint="check the model with its own package") from error
        if vectors.shape[:1] != (len(texts),) or not np.isfinite(vectors).all():
            message = f"{self.name} gave what are no {len(texts)} finite vectors"
            raise ProviderError(message, hint="check the model with its own package")
        return normalised(vectors)

    def _encode(self, texts: list[str], *, is_query: bool) -> NDArray[np.float32]:
        raise NotImplementedError


class Model2VecEmbedder(_LocalEmbedder):
    """A static model of the Model2Vec package.

    Args:
        name: Folder or hub name.
    """

    def __init__(self, name: str) -> None:
        require_package("model2vec", "model2vec")
        super().__init__("model2vec", name)

    @cached_property
    def _model(self) -> _StaticModel:
        def maker(package: object) -> object:
            return package.StaticModel.from_pretrained  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]

        return cast("_StaticModel", load_model("model2vec", maker, self._given))

    @property
    def dim(self) -> int:
        """Number of dimensions of every vector; loads the model."""
        return int(self._model.dim)

    def _encode(self, texts: list[str], *, is_query: bool) -> NDArray[np.float32]:
        del is_query
        return self._model.encode(texts)


class SentenceEmbedder(_LocalEmbedder):
    """A model of the sentence-transformers package.

    Args:
        name: Folder or hub name.
    """

    def __init__(self, name: str) -> None:
        require_package("sentence_transformers", "sentence-transformers")
        super().__init__("sentence-transformers", name)

    @cached_property
    def _model(self) -> _SentenceModel:
        def maker(package: object) -> object:
            return package.SentenceTransformer  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]

        return cast("_SentenceModel", load_model("sentence_transformers", maker, self._given))

    @property
    def dim(self) -> int:
        """Number of dimensions of every vector; loads the model."""
        return self._checked(["wherein"], is_query=False).shape[1]

    def _encode(self, texts: list[str], *, is_query: bool) -> NDArray[np.float32]:
        model = self._model
        prompt = "query" if is_query and "query" in model.prompts else None
        return model.encode(
            texts, prompt_name=prompt, convert_to_numpy=True, show_progress_bar=False
        )
