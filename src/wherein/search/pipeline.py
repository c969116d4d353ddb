"""Answers a query from a tree's index: understand, retrieve, fuse, rank, choose places.

Nothing is written here and nothing is read but the index and, for quoted texts and telling lines,
the text of files through the function that is given.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from wherein.search import evidence
from wherein.search.equipment import INDEX_ALONE, Equipment
from wherein.search.filters import Filters
from wherein.search.finding import Found, find
from wherein.search.hits import make_hit, reranked
from wherein.search.rank import bundled_weights, rank, situation
from wherein.search.signal_groups import glossary as glossary_signals
from wherein.store.tree_index import TreeIndex
from wherein.types import Answer, Counters, Evidence

__all__ = ["NOTHING_INDEXED", "Features", "explain_features", "search"]


NOTHING_INDEXED = (
    "no file is indexed: the folder is empty, or ignore files such as .gitignore leave"
    " out all of it (the setting include takes ignored files in)"
)
"""A note that holds only where nothing is left to be indexed."""


@dataclass(frozen=True, slots=True)
class Features:
    """What the ranker knows of a query's candidates, for learning weights."""

    files: tuple[int, ...]
    """Ordinals of the candidate files, best first by the first stage."""
    paths: tuple[str, ...]
    names: tuple[str, ...]
    matrix: NDArray[np.float32]
    """Shape ``(len(files), len(names))``, raw signal values."""
    situation: str
    """The set of weights that counts for the query: one of `rank.SITUATIONS`."""
    found: Found
    """What the signals were made from."""


def search(
    index: TreeIndex,
    text: str,
    equipment: Equipment = INDEX_ALONE,
    *,
    limit: int = 10,
    filters: Filters | None = None,
) -> Answer:
    """Answer a query with the best place of each of the best files.

    Args:
        index: The tree's index.
        text: The query: words, names, paths, quoted text, a message, in any mixture.
        equipment: What takes part besides the index.
        limit: Hits at most.
        filters: Restrictions, applied before anything is cut.

    Raises:
        QueryError: The query is empty, or a filter names something unknown.
        PatternError: A glob does not compile.
    """
    found = find(index, text, filters, equipment)
    chosen = (equipment.weights or bundled_weights()).choose(
        has_history=equipment.has_history, has_vectors=found.similarities is not None
    )
    if found.query.glossary_names:
        own = {**glossary_signals.WEIGHTS, **chosen.weights}
        chosen = msgspec.structs.replace(chosen, weights=own)
    paths = [index.path(file) for file in found.evaluated.files.tolist()]
    ranked = rank(found.evaluated, chosen, paths)
    features = evidence.answer_features(found.evaluated, ranked, limit)
    chance = evidence.probability(features, chosen.evidence) if ranked.order else 0.0
    sureness = evidence.level(chance, features) if ranked.order else Evidence.WEAK
    if found.query.is_symbol and evidence.missing_names(found.query, found.matches):
        sureness = Evidence.WEAK  # the one name asked for is nowhere: all hits are guesses
    final = reranked(found, ranked, equipment)
    hits = tuple(
        make_hit(found, final, chosen, place, sureness, equipment)
        for place in range(len(final.ranked.order[: max(limit, 0)]))
    )
    return Answer(
        hits=hits,
        snapshot_id=equipment.snapshot_id,
        evidence=sureness,
        probability=chance,
        notes=(*found.notes, *_notes(found, bool(hits)), *([final.note] if final.note else [])),
        glossary_names=found.query.glossary_names,
        counters=Counters(
            files_considered=len(found.candidates.files),
            postings_read=found.postings_read,
            vectors_compared=index.n_chunks if found.similarities is not None else 0,
            texts_reranked=final.n_texts,
        ),
    )


def explain_features(
    index: TreeIndex,
    text: str,
    equipment: Equipment = INDEX_ALONE,
    *,
    filters: Filters | None = None,
) -> Features:
    """Return the candidates of a query with all their raw signals; arguments are `search`'s."""
    found = find(index, text, filters, equipment)
    files = tuple(found.evaluated.files.tolist())
    paths = tuple(index.path(file) for file in files)
    return Features(
        files,
        paths,
        found.evaluated.names,
        found.evaluated.matrix,
        situation(has_history=equipment.has_history, has_vectors=found.similarities is not None),
        found,
    )


def _notes(found: Found, has_hits: bool) -> list[str]:
    """Return what the asker should know: no words, unknown words, texts found only in part.

    Of files that are not indexed, or only by their beginning, nothing is claimed.
    """
    query = found.query
    if query.is_empty:
        return ["the query has no word or number to look for: use grep to find signs"]
    if not found.matches.index.live_files.any():
        return [NOTHING_INDEXED]
    notes: list[str] = []
    if query.is_cut:
        notes.append("the query is very long: only its first different words were looked at")
    missing = evidence.missing_words(query, found.matches)
    if missing:
        words = ", ".join(repr(word) for word in missing[:8])
        more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
        notes.append(f"in no indexed file: {words}{more}")
    partial = [name for name in evidence.missing_names(query, found.matches) if name not in missing]
    if partial:
        names = ", ".join(repr(name) for name in partial[:8])
        notes.append(f"in no indexed file as written, only in parts: {names}")
    has_whole = any(literal.share >= 1 for literal in found.literals.values())
    if has_hits and not has_whole and (query.quoted or query.is_message):
        what = "the quoted text" if query.quoted else "the whole text"
        notes.append(f"no indexed line has {what}: these are partial matches")
    return notes
