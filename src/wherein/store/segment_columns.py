"""Turns files, chunks, definitions and vectors into the columns of a segment, a row each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wherein.store.segment_format import FILE_KINDS, SEPARATOR
from wherein.tokens import term_id
from wherein.types import FIELDS, FileFlag, Record, SourceFile

__all__ = [
    "Strings",
    "chunk_columns",
    "definition_columns",
    "file_columns",
    "text_columns",
    "vector_columns",
]


class Strings:
    """Distinct strings in first-seen order; id 0 is the empty one."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {"": 0}

    def add(self, text: str) -> int:
        """Return the id of ``text``."""
        return self._ids.setdefault(text, len(self._ids))

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """Return all strings as two columns."""
        return text_columns(name, self._ids)


def text_columns(name: str, texts: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Return ``texts`` end to end as UTF-8, and where in the bytes each begins, and the end."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    offsets = np.zeros(len(encoded) + 1, "<u4")
    np.cumsum([len(data) for data in encoded], out=offsets[1:])
    data = np.frombuffer(b"".join(encoded), "u1")
    return {f"{name}_bytes": data, f"{name}_offsets": offsets}


def file_columns(
    ordered: Sequence[tuple[SourceFile, Record]], languages: Sequence[str]
) -> dict[str, NDArray[Any]]:
    """Return what is kept of each file besides its path; ``languages`` are all there are."""
    language_ids = {language: i + 1 for i, language in enumerate(languages)}
    columns: dict[str, NDArray[Any]] = {
        "file_language": np.array(
            [language_ids.get(f.language or "", 0) for f, _ in ordered], "u1"
        ),
        "file_kind": np.array([FILE_KINDS.index(f.kind) for f, _ in ordered], "u1"),
        "file_flags": np.array([_flags(f, r) for f, r in ordered], "<u2"),
        "file_bytes": np.array([min(r.n_bytes, 2**32 - 1) for _, r in ordered], "<u4"),
        "file_lines": np.array([r.n_lines for _, r in ordered], "<u4"),
        "file_imports": np.array([min(len(r.imports), 2**16 - 1) for _, r in ordered], "<u2"),
        "file_blob": np.frombuffer(b"".join(bytes.fromhex(r.blob_id) for _, r in ordered), "u1"),
        "file_chunks": _offsets([len(r.chunks) for _, r in ordered]),
        "file_definitions": _offsets([len(r.definitions) for _, r in ordered]),
    }
    columns["file_blob"] = columns["file_blob"].reshape(len(ordered), -1 if ordered else 20)
    return columns


def _flags(file: SourceFile, record: Record) -> int:
    return int(file.flags | (FileFlag.GENERATED if record.is_generated else FileFlag.NONE))


def _offsets(counts: Sequence[int]) -> NDArray[np.uint32]:
    offsets = np.zeros(len(counts) + 1, "<u4")
    np.cumsum(counts, out=offsets[1:])
    return offsets


def chunk_columns(
    records: Sequence[Record], kind_ids: dict[str, int], strings: Strings
) -> dict[str, NDArray[Any]]:
    """Return what is kept of each chunk, files in order; texts go to ``strings``."""
    add = strings.add
    chunks = [chunk for record in records for chunk in record.chunks]
    lines = [(c.start_line, c.end_line) for c in chunks]
    spans = [(c.start_byte, c.end_byte) for c in chunks]
    texts = [
        (
            add(c.symbol),
            add(SEPARATOR.join(c.enclosing)),
            add(c.signature),
            add(SEPARATOR.join(c.names)),
        )
        for c in chunks
    ]
    lengths = [record.terms.lengths for record in records if len(record.chunks)]
    return {
        "chunk_lines": np.array(lines, "<u4").reshape(-1, 2),
        "chunk_bytes": np.array(spans, "<u4").reshape(-1, 2),
        "chunk_kind": np.array([kind_ids[c.kind] for c in chunks], "u1"),
        "chunk_texts": np.array(texts, "<u4").reshape(-1, 4),
        "chunk_lengths": np.concatenate(lengths, dtype="<u2")
        if lengths
        else np.zeros((0, len(FIELDS)), "<u2"),
    }


def definition_columns(
    records: Sequence[Record], kind_ids: dict[str, int], strings: Strings
) -> dict[str, NDArray[Any]]:
    """Return what is kept of each definition, and its rows sorted by the name's id."""
    add = strings.add
    places: list[tuple[int, ...]] = []
    texts: list[tuple[int, int, int]] = []
    files: list[int] = []
    kinds: list[int] = []
    exact: list[int] = []
    lower: list[int] = []
    for row, record in enumerate(records):
        for d in record.definitions:
            places.append((d.start_byte, d.end_byte, d.start_line, d.end_line, d.name_line))
            texts.append((add(d.name), add(SEPARATOR.join(d.enclosing)), add(d.signature)))
            files.append(row)
            kinds.append(kind_ids[d.kind])
            exact.append(term_id(d.name))
            lower.append(term_id(d.name.lower()))
    exact_ids, lower_ids = np.array(exact, "<u8"), np.array(lower, "<u8")
    by_exact = np.argsort(exact_ids, kind="stable").astype("<u4")
    by_lower = np.argsort(lower_ids, kind="stable").astype("<u4")
    return {
        "definition_file": np.array(files, "<u4"),
        "definition_places": np.array(places, "<u4").reshape(-1, 5),
        "definition_kind": np.array(kinds, "u1"),
        "definition_texts": np.array(texts, "<u4").reshape(-1, 3),
        "exact_ids": exact_ids[by_exact],
        "exact_rows": by_exact,
        "lower_ids": lower_ids[by_lower],
        "lower_rows": by_lower,
    }


def vector_columns(records: Sequence[Record], dim: int) -> dict[str, NDArray[Any]]:
    """Stack the vectors; a record made without a model gets zero rows."""
    vectors = np.zeros((sum(len(r.chunks) for r in records), dim), "i1")
    scales = np.zeros(len(vectors), "<f4")
    row = 0
    for record in records:
        n = len(record.chunks)
        if record.vectors.shape == (n, dim):
            vectors[row : row + n] = record.vectors
            scales[row : row + n] = record.scales
        row += n
    return {"vectors": vectors, "vector_scales": scales}
