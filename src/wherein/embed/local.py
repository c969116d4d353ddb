"""Models from a local folder, or a hub name, that other packages run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from wherein.embed.arrays import normalised
from wherein.embed.protocol import Embedder, Reranker
from wherein.errors import ProviderError
from wherein.types import ChunkTerms

__all__ = ["CrossEncoderReranker", "Model2VecEmbedder", "SentenceEmbedder", "open_folder"]

_QUERY_CACHE = 256
_TEXT_CHARS = 8_000


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


class _CrossEncoder(Protocol):
    def predict(
        self, sentences: list[tuple[str, str]], *, show_progress_bar: bool
    ) -> NDArray[np.float32]: ...


def open_folder(name: str) -> Embedder:
    """Return the embedder in a local folder, or of a hub name (``owner/model``).

    A folder without a list of modules that holds a tokenizer and one matrix is a Model2Vec model;
    anything else is left to sentence-transformers.

    Raises:
        ProviderError: The package that runs the model is missing, or the folder holds no model.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            message = f"{name!r} holds no model"
            raise ProviderError(message, hint="give a folder with config.json in it")
        is_static = _is_model2vec(folder)
    else:
        is_static = "/potion-" in name or "m2v" in name.lower()
    return Model2VecEmbedder(name) if is_static else SentenceEmbedder(name)


def _is_model2vec(folder: Path) -> bool:
    config = cast("dict[str, object]", json.loads((folder / "config.json").read_text("utf-8")))
    return config.get("model_type") == "model2vec" or "seq_length" in config


def _package(module: str, package: str) -> object:
    """Import a package that only this model needs, or say how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        message = f"this model needs the package {package!r}"
        raise ProviderError(message, hint=f"pip install {package}") from error


def _load(what: str, name: str, make: object) -> object:
    """Call a package's own loader; whatever it raises means that there is no such model."""
    try:
        return make(name)  # pyright: ignore[reportCallIssue, reportUnknownVariableType]
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        message = f"{what} cannot load {name!r}: {str(error).splitlines()[0] if str(error) else ''}"
        raise ProviderError(message, hint="check the folder or the hub name") from error


def _fingerprint(kind: str, name: str, dim: int) -> str:
    """Differ by the weights themselves for a folder, by name for a hub model."""
    digest = blake2b(f"{kind}\n{dim}\n".encode(), digest_size=12)
    folder = Path(name).expanduser()
    weights = sorted(folder.glob("*.safetensors")) if folder.is_dir() else []
    if not weights:
        digest.update(name.encode("utf-8", "surrogatepass"))
    for path in weights:
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return f"{kind}-{digest.hexdigest()}"


class _TextEmbedder:
    """What both kinds share: they embed texts, whatever the terms are."""

    name: str
    fingerprint: str
    dim: int

    def embed_chunks(
        self, terms: ChunkTerms, strings: Mapping[int, str], texts: Sequence[str]
    ) -> NDArray[np.float32]:
        """Return one vector for each text; blank ones are zero."""
        del terms, strings
        vectors = np.zeros((len(texts), self.dim), np.float32)
        places = [place for place, text in enumerate(texts) if text.strip()]
        if places:
            vectors[places] = self._encode([texts[i][:_TEXT_CHARS] for i in places], is_query=False)
        return normalised(vectors)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the query's vector."""
        if not text.strip():
            return np.zeros(self.dim, np.float32)
        return normalised(self._encode([text], is_query=True))[0]

    def _encode(self, texts: list[str], *, is_query: bool) -> NDArray[np.float32]:
        raise NotImplementedError


class Model2VecEmbedder(_TextEmbedder):
    """A static model of the Model2Vec package.

    Args:
        name: Folder or hub name.
    """

    def __init__(self, name: str) -> None:
        package = _package("model2vec", "model2vec")
        make = package.StaticModel.from_pretrained  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
        self._model = cast("_StaticModel", _load("model2vec", name, cast("object", make)))
        self.name = f"Model2Vec {name}"
        self.dim = int(self._model.dim)
        self.fingerprint = _fingerprint("model2vec", name, self.dim)

    def _encode(self, texts: list[str], *, is_query: bool) -> NDArray[np.float32]:
        return np.asarray(self._model.encode(texts), np.float32)


class SentenceEmbedder(_TextEmbedder):
    """A model of the sentence-transformers package.

    Args:
        name: Folder or hub name.
    """

    def __init__(self, name: str) -> None:
        package = _package("sentence_transformers", "sentence-transformers")
        make = package.SentenceTransformer  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
        loaded = _load("sentence-transformers", name, cast("object", make))
        self._model = cast("_SentenceModel", loaded)
        self.name = f"sentence-transformers {name}"
        self.dim = _dimension(loaded)
        self.fingerprint = _fingerprint("sentence", name, self.dim)
        self._has_query_prompt = "query" in self._model.prompts
        self._cached = lru_cache(maxsize=_QUERY_CACHE)(super().embed_query)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the query's vector; the last ones are remembered."""
        return self._cached(text).copy()

    def _encode(self, texts: list[str], *, is_query: bool) -> NDArray[np.float32]:
        prompt = "query" if is_query and self._has_query_prompt else None
        encoded = self._model.encode(
            texts, prompt_name=prompt, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(encoded, np.float32)


def _dimension(model: object) -> int:
    """Ask a sentence-transformers model, whose method was renamed in version 5.2."""
    for method in ("get_embedding_dimension", "get_sentence_embedding_dimension"):
        ask = cast("Callable[[], int | None] | None", getattr(model, method, None))
        if ask is not None:
            return int(ask() or 0)
    message = "this sentence-transformers model does not tell its dimension"
    raise ProviderError(message, hint="pip install -U sentence-transformers")


class CrossEncoderReranker:
    """A cross-encoder of the sentence-transformers package.

    Args:
        name: Folder or hub name.
    """

    def __init__(self, name: str) -> None:
        package = _package("sentence_transformers", "sentence-transformers")
        make = package.CrossEncoder  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
        loaded = _load("sentence-transformers", name, cast("object", make))
        self._model = cast("_CrossEncoder", loaded)
        self.name = f"cross-encoder {name}"

    def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one score for each text, higher is better."""
        if not texts:
            return np.zeros(0, np.float32)
        sides = [(query, text[:_TEXT_CHARS]) for text in texts]
        scores = np.asarray(self._model.predict(sides, show_progress_bar=False), np.float32)
        return scores.reshape(len(texts), -1)[:, -1]


def open_reranker(name: str) -> Reranker:
    """Return the cross-encoder in a local folder, or of a hub name."""
    return CrossEncoderReranker(name)
