"""A cross-encoder from a local folder, or of a hub name, that sentence-transformers runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from wherein.embed.batches import TEXT_CHARS
from wherein.embed.packages import load_model, model_folder, require_package
from wherein.embed.protocol import Reranker
from wherein.errors import ProviderError

__all__ = ["CrossEncoderReranker", "open_reranker"]


class _CrossEncoder(Protocol):
    def predict(
        self, sentences: list[tuple[str, str]], *, show_progress_bar: bool
    ) -> NDArray[np.float32]: ...


def open_reranker(name: str) -> Reranker:
    """Return the cross-encoder in a local folder, or of a hub name.

    Raises:
        ProviderError: The package that runs the model is missing, or the folder holds no model.
    """
    model_folder(name)
    return CrossEncoderReranker(name)


class CrossEncoderReranker:
    """A cross-encoder of the sentence-transformers package, loaded with the first query.

    Args:
        name: Folder or hub name.
    """

    def __init__(self, name: str) -> None:
        require_package("sentence_transformers", "sentence-transformers")
        self._given = name
        self._lock = Lock()
        self.name = f"cross-encoder {name}"

    @cached_property
    def _model(self) -> _CrossEncoder:
        def maker(package: object) -> object:
            return package.CrossEncoder  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]

        return cast("_CrossEncoder", load_model("sentence_transformers", maker, self._given))

    def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one score for each text, higher is better."""
        if not texts:
            return np.zeros(0, np.float32)
        sides = [(query, text[:TEXT_CHARS]) for text in texts]
        with self._lock:
            try:
                scores = np.asarray(self._model.predict(sides, show_progress_bar=False), np.float32)
            except (RuntimeError, ValueError, IndexError) as error:
                message = f"{self.name} cannot score: {error}"
                raise ProviderError(message, hint="check the model with its own package") from error
        scores = scores.reshape(len(texts), -1)
        if scores.shape[1] != 1 or not np.isfinite(scores).all():
            message = f"{self.name} gives {scores.shape[1]} numbers for a text, a reranker one"
            raise ProviderError(message, hint="name a cross-encoder with one label")
        return scores[:, 0]
