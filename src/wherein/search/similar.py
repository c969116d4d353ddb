"""Finds code like a given place: by its rarest words and by its vector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wherein.errors import PathError, QueryError
from wherein.search.filters import Filters, Masks, masks
from wherein.search.literal import TextReader
from wherein.search.places import MAX_FURTHER
from wherein.search.retrievers import MAX_TERMS, best_files
from wherein.store.lexical import score_chunks
from wherein.store.tree_index import TreeIndex
from wherein.tokens import count_terms, scan_words
from wherein.types import Answer, Chunk, Counters, Definition, Evidence, Hit, Span

__all__ = ["similar"]

STRONG_FROM, MODERATE_FROM = 0.75, 0.5
"""Likeness from which a hit counts as strong and as moderate; a copy has 1."""

FURTHER_SHARE = 0.6
"""A further place of a file has at least this share of its best chunk's likeness."""

_MAX_TEXT_CHARS = 100_000


def similar(
    index: TreeIndex,
    path: str,
    line: int,
    *,
    limit: int = 10,
    filters: Filters | None = None,
    read_text: TextReader | None = None,
    repository: str = "",
    snapshot_id: str = "",
) -> Answer:
    """Return the places most like the definition at a line, one for each file.

    Where none holds the line, the whole chunk is what is compared.

    Args:
        index: The tree's index.
        path: File that holds the place.
        line: A line in it, from 1.
        limit: Hits at most.
        filters: Restrictions on the hits.
        read_text: Reads the file's text; without it names and signature stand for it.
        repository: Copied into the hits.
        snapshot_id: Copied into the answer.

    Raises:
        PathError: The index has no such file, or the file has no text.
        QueryError: The file has no such line, or a filter names something unknown.
    """
    own = _chunk_at(index, path, line)
    chunk = index.chunk(own)
    place = _place_in(index, own, line) if read_text is not None else _lines_of(chunk)
    allowed = masks(index, filters or Filters())
    lexical, postings_read = _lexical(index, own, _text_of(chunk, place, path, read_text))
    # The chunk's vector speaks of all of it: of a licence above a small function, too.
    is_most = len(place) * 2 >= len(_lines_of(chunk))
    vector = index.vector(own) if index.dim and is_most else np.zeros(0, np.float32)
    parts = {"words": lexical}
    if vector.any():
        parts["meaning"] = np.maximum(index.similarity(vector), np.float32(0))
    scores = np.asarray(sum(parts.values()), np.float32) / np.float32(len(parts))
    scores[own] = 0
    if allowed.chunks is not None:
        scores[~allowed.chunks] = 0
    hits = _hits(index, scores, parts, limit, repository)
    return Answer(
        hits=tuple(hits),
        snapshot_id=snapshot_id,
        evidence=hits[0].evidence if hits else Evidence.WEAK,
        probability=min(max(hits[0].score, 0.0), 1.0) if hits else 0.0,
        notes=allowed.notes
        if hits or allowed.notes
        else ("nothing shares a word with that place",),
        counters=Counters(
            files_considered=int((_by_file(index, scores, allowed) > 0).sum()),
            postings_read=postings_read,
            vectors_compared=index.n_chunks if vector.any() else 0,
        ),
    )


def _chunk_at(index: TreeIndex, path: str, line: int) -> int:
    file = index.find(path)
    if file is None:
        message = f"{path!r} is not in the index"
        raise PathError(
            message,
            hint="name a file as an answer shows it, or ask again once the first index is built",
        )
    first, end = index.chunk_offsets[file : file + 2].tolist()
    if first == end:
        message = f"{path!r} has no text to compare"
        raise PathError(message, hint="name a file with code or prose")
    n_lines = max(index.file(file).n_lines, index.chunk(end - 1).end_line)
    if not 1 <= line <= n_lines:
        message = f"{path!r} has no line {line}: it has {n_lines}"
        raise QueryError(message, hint=f"name a line from 1 to {n_lines}")
    for ordinal in range(first, end):
        if line <= index.chunk(ordinal).end_line:
            return ordinal
    return end - 1


def _lines_of(chunk: Chunk) -> range:
    """Return the chunk's lines, from 1."""
    return range(chunk.start_line, chunk.end_line + 1)


def _place_in(index: TreeIndex, own: int, line: int) -> range:
    """Return the chunk's lines of the smallest definition that holds the line, else all of them."""
    lines = _lines_of(index.chunk(own))
    file = int(index.file_of_chunk[own])
    held = [
        range(max(_start_of(item), lines.start), min(item.end_line + 1, lines.stop))
        for item in (found.definition for found in index.definitions_in(file))
        if _start_of(item) <= line <= item.end_line
    ]
    return min(held, key=len, default=lines)


def _start_of(item: Definition) -> int:
    """Return the first line of a definition; what a file opens with is its licence, not its own."""
    return item.name_line if item.start_line == 1 else item.start_line


def _text_of(chunk: Chunk, place: range, path: str, read_text: TextReader | None) -> str:
    text = read_text(path) if read_text is not None else None
    if text is None:
        return " ".join((*chunk.names, *chunk.enclosing, chunk.signature))
    return "\n".join(text.split("\n")[place.start - 1 : place.stop - 1])[:_MAX_TEXT_CHARS]


def _lexical(index: TreeIndex, own: int, text: str) -> tuple[NDArray[np.float32], int]:
    """Return each chunk's score for the place's words over the place's own, at most 1."""
    counts = count_terms(scan_words(text))
    weighted: Sequence[tuple[str, float]] = [
        (term, 1.0 + float(np.log(count))) for term, count in counts.items()
    ]
    if len(weighted) > MAX_TERMS:
        value = {
            term: weight / (1 + len(index.postings(term).chunks)) ** 0.5
            for term, weight in weighted
        }
        weighted = sorted(weighted, key=lambda item: (-value[item[0]], item[0]))[:MAX_TERMS]
    found = score_chunks(index, weighted)
    best = float(found.chunks[own])
    if best <= 0:
        return np.zeros(index.n_chunks, np.float32), found.postings_read
    return np.minimum(found.chunks / np.float32(best), np.float32(1)), found.postings_read


def _by_file(index: TreeIndex, scores: NDArray[np.float32], allowed: Masks) -> NDArray[np.float32]:
    """Return the best chunk's score of each file."""
    best = np.zeros(index.n_files, np.float32)
    touched = np.flatnonzero(scores > 0)
    np.maximum.at(best, index.file_of_chunk[touched], scores[touched])
    return best if allowed.files is None else np.where(allowed.files, best, np.float32(0))


def _hits(
    index: TreeIndex,
    scores: NDArray[np.float32],
    parts: dict[str, NDArray[np.float32]],
    limit: int,
    repository: str,
) -> list[Hit]:
    files = best_files(index, _by_file(index, scores, Masks(None, None)), limit).files.tolist()
    hits: list[Hit] = []
    for rank, ordinal in enumerate(files, start=1):
        file = index.file(ordinal)
        rows = scores[file.first_chunk : file.end_chunk]
        order = (np.argsort(-rows, kind="stable") + file.first_chunk).tolist()
        chunk = index.chunk(order[0])
        score = float(scores[order[0]])
        others = [o for o in order[1 : 1 + MAX_FURTHER] if scores[o] >= FURTHER_SHARE * score]
        signals = {name: float(part[order[0]]) / len(parts) for name, part in parts.items()}
        hits.append(
            Hit(
                path=file.path,
                start_line=chunk.start_line,
                end_line=chunk.end_line,
                symbol=chunk.symbol,
                kind=chunk.kind,
                language=file.language,
                score=score,
                rank=rank,
                evidence=_level(score),
                repository=repository,
                signature=chunk.signature,
                further=tuple(_span(index, file.path, other) for other in others),
                signals=signals,
            )
        )
    return hits


def _span(index: TreeIndex, path: str, ordinal: int) -> Span:
    chunk = index.chunk(ordinal)
    return Span(path, chunk.start_line, chunk.end_line)


def _level(score: float) -> Evidence:
    if score >= STRONG_FROM:
        return Evidence.STRONG
    return Evidence.MODERATE if score >= MODERATE_FROM else Evidence.WEAK
