"""Gives digested files their vectors from a model that reads texts.

Workers send the chunks' texts along, and here texts of many files go to the model together, each
only once in a family. Every answer is remembered at once, so what was paid for is never lost.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from wherein.embed.batches import TEXT_CHARS, batches
from wherein.embed.protocol import CHANGED_HINT, TextEmbedder
from wherein.errors import ProviderError
from wherein.indexing.jobs import Outcome
from wherein.indexing.progress import Clock
from wherein.store.record_format import decode_record, encode_record
from wherein.store.vector_cache import VectorCache
from wherein.store.vectors import quantize
from wherein.types import Record

__all__ = ["TextVectors"]

_PROBE = "wherein: what this text is embedded as tells whether the model is still the same"
_LEAST_COSINE = 0.98
"""Between two embeddings of one text by one model: int8 and a server's batches cost .001; another
model, or another version of one, is far below."""

_MAX_WAITING_FILES = 2_000
"""Files that wait for a batch to be full, at most: they are in memory."""

_Row = tuple[NDArray[np.int8], np.float32]


class TextVectors:
    """Embeds the texts of outcomes.

    Args:
        embedder: The model.
        cache: What it gave before.
        clock: When to stop: what is unfinished then is left out, and goes on the next time.
    """

    def __init__(self, embedder: TextEmbedder, cache: VectorCache, clock: Clock) -> None:
        self._embedder = embedder
        self._cache = cache
        self._clock = clock
        self._is_checked = False

    def fill(self, outcomes: Iterable[Outcome], n_bytes: int) -> Generator[Outcome]:
        """Yield the outcomes with their vectors, in any order, until the time is up.

        Args:
            outcomes: With texts and without vectors.
            n_bytes: Size of all the files: what is sent at most.

        Raises:
            ProviderError: The model cannot be reached, or is no longer the one that made the rest.
            OSError: The disk is full.
        """
        self._embedder.expect(n_bytes)
        waiting: list[Outcome] = []
        known: dict[str, _Row] = {}
        missing: dict[str, None] = {}
        for outcome in outcomes:
            texts = [_cut(text) for text in outcome.texts if text.strip()]
            unknown = [text for text in dict.fromkeys(texts) if text not in known]
            found = self._cache.find(unknown)
            known |= found
            missing.update(dict.fromkeys(text for text in unknown if text not in found))
            if all(text in known for text in texts):
                yield _with_vectors(outcome, known)
            else:
                waiting.append(outcome)
            is_full = len(missing) >= self._embedder.batch_texts
            if is_full or len(waiting) >= _MAX_WAITING_FILES:
                yield from self._embedded(waiting, missing, known)
                waiting, known, missing = [], {}, {}
            if self._clock.is_over:
                return
            if not waiting:
                known = {}
        yield from self._embedded(waiting, missing, known)

    def _embedded(
        self, waiting: Sequence[Outcome], missing: Iterable[str], known: dict[str, _Row]
    ) -> Iterator[Outcome]:
        """Embed what is missing and yield the outcomes that are complete."""
        texts = list(missing)
        for batch in batches(texts, self._embedder.batch_texts):
            known |= self._embed([texts[place] for place in batch])
            if self._clock.is_over:
                break
        for outcome in waiting:
            if all(_cut(text) in known for text in outcome.texts if text.strip()):
                yield _with_vectors(outcome, known)

    def _embed(self, texts: Sequence[str]) -> dict[str, _Row]:
        """Embed one batch and remember it; the first one of a run takes the probe along."""
        sent = list(texts) if self._is_checked else [_PROBE, *texts]
        vectors = self._embedder.embed_texts(sent, seconds=self._clock.seconds_left)
        rows, scales = quantize(vectors)
        pairs = zip(rows, scales, strict=True)
        made: dict[str, _Row] = {
            text: (row, np.float32(scale)) for text, (row, scale) in zip(sent, pairs, strict=True)
        }
        if not self._is_checked:
            self._check(made[_PROBE])
            self._is_checked = True
        self._cache.put(made)
        return made

    def _check(self, row: _Row) -> None:
        """Refuse a model that gives the probe another vector than when the first was made."""
        before = self._cache.find([_PROBE]).get(_PROBE)
        if before is None:
            return
        if len(before[0]) != len(row[0]):
            message = (
                f"{self._embedder.name} sent {len(row[0])} dimensions, the index has"
                f" {len(before[0])}"
            )
            raise ProviderError(message, hint=CHANGED_HINT)
        products = before[0].astype(np.float32) @ row[0].astype(np.float32)
        if float(products) * float(before[1]) * float(row[1]) < _LEAST_COSINE:
            message = f"{self._embedder.name} is not the model any more that the index was made by"
            raise ProviderError(message, hint=CHANGED_HINT)


def _cut(text: str) -> str:
    """Return what a model is given of a text: that names the vector."""
    return text[:TEXT_CHARS]


def _with_vectors(outcome: Outcome, known: dict[str, _Row]) -> Outcome:
    """Return an outcome whose record has its vectors."""
    if not outcome.texts:
        return outcome
    record = _filled(decode_record(outcome.core), outcome.texts, known)
    return msgspec.structs.replace(outcome, core=encode_record(record), texts=())


def _filled(record: Record, texts: Sequence[str], known: dict[str, _Row]) -> Record:
    rows = [known[_cut(text)] if text.strip() else None for text in texts]
    dim = max((len(row[0]) for row in rows if row is not None), default=0)
    vectors = np.zeros((len(texts), dim), np.int8)
    scales = np.zeros(len(texts), np.float32)
    for place, row in enumerate(rows):
        if row is not None:
            vectors[place], scales[place] = row
    return replace(record, vectors=vectors, scales=scales)
