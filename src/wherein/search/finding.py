"""Finds the files a query may mean, with all that the ranker is to know of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wherein.embed.protocol import CHANGED_HINT, Embedder
from wherein.errors import ProviderError
from wherein.search.equipment import Equipment
from wherein.search.filters import Filters, Masks, masks, with_scopes
from wherein.search.literal import (
    LITERAL_FILES,
    PHRASE_FILES,
    QUOTED_FILES,
    LiteralMatch,
    TextReader,
    files_with_all_terms,
    find_literals,
    find_phrase,
)
from wherein.search.matches import Matches, match
from wherein.search.other_spellings import with_other_spellings
from wherein.search.query import Query, understand
from wherein.search.retrievers import (
    MAX_CANDIDATES,
    Candidates,
    FileScores,
    Retrieved,
    SignalSource,
    file_scores,
    find_candidates,
    lexical_scores,
)
from wherein.search.signal_groups.coverage import files_with_words_together
from wherein.search.signals import Evaluated, evaluate
from wherein.store.lexical import LexicalScores
from wherein.store.tree_index import TreeIndex
from wherein.types import FileFlag

__all__ = ["Found", "find"]


@dataclass(frozen=True, slots=True)
class Found:
    """All that one query brought to light."""

    query: Query
    candidates: Candidates
    matches: Matches
    evaluated: Evaluated
    similarities: NDArray[np.float32] | None
    literals: dict[int, LiteralMatch]
    notes: tuple[str, ...]
    postings_read: int


def find(index: TreeIndex, text: str, filters: Filters | None, equipment: Equipment) -> Found:
    """Return what a query's candidates have to show; arguments are `pipeline.search`'s.

    Raises:
        QueryError: The query is empty, or a filter names something unknown.
        PatternError: A glob does not compile.
    """
    sources, read_text = equipment.sources, equipment.read_text
    asked = understand(text, own_names=equipment.own_names, glossary=equipment.glossary)
    narrowed, notes = with_scopes(filters or Filters(), asked.scopes, index)
    allowed = masks(index, narrowed)
    words, (similarities, model_notes) = _words_and_vectors(index, asked, allowed, equipment)
    query, lexical, scores = words.query, words.lexical, words.files
    candidates = find_candidates(index, query, allowed, scores, similarities, words.retrieved)
    candidates, literals = _with_literals(index, query, allowed, candidates, read_text)
    matches = match(index, query, lexical, candidates.files, allowed)
    if read_text is not None and not literals:
        together = files_with_words_together(matches)
        if not query.wants_tests:  # a test says in words what it tests
            together = together[(index.file_flags[together] & int(FileFlag.TEST)) == 0]
        paths = {file: index.path(file) for file in together[:PHRASE_FILES].tolist()}
        literals = find_phrase(query, paths, read_text)
    evaluated = evaluate(index, query, candidates, matches, scores, similarities, literals, sources)
    return Found(
        query,
        candidates,
        matches,
        evaluated,
        similarities,
        literals,
        (*notes, *allowed.notes, *words.notes, *model_notes),
        lexical.postings_read,
    )


MIN_CHUNKS_AT_ONCE = 20_000
"""From so many chunks on words and vectors are looked up at the same time: comparing all vectors
is a pass over memory in which another thread runs, 2 of 11 ms among 155,800 chunks."""

_Vectors = tuple[NDArray[np.float32] | None, tuple[str, ...]]
"""The cosine of every chunk, and notes on the model."""


@dataclass(frozen=True, slots=True)
class _Words:
    """What the query's words found."""

    query: Query
    """With other spellings of words that stand nowhere."""
    lexical: LexicalScores
    files: FileScores
    retrieved: Mapping[str, Retrieved]
    """The list of each further source, by its name."""
    notes: tuple[str, ...]


def _words_and_vectors(
    index: TreeIndex, query: Query, allowed: Masks, equipment: Equipment
) -> tuple[_Words, _Vectors]:
    embedder, sources = equipment.embedder, equipment.sources
    if index.n_chunks < MIN_CHUNKS_AT_ONCE:
        words = _words(index, query, allowed, sources)
        return words, _similarities(index, query, embedder)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as aside:
        found = aside.submit(_words, index, query, allowed, sources)
        vectors = _similarities(index, query, embedder)
        return found.result(), vectors


def _words(
    index: TreeIndex, asked: Query, allowed: Masks, sources: Sequence[SignalSource]
) -> _Words:
    found = lexical_scores(index, asked)
    query, notes = with_other_spellings(index, asked, found)
    lexical = found if query is asked else lexical_scores(index, query)
    files = file_scores(index, lexical.chunks, allowed)
    retrieved = {source.name: source.retrieve(index, query) for source in sources}
    return _Words(query, lexical, files, retrieved, notes)


def _similarities(index: TreeIndex, query: Query, embedder: Embedder | None) -> _Vectors:
    """Return the cosine of every chunk, or None without vectors or without a known word.

    A model that fails costs the answer its vectors; the notes say so.
    """
    if embedder is None or not index.dim or query.is_empty:
        return None, ()
    try:
        vector = embedder.embed_query(query.subject)
    except ProviderError as error:
        return None, (f"ranked without vectors: {error.message}",)
    if len(vector) != index.dim:
        sizes = f"{len(vector)} dimensions, the index has {index.dim}"
        return None, (f"ranked without vectors: {embedder.name} sent {sizes}; {CHANGED_HINT}",)
    return (index.similarity(vector) if vector.any() else None), ()


def _with_literals(
    index: TreeIndex,
    query: Query,
    allowed: Masks,
    candidates: Candidates,
    read_text: TextReader | None,
) -> tuple[Candidates, dict[int, LiteralMatch]]:
    """Look for quoted texts or the message; files that have the whole text join the candidates."""
    if read_text is None or not (query.quoted or query.is_message):
        return candidates, {}
    files = candidates.files[:LITERAL_FILES].tolist()
    for quoted in query.quoted:
        more = files_with_all_terms(index, quoted, QUOTED_FILES)
        if allowed.files is not None:
            more = more[allowed.files[more]]
        files += more.tolist()
    paths = {file: index.path(file) for file in dict.fromkeys(files)}
    literals = find_literals(query, paths, read_text)
    known = frozenset(candidates.files.tolist())
    whole = [file for file in literals if file not in known and literals[file].share >= 1]
    whole.sort(key=lambda file: -literals[file].n_words)
    joining = np.array(whole[:MAX_JOINING], np.int64)
    # The least likely candidates make room.
    kept = candidates.files[: MAX_CANDIDATES - len(joining)]
    return Candidates(np.concatenate([kept, joining])), literals


MAX_JOINING = 20
"""Files that join the candidates for a quoted text alone: a word such as "all" stands everywhere,
and the files that the rest of the query means must not be lost for it."""
