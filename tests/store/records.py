"""Records made by hand for the store's and the searcher's tests: words in, `Record` out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from wherein.tokens import count_terms, scan_words, term_id
from wherein.types import (
    FIELDS,
    Chunk,
    ChunkTerms,
    Definition,
    FileFlag,
    FileKind,
    FileStat,
    Record,
    SourceFile,
)

STAT = FileStat(size=1, mtime_ns=1, ctime_ns=1, inode=1, mode=0o100644)


def source_file(
    path: str, *, language: str | None = "python", flags: FileFlag = FileFlag.NONE
) -> SourceFile:
    return SourceFile(path, STAT, language, FileKind.CODE, flags)


def chunk_terms(fields: Sequence[Mapping[str, str]]) -> ChunkTerms:
    """One mapping for each chunk: field name to its text."""
    offsets: list[int] = [0]
    ids: list[int] = []
    counts: list[list[int]] = []
    lengths: list[list[int]] = []
    for texts in fields:
        rows: dict[int, list[int]] = {}
        row_lengths: list[int] = []
        for column, name in enumerate(FIELDS):
            found = Counter(count_terms(scan_words(texts.get(name, ""))))
            row_lengths.append(sum(found.values()))
            for term, count in found.items():
                rows.setdefault(term_id(term), [0] * len(FIELDS))[column] = count
        for number in sorted(rows):
            ids.append(number)
            counts.append(rows[number])
        offsets.append(len(ids))
        lengths.append(row_lengths)
    return ChunkTerms(
        np.array(offsets, np.int32),
        np.array(ids, np.uint64),
        np.array(counts, np.uint8).reshape(-1, len(FIELDS)),
        np.array(lengths, np.uint16).reshape(-1, len(FIELDS)),
    )


def record(
    fields: Sequence[Mapping[str, str]],
    *,
    blob: int = 0,
    dim: int = 4,
    vectors: np.ndarray | None = None,
) -> Record:
    """A record with ten lines and 100 bytes a chunk; each word of ``names`` is a definition."""
    chunks: list[Chunk] = []
    definitions: list[Definition] = []
    for i, texts in enumerate(fields):
        names = tuple(texts.get("names", "").split())
        enclosing = tuple(texts.get("enclosing", "").split())
        start, end = 10 * i + 1, 10 * i + 10
        signature = texts.get("signature", "")
        chunks.append(
            Chunk(
                start_byte=100 * i,
                end_byte=100 * i + 100,
                start_line=start,
                end_line=end,
                kind="function" if names else "code",
                symbol=names[0] if names else "",
                enclosing=enclosing,
                signature=signature,
                names=names,
            )
        )
        definitions += [
            Definition(
                name=name,
                kind="function",
                enclosing=enclosing,
                start_byte=100 * i,
                end_byte=100 * i + 100,
                start_line=start,
                end_line=end,
                name_line=start + 1,
                signature=signature,
            )
            for name in names
        ]
    n = len(fields)
    return Record(
        blob_id=f"{blob:040x}",
        language="python",
        n_bytes=100 * n,
        n_lines=10 * n,
        encoding="utf-8",
        is_generated=False,
        skip_reason="",
        chunks=tuple(chunks),
        definitions=tuple(definitions),
        references=(),
        imports=(),
        terms=chunk_terms(fields),
        vectors=np.zeros((n, dim), np.int8) if vectors is None else vectors,
        scales=np.zeros(n, np.float32) if vectors is None else np.full(n, 0.1, np.float32),
    )
