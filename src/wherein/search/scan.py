"""Looks for a query's identifiers in files that the index does not cover yet, by plain reading."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wherein.errors import PathError
from wherein.search.filters import Filters, admits
from wherein.search.query import is_code_name, understand
from wherein.types import Answer, Evidence, FileStat, Hit, SourceFile
from wherein.walk.classify import classify
from wherein.walk.encoding import decode
from wherein.walk.language import detect_language
from wherein.walk.reading import TreeReader

__all__ = ["with_scan"]

_CONTEXT_LINES = 4
_MIN_WORD_CHARS = 3

_SECONDS = 2.0
"""Time for reading files that are not covered; the rest are named."""

_NO_STAT = FileStat(0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class _Scanned:
    """What scanning found."""

    hits: tuple[Hit, ...]
    """Best first; scores are shares of the query's words that a file holds."""
    n_files: int
    """Files read; the others are neither indexed nor scanned."""
    n_bytes: int


def with_scan(
    answer: Answer,
    query: str,
    limit: int,
    filters: Filters,
    *,
    root: Path,
    max_file_bytes: int,
    repository: str,
) -> Answer:
    """Return an answer with the hits that reading the files it does not cover gives.

    Args:
        answer: From the index; ``not_covered`` names the files.
        query: What was asked; where it is empty the files are only counted.
        limit: Hits at most.
        filters: Restrictions.
        root: The tree.
        max_file_bytes: Of a larger file only the beginning is read.
        repository: Copied into the hits.
    """
    paths = answer.not_covered
    note = f"{len(paths)} files changed and are not in the index yet"
    if not query:
        return replace(answer, notes=(*answer.notes, note))
    with TreeReader(root) as reader:
        scanned = _scan(
            paths,
            query,
            filters=filters,
            limit=limit,
            read=lambda path: _text(reader, path, max_file_bytes),
            repository=repository,
        )
    how = f"{note}: {scanned.n_files} of them were scanned for the query's words"
    return replace(
        answer,
        hits=_joined_hits(answer, scanned.hits, limit),
        notes=(*answer.notes, how),
        counters=replace(
            answer.counters,
            files_read=answer.counters.files_read + scanned.n_files,
            bytes_read=answer.counters.bytes_read + scanned.n_bytes,
        ),
    )


def _text(reader: TreeReader, path: str, max_bytes: int) -> str | None:
    try:
        decoded = decode(reader.read(path, max_bytes).data)
    except PathError:
        return None
    return decoded.text if decoded else None


def _scan(
    paths: Sequence[str],
    text: str,
    *,
    filters: Filters,
    limit: int,
    read: Callable[[str], str | None],
    repository: str,
) -> _Scanned:
    """Read files and return those that hold the words of a query.

    Args:
        paths: Files that are not covered, sorted.
        text: The query.
        filters: Restrictions; kinds of symbol are not known here and let everything through.
        limit: Hits at most.
        read: Gives a file's text, None when it cannot be read.
        repository: Copied into the hits.
    """
    words = _words(text)
    deadline = time.monotonic() + _SECONDS
    hits: list[Hit] = []
    n_files = n_bytes = 0
    for path in paths if words else ():
        if time.monotonic() >= deadline:
            break
        file = _source_file(path)
        if not admits(filters, file):
            continue
        content = read(path)
        n_files += 1
        if content is not None:
            n_bytes += len(content)
            found = _hit(file, content, words, repository)
            if found is not None:
                hits.append(found)
    hits.sort(key=lambda hit: (-hit.score, hit.path))
    return _Scanned(tuple(hits[:limit]), n_files, n_bytes)


def _source_file(path: str) -> SourceFile:
    language = detect_language(path, None)
    kind, flags = classify(path, language)
    return SourceFile(path, _NO_STAT, language, kind, flags)


def _words(text: str) -> list[str]:
    """Return what to look for: the code names of the query, or else its telling words."""
    query = understand(text)
    names = [word for word in query.words if is_code_name(word)]
    telling = [word for word in query.words if len(word) >= _MIN_WORD_CHARS]
    return list(dict.fromkeys(word.lower() for word in names or telling))


def _hit(file: SourceFile, content: str, words: Sequence[str], repository: str) -> Hit | None:
    pattern = re.compile("|".join(sorted(map(re.escape, words), reverse=True)), re.IGNORECASE)
    by_line: dict[int, set[str]] = {}
    line, end = 1, 0
    for match in pattern.finditer(content):
        line += content.count("\n", end, match.start())
        end = match.start()
        by_line.setdefault(line, set()).add(match.group().lower())
    if not by_line:
        return None
    all_found = {word for found in by_line.values() for word in found}
    best = min(by_line, key=lambda number: (-len(by_line[number]), number))
    n_lines = content.count("\n") + 1
    share = len(all_found) / len(words)
    return Hit(
        path=file.path,
        start_line=max(1, best - _CONTEXT_LINES),
        end_line=min(n_lines, best + _CONTEXT_LINES),
        symbol="",
        kind="text",
        language=file.language,
        score=share,
        rank=0,
        evidence=Evidence.MODERATE if share == 1 else Evidence.WEAK,
        repository=repository,
        matched_lines=tuple(sorted(by_line)[:5]),
        signals={"words found by scanning": share},
    )


def _joined_hits(answer: Answer, scanned: Sequence[Hit], limit: int) -> tuple[Hit, ...]:
    """Put scanned hits after the ranked ones, or before them where those are guesses.

    The scores keep the order: a scanned hit's is its share of the words, below what precedes it.
    """
    certain = [hit for hit in scanned if hit.evidence is not Evidence.WEAK]
    if answer.evidence is Evidence.WEAK:
        others = [hit for hit in scanned if hit.evidence is Evidence.WEAK]
        hits = [*certain, *answer.hits, *others][:limit]
    else:
        kept = max(limit - len(certain), limit - limit // 3)
        hits = [*answer.hits[:kept], *scanned][:limit]
    scored: list[Hit] = []
    ceiling = max((hit.score for hit in answer.hits), default=0.0) + 1
    for rank, hit in enumerate(hits, start=1):
        is_scanned = hit.rank == 0
        score = min(ceiling, ceiling * hit.score if is_scanned else hit.score)
        signals = {"words found by scanning": score} if is_scanned else hit.signals
        scored.append(replace(hit, rank=rank, score=score, signals=signals))
        ceiling = score
    return tuple(scored)
