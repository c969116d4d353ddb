"""Ranked lists of files for a query: lexical, dense, symbols, paths, and whatever else is given.

A retriever's scores never meet another's outside the learned sum; here only ranks count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wherein.search.filters import Masks
from wherein.search.fuse import reciprocal_rank_fusion
from wherein.search.query import Query, TermKind
from wherein.store.lexical import LexicalScores, inverse_frequency, score_chunks
from wherein.store.path_terms import path_term_counts
from wherein.store.tree_index import TreeIndex
from wherein.types import FileFlag, FileKind

__all__ = [
    "MAX_CANDIDATES",
    "Candidates",
    "FileScores",
    "Retrieved",
    "SignalSource",
    "best_files",
    "best_in_each",
    "dense_files",
    "file_scores",
    "find_candidates",
    "lexical_scores",
    "path_files",
    "symbol_files",
]

MAX_CANDIDATES = 60
"""Files that are ranked by all signals: they hold every public peer target and a target of 98.7 /
94.7 % of the named and plain replay requests (98.3 / 93.2 % without the discounts below)."""

_ASIDE_DISCOUNT, _NO_CODE_DISCOUNT = 0.5, 0.6
"""Tests and the like repeat the words of what they test: without a discount they fill the list that
the ranker chooses from. What was asked for can still be among the best 60."""

MAX_TERMS = 64
"""Terms of one query that are looked up; of a longer query the rarest."""

_CHUNKS_A_FILE = 8
"""Nearest chunks looked at for each of the nearest files wanted, at first."""

_LIST_SIZES = {"dense": 20, "symbols": 20, "paths": 10}
_LIST_WEIGHTS = {"lexical": 1.0, "dense": 0.3, "symbols": 0.7, "paths": 0.7}
_SOURCE_SIZE, _SOURCE_WEIGHT = 20, 0.5


@dataclass(frozen=True, slots=True)
class Retrieved:
    """One retriever's list."""

    files: NDArray[np.int64]
    """Ordinals of files, best first."""
    scores: NDArray[np.float32]
    """Shape as ``files``, falling."""


class SignalSource(Protocol):
    """A further source of evidence on files: earlier commits, the reference graph."""

    @property
    def name(self) -> str:
        """``history``, ``graph``…; the weights file has a set for each combination it knows."""
        ...

    @property
    def signal_names(self) -> tuple[str, ...]:
        """Names of its signals, each unique among all signals."""
        ...

    def retrieve(self, index: TreeIndex, query: Query) -> Retrieved:
        """Return the files it would answer with."""
        ...

    def signals(
        self, index: TreeIndex, query: Query, files: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return its signals for the candidate files, best first by the first stage.

        Returns:
            Shape ``(len(files), len(signal_names))``, finite, about 0..1.
        """
        ...


@dataclass(frozen=True, slots=True)
class FileScores:
    """The lexical evidence of each file, added up from its chunks. All of shape ``(n_files,)``."""

    density: NDArray[np.float64]
    """Sum over all chunks / n^.65, divided by the best file's."""
    top3: NDArray[np.float64]
    """Sum of the three best chunks, divided by the best file's."""
    top1: NDArray[np.float64]
    """The best chunk's score, divided by the best file's."""

    @property
    def total(self) -> NDArray[np.float64]:
        """The untrained sum that picks the candidates, 0..1."""
        return (self.density + self.top3) / 2


@dataclass(frozen=True, slots=True)
class Candidates:
    """The files that are ranked, best first by the first stage."""

    files: NDArray[np.int64]


def lexical_scores(index: TreeIndex, query: Query) -> LexicalScores:
    """Return the BM25F score of every chunk for the query's terms, at most `MAX_TERMS` of them."""
    terms = query.terms
    if len(terms) > MAX_TERMS:
        rarity = [
            term.weight * _rarity(index, term.term) * (0.5 if term.kind is TermKind.JOINED else 1.0)
            for term in terms
        ]
        chosen = sorted(range(len(terms)), key=lambda i: (-rarity[i], i))[:MAX_TERMS]
        terms = tuple(terms[i] for i in sorted(chosen))
    return score_chunks(index, [(term.term, term.weight) for term in terms])


def _rarity(index: TreeIndex, term: str) -> float:
    postings = index.postings(term)
    n = max(len(postings.chunks), len(postings.files))
    return inverse_frequency(index.n_live_chunks, n) if n else 0.0


def file_scores(index: TreeIndex, chunks: NDArray[np.float32], masks: Masks) -> FileScores:
    """Add up the scores of chunks by file.

    Args:
        index: The tree's index.
        chunks: Shape ``(n_chunks,)``.
        masks: Chunks left out by them do not count.
    """
    if masks.chunks is not None:
        chunks = np.where(masks.chunks, chunks, np.float32(0))
    touched = np.flatnonzero(chunks > 0)
    zeros = np.zeros(index.n_files, np.float64)
    if not len(touched):
        return FileScores(zeros, zeros, zeros)
    scores = chunks.take(touched)
    owners = index.file_of_chunk.take(touched)
    # bincount adds in float64 one after the other, so a file's sum does not depend on what is
    # stored before it.
    sums = np.bincount(owners, weights=scores, minlength=index.n_files)
    is_first = np.ones(len(owners), np.bool_)
    is_first[1:] = owners[1:] != owners[:-1]
    starts = np.flatnonzero(is_first)
    best = best_in_each(scores, starts)
    top1, top3 = zeros.copy(), zeros.copy()
    top1[owners[starts]] = best[0]
    top3[owners[starts]] = best.sum(axis=0)
    return FileScores(_normed(sums / index.density_norms), _normed(top3), _normed(top1))


def best_in_each(scores: NDArray[np.float32], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the three highest scores of each run, shape ``(3, len(starts))``, falling."""
    best = np.zeros((3, len(starts)), np.float64)
    highest = np.maximum.reduceat(scores, starts)
    best[0] = highest
    all_sizes = np.diff(np.append(starts, len(scores)))
    is_longer = all_sizes > 1  # most runs are one score: a file with one chunk that matches
    sizes = all_sizes[is_longer]
    if not len(sizes):
        return best
    work = scores[np.repeat(is_longer, all_sizes)]
    starts, highest = np.cumsum(sizes) - sizes, highest[is_longer]
    groups = np.repeat(np.arange(len(sizes)), sizes)
    for row in (1, 2):
        places = np.flatnonzero(work == np.repeat(highest, sizes))
        owners = groups[places]
        is_first = np.ones(len(owners), np.bool_)
        is_first[1:] = owners[1:] != owners[:-1]
        work[places[is_first]] = 0
        highest = np.maximum.reduceat(work, starts)
        best[row, is_longer] = highest
    return best


def _normed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    best = values.max(initial=0.0)
    return values / best if best > 0 else values


def best_files(index: TreeIndex, scores: NDArray[np.floating], limit: int) -> Retrieved:
    """Return the files with the highest positive scores; equal ones by path."""
    positive = np.flatnonzero(scores > 0)
    k = min(limit, len(positive))
    if k <= 0:
        return Retrieved(np.zeros(0, np.int64), np.zeros(0, np.float32))
    values = scores[positive]
    threshold = np.partition(values, len(values) - k)[len(values) - k]
    above, equal = positive[values > threshold], positive[values == threshold]
    if len(index.segments) == 1:  # ordinals are in the order of paths
        places = np.concatenate([above, equal[: k - len(above)]])
        places = places[np.lexsort((places, -scores[places]))]
    else:
        firsts = [run[:k] for run in np.split(equal, np.searchsorted(equal, index.first_files))]
        both: list[int] = np.concatenate([above, *firsts]).tolist()
        both.sort(key=lambda file: (-float(scores[file]), index.path(file)))
        places = np.array(both[:k], np.int64)
    return Retrieved(places.astype(np.int64), scores[places].astype(np.float32))


def dense_files(
    index: TreeIndex, similarities: NDArray[np.float32], masks: Masks, limit: int
) -> Retrieved:
    """Return the files with the nearest chunks."""
    if masks.chunks is not None:
        similarities = np.where(masks.chunks, similarities, np.float32(0))
    best = np.zeros(index.n_files, np.float32)
    owners, values = _nearest_chunks(index, similarities, limit)
    if len(owners):
        is_first = np.ones(len(owners), np.bool_)
        is_first[1:] = owners[1:] != owners[:-1]
        starts = np.flatnonzero(is_first)
        best[owners[starts]] = np.maximum.reduceat(values, starts)
    return best_files(index, best, limit)


def _nearest_chunks(
    index: TreeIndex, similarities: NDArray[np.float32], limit: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return file and cosine of the nearest chunks, by ordinal: those of ``limit`` files at least.

    Files that have none of them are further away than all that have one.
    """
    n = limit * _CHUNKS_A_FILE
    while n < len(similarities):
        chunks = np.flatnonzero(similarities >= np.partition(similarities, -n)[-n])
        owners = index.file_of_chunk[chunks]
        if np.count_nonzero(np.diff(owners)) >= limit:
            return owners, similarities[chunks]
        n *= 8
    return index.file_of_chunk, similarities


def symbol_files(index: TreeIndex, query: Query, masks: Masks, limit: int) -> Retrieved:
    """Return the files that define a name of the query: exactly written ones first."""
    scores = np.zeros(index.n_files, np.float64)
    for names, ignore_case, weight in ((query.symbols, False, 2.0), (query.names, True, 1.0)):
        for name in names:
            files = index.defining_files(name, ignore_case=ignore_case)
            if len(files):
                scores[files] = np.maximum(scores[files], weight * len(files) ** -0.5)
    return best_files(index, _masked(scores, masks), limit)


def path_files(index: TreeIndex, query: Query, masks: Masks, limit: int) -> Retrieved:
    """Return the files that a path in the query names, by the number of segments that agree."""
    if not query.paths:
        return Retrieved(np.zeros(0, np.int64), np.zeros(0, np.float32))
    scores = np.zeros(index.n_files, np.float64)
    for path in query.paths:
        for file in _files_named(index, path):
            score = path_agreement(path, index.path(file))
            scores[file] = max(scores[file], score)
    return best_files(index, _masked(scores, masks), limit)


def _files_named(index: TreeIndex, path: str) -> list[int]:
    """Return the live files whose name is that of ``path``."""
    name = path.rpartition("/")[2]
    found: NDArray[np.uint32] | None = None
    for term in path_term_counts(name):
        files, _ = index.path_postings(term)
        found = files if found is None else np.intersect1d(found, files)
    if found is None:
        return []
    return [file for file in found.tolist() if index.path(file).rpartition("/")[2] == name]


def path_agreement(asked: str, path: str) -> float:
    """Return how far two paths agree from the end, 0..1: 1 when one ends with the whole other."""
    left, right = asked.split("/")[::-1], path.split("/")[::-1]
    same = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        same += 1
    return same / min(len(left), len(right))


def _masked(scores: NDArray[np.float64], masks: Masks) -> NDArray[np.float64]:
    return scores if masks.files is None else np.where(masks.files, scores, 0.0)


def _discounts(index: TreeIndex, query: Query) -> NDArray[np.float64]:
    """Return what the first stage's sum of each file is multiplied with."""
    aside, kinds = FileFlag.GENERATED | FileFlag.VENDORED, {FileKind.CODE}
    if not query.wants_tests:
        aside |= FileFlag.TEST
    if not query.wants_examples:
        aside |= FileFlag.EXAMPLE
    if query.wants_docs:
        kinds.add(FileKind.DOCS)
    factors = np.where((index.file_flags & int(aside)) > 0, _ASIDE_DISCOUNT, 1.0)
    factors[~index.files_of_kinds(frozenset(kinds))] *= _NO_CODE_DISCOUNT
    return factors


def find_candidates(
    index: TreeIndex,
    query: Query,
    masks: Masks,
    scores: FileScores,
    similarities: NDArray[np.float32] | None,
    retrieved: Mapping[str, Retrieved],
) -> Candidates:
    """Return the at most `MAX_CANDIDATES` files that all retrievers together put first.

    Args:
        index: The tree's index.
        query: What was asked.
        masks: Files that may be candidates.
        scores: What the words found.
        similarities: Cosine of every chunk, None without vectors.
        retrieved: The list of each further source, by its name.
    """
    total = _masked(scores.total * _discounts(index, query), masks)
    lists = {"lexical": best_files(index, total, MAX_CANDIDATES)}
    if similarities is not None:
        lists["dense"] = dense_files(index, similarities, masks, _LIST_SIZES["dense"])
    lists["symbols"] = symbol_files(index, query, masks, _LIST_SIZES["symbols"])
    lists["paths"] = path_files(index, query, masks, _LIST_SIZES["paths"])
    weights = dict(_LIST_WEIGHTS)
    for name, found in retrieved.items():
        files = found.files if masks.files is None else found.files[masks.files[found.files]]
        lists[name] = Retrieved(files[:_SOURCE_SIZE], found.scores[:_SOURCE_SIZE])
        weights[name] = _SOURCE_WEIGHT
    rankings = {name: found.files.tolist() for name, found in lists.items()}
    fused = reciprocal_rank_fusion(rankings, weights)[:MAX_CANDIDATES]
    return Candidates(np.array([file for file, _ in fused], np.int64))
