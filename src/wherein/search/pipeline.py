"""Answers a query from a tree's index: understand, retrieve, fuse, rank, choose places.

Nothing is written here and nothing is read but the index and, for quoted texts and telling lines,
the text of files through the function that is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from wherein.embed.protocol import Embedder
from wherein.glossary import Glossary
from wherein.search import evidence
from wherein.search.filters import Filters
from wherein.search.finding import Found, find
from wherein.search.literal import TextReader
from wherein.search.places import Place, choose_place, matched_lines, telling_texts
from wherein.search.rank import (
    Ranked,
    Weights,
    WeightSet,
    bundled_weights,
    contributions,
    rank,
    situation,
)
from wherein.search.reranking import Reranked, Reranking, rerank
from wherein.search.retrievers import SignalSource
from wherein.search.signal_groups import glossary as glossary_signals
from wherein.store.tree_index import TreeIndex
from wherein.types import RERANKER_SIGNAL, Answer, Counters, Evidence, Hit

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
    *,
    limit: int = 10,
    filters: Filters | None = None,
    embedder: Embedder | None = None,
    sources: Sequence[SignalSource] = (),
    own_names: Sequence[str] = (),
    read_text: TextReader | None = None,
    weights: Weights | None = None,
    glossary: Glossary | None = None,
    reranking: Reranking | None = None,
    repository: str = "",
    snapshot_id: str = "",
) -> Answer:
    """Answer a query with the best place of each of the best files.

    Args:
        index: The tree's index.
        text: The query: words, names, paths, quoted text, a message, in any mixture.
        limit: Hits at most.
        filters: Restrictions, applied before anything is cut.
        embedder: Makes the query's vector; None searches without vectors.
        sources: Further evidence on files (history, graph).
        own_names: Names of the project itself, which count less in the query.
        read_text: Reads a file's text for quoted texts and telling lines; None leaves them out.
        weights: Other weights than the bundled ones.
        glossary: What the team says for what the code says; widens the query.
        reranking: Reads the first files again, after the ranking; it needs ``read_text``.
        repository: Copied into the hits.
        snapshot_id: Copied into the answer.

    Raises:
        QueryError: The query is empty, or a filter names something unknown.
        PatternError: A glob does not compile.
    """
    found = find(index, text, filters, embedder, sources, own_names, read_text, glossary)
    chosen = (weights or bundled_weights()).choose(
        has_history=_has_history(sources), has_vectors=found.similarities is not None
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
    final = _reranked(index, found, ranked, reranking, read_text)
    hits = tuple(
        _hit(index, found, final, chosen, row, place, sureness, read_text, repository)
        for place, row in enumerate(final.ranked.order[: max(limit, 0)], start=1)
    )
    return Answer(
        hits=hits,
        snapshot_id=snapshot_id,
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
    *,
    filters: Filters | None = None,
    embedder: Embedder | None = None,
    sources: Sequence[SignalSource] = (),
    own_names: Sequence[str] = (),
    read_text: TextReader | None = None,
) -> Features:
    """Return the candidates of a query with all their raw signals; arguments are `search`'s."""
    found = find(index, text, filters, embedder, sources, own_names, read_text)
    files = tuple(found.evaluated.files.tolist())
    paths = tuple(index.path(file) for file in files)
    return Features(
        files,
        paths,
        found.evaluated.names,
        found.evaluated.matrix,
        situation(has_history=_has_history(sources), has_vectors=found.similarities is not None),
        found,
    )


def _has_history(sources: Sequence[SignalSource]) -> bool:
    return any(source.name == "history" for source in sources)


def _reranked(
    index: TreeIndex,
    found: Found,
    ranked: Ranked,
    reranking: Reranking | None,
    read_text: TextReader | None,
) -> Reranked:
    """Let the reranker read the best place of each of the first files."""
    if reranking is None or read_text is None:
        return Reranked(ranked)
    rows: list[int] = []
    texts: list[str] = []
    for row in ranked.order[: reranking.n_files]:
        path = index.path(int(found.evaluated.files[row]))
        content = read_text(path)
        if content is None:
            continue
        chosen = _place(found, row)
        lines = _lines(content, chosen)
        rows.append(row)
        texts.append("\n".join([path, *lines]))
    return rerank(reranking, found.query.subject, ranked, rows, texts)


def _place(found: Found, row: int) -> Place:
    literal = found.literals.get(int(found.evaluated.files[row]))
    line = literal.line if literal else None
    return choose_place(found.matches, found.query, row, found.similarities, line)


def _hit(
    index: TreeIndex,
    found: Found,
    final: Reranked,
    weights: WeightSet,
    row: int,
    place: int,
    sureness: Evidence,
    read_text: TextReader | None,
    repository: str,
) -> Hit:
    ordinal = int(found.evaluated.files[row])
    file = index.file(ordinal)
    literal = found.literals.get(ordinal)
    chosen = _place(found, row)
    numbers: tuple[int, ...] = ()
    texts: dict[int, str] = {}
    content = read_text(file.path) if read_text is not None else None
    if content is not None:
        lines = _lines(content, chosen)
        numbers = matched_lines(lines, chosen.start_line, found.matches.term_weights)
        if literal and chosen.start_line <= literal.line <= chosen.end_line:
            numbers = tuple(dict.fromkeys([literal.line, *numbers]))
        texts = telling_texts(lines, chosen.start_line, numbers)
    signals = dict(contributions(found.evaluated, weights, row))
    if row in final.added:
        signals[RERANKER_SIGNAL] = final.added[row]
    return Hit(
        path=file.path,
        start_line=chosen.start_line,
        end_line=chosen.end_line,
        symbol=chosen.symbol,
        kind=chosen.kind,
        language=file.language,
        score=float(final.ranked.scores[row]),
        rank=place,
        evidence=evidence.hit_level(found.evaluated, row, sureness),
        repository=repository,
        signature=chosen.signature,
        further=chosen.further,
        matched_lines=numbers,
        texts=texts,
        signals=signals,
    )


def _lines(content: str, place: Place) -> list[str]:
    """Return the place's lines; what follows them is not split."""
    return content.split("\n", place.end_line)[place.start_line - 1 : place.end_line]


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
