"""An immutable piece of the index: some files with their chunks, postings, definitions, vectors.

Everything lies in one checked file of arrays (`array_file`). Files are sorted by path; a file's
chunks and definitions are consecutive rows. What a tree holds is a list of segments, each with the
files of it that are dead (`tree_index`).

Body counts are stored for every posting; the counts in the four rarer fields only for the postings
that have one (a quarter), as rows of their own.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from wherein.errors import CorruptIndexError, NewerIndexError
from wherein.store.array_file import ArrayFile, write_arrays
from wherein.store.path_terms import path_term_counts
from wherein.tokens import term_id
from wherein.types import FIELDS, Chunk, Definition, FileFlag, FileKind, Record, SourceFile

__all__ = ["SEGMENT_VERSION", "Segment", "SegmentInfo", "write_segment"]

SEGMENT_VERSION = 1
"""1: first form (2026-11)."""

_FILE_NAME = "segment.bin"
_SEPARATOR = "\x1f"  # joins names inside one stored string; no identifier holds it
_KINDS = tuple(FileKind)


@dataclass(frozen=True, slots=True)
class SegmentInfo:
    """What `write_segment` wrote."""

    directory: Path
    n_files: int
    n_chunks: int
    n_definitions: int
    n_postings: int
    n_bytes: int


class _Metadata(msgspec.Struct, frozen=True):
    version: int
    dim: int
    languages: tuple[str, ...]
    kinds: tuple[str, ...]
    """Kinds of symbols and chunks, sorted; rows hold the place in this list."""


def write_segment(directory: Path, files: Iterable[tuple[SourceFile, Record]]) -> SegmentInfo:
    """Write a segment of ``files`` to a new ``directory``, complete or not at all.

    Args:
        directory: Must not exist; its parent must. A half-written neighbour
            ``<name>.tmp-<pid>`` is all that a crash leaves.
        files: Each file once, in any order, with the record of its content. Records whose content
            is not indexed have no chunks and are found by path alone.

    Returns:
        Counts and size.

    Raises:
        CorruptIndexError: The disk did not give back what was written.
    """
    ordered = sorted(files, key=lambda pair: pair[0].path)
    arrays, metadata = _arrays_of(ordered)
    temporary = directory.with_name(f"{directory.name}.tmp-{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    try:
        n_bytes = write_arrays(temporary / _FILE_NAME, arrays, msgspec.msgpack.encode(metadata))
        _sync_directory(temporary)
        temporary.rename(directory)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    _sync_directory(directory.parent)
    return SegmentInfo(
        directory=directory,
        n_files=len(ordered),
        n_chunks=len(arrays["chunk_lines"]),
        n_definitions=len(arrays["definition_file"]),
        n_postings=len(arrays["posting_chunk"]),
        n_bytes=n_bytes,
    )


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class _Strings:
    """Distinct strings in first-seen order; id 0 is the empty one."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {"": 0}

    def add(self, text: str) -> int:
        return self._ids.setdefault(text, len(self._ids))

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        return _blob(name, self._ids)


def _blob(name: str, texts: Iterable[str]) -> dict[str, NDArray[Any]]:
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    offsets = np.zeros(len(encoded) + 1, "<u4")
    np.cumsum([len(data) for data in encoded], out=offsets[1:])
    data = np.frombuffer(b"".join(encoded), "u1")
    return {f"{name}_bytes": data, f"{name}_offsets": offsets}


def _arrays_of(
    ordered: Sequence[tuple[SourceFile, Record]],
) -> tuple[dict[str, NDArray[Any]], _Metadata]:
    records = [record for _, record in ordered]
    languages = sorted({file.language for file, _ in ordered if file.language})
    kinds = sorted(
        {item.kind for record in records for item in chain(record.chunks, record.definitions)}
    )
    kind_ids = {kind: i for i, kind in enumerate(kinds)}
    strings = _Strings()
    dim = max((record.vectors.shape[1] for record in records if len(record.vectors)), default=0)
    arrays: dict[str, NDArray[Any]] = {
        **_blob("path", (file.path for file, _ in ordered)),
        **_file_columns(ordered, languages),
        **_chunk_columns(records, kind_ids, strings),
        **_definition_columns(records, kind_ids, strings),
        **_postings(records),
        **_path_postings([file.path for file, _ in ordered]),
        **_vectors(records, dim),
    }
    arrays |= strings.arrays("string")
    return arrays, _Metadata(SEGMENT_VERSION, dim, tuple(languages), tuple(kinds))


def _file_columns(
    ordered: Sequence[tuple[SourceFile, Record]], languages: Sequence[str]
) -> dict[str, NDArray[Any]]:
    language_ids = {language: i + 1 for i, language in enumerate(languages)}
    columns: dict[str, NDArray[Any]] = {
        "file_language": np.array(
            [language_ids.get(f.language or "", 0) for f, _ in ordered], "u1"
        ),
        "file_kind": np.array([_KINDS.index(f.kind) for f, _ in ordered], "u1"),
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


def _chunk_columns(
    records: Sequence[Record], kind_ids: dict[str, int], strings: _Strings
) -> dict[str, NDArray[Any]]:
    add = strings.add
    chunks = [chunk for record in records for chunk in record.chunks]
    lines = [(c.start_line, c.end_line) for c in chunks]
    spans = [(c.start_byte, c.end_byte) for c in chunks]
    texts = [
        (
            add(c.symbol),
            add(_SEPARATOR.join(c.enclosing)),
            add(c.signature),
            add(_SEPARATOR.join(c.names)),
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


def _definition_columns(
    records: Sequence[Record], kind_ids: dict[str, int], strings: _Strings
) -> dict[str, NDArray[Any]]:
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
            texts.append((add(d.name), add(_SEPARATOR.join(d.enclosing)), add(d.signature)))
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


def _postings(records: Sequence[Record]) -> dict[str, NDArray[Any]]:
    """Turn the forward index of all chunks into posting lists, each sorted by chunk."""
    terms = [record.terms for record in records if len(record.terms.term_ids)]
    n_chunks = sum(len(record.chunks) for record in records)
    if not terms:
        ids, counts = np.zeros(0, "<u8"), np.zeros((0, len(FIELDS)), "u1")
        rows = np.zeros(0, "<u4")
    else:
        ids = np.concatenate([t.term_ids for t in terms], dtype="<u8")
        counts = np.concatenate([t.counts for t in terms], dtype="u1")
        per_chunk = np.concatenate(
            [np.diff(r.terms.offsets) for r in records if len(r.chunks)], dtype=np.int64
        )
        rows = np.repeat(np.arange(n_chunks, dtype="<u4"), per_chunk)
    order = np.argsort(ids, kind="stable")
    ids, counts, rows = ids[order], counts[order], rows[order]
    term_ids, offsets = _group(ids)
    rare = np.flatnonzero(counts[:, 1:].any(axis=1))
    return {
        "term_ids": term_ids,
        "term_offsets": offsets,
        "term_rare_offsets": np.searchsorted(rare, offsets).astype("<u4"),
        "posting_chunk": rows,
        "posting_body": np.ascontiguousarray(counts[:, 0]),
        "rare_posting": rare.astype("<u4"),
        "rare_counts": np.ascontiguousarray(counts[rare, 1:]),
    }


def _group(ids: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Return the distinct values of a sorted array, and where each one's run starts and the end."""
    is_first = np.ones(len(ids), np.bool_)
    is_first[1:] = ids[1:] != ids[:-1]
    starts = np.flatnonzero(is_first)
    return ids[starts], np.append(starts, len(ids)).astype("<u4")


def _path_postings(paths: Sequence[str]) -> dict[str, NDArray[Any]]:
    ids: list[int] = []
    rows: list[int] = []
    counts: list[int] = []
    lengths: list[int] = []
    for row, path in enumerate(paths):
        found = path_term_counts(path)
        lengths.append(min(sum(found.values()), 2**16 - 1))
        for term, count in found.items():
            ids.append(term_id(term))
            rows.append(row)
            counts.append(min(count, 255))
    all_ids = np.array(ids, "<u8")
    order = np.argsort(all_ids, kind="stable")
    term_ids, offsets = _group(all_ids[order])
    return {
        "path_term_ids": term_ids,
        "path_term_offsets": offsets,
        "path_posting_file": np.array(rows, "<u4")[order],
        "path_posting_count": np.array(counts, "u1")[order],
        "path_lengths": np.array(lengths, "<u2"),
    }


def _vectors(records: Sequence[Record], dim: int) -> dict[str, NDArray[Any]]:
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


class Segment:
    """An open segment. Arrays are read-only views of the mapped file; ordinals count from 0."""

    def __init__(self, directory: Path, file: ArrayFile, metadata: _Metadata) -> None:
        self.directory = directory
        self.arrays = file
        self.dim = metadata.dim
        self.languages = metadata.languages
        self.kinds = metadata.kinds
        self.file_chunks: NDArray[np.uint32] = file.array("file_chunks")
        """Shape ``(n_files + 1,)``: the chunks of file ``i`` are ``[i]`` to ``[i + 1]``."""
        self.file_definitions: NDArray[np.uint32] = file.array("file_definitions")
        self.n_files = len(self.file_chunks) - 1
        self.n_chunks = len(file.raw("chunk_lines"))
        self.n_definitions = len(file.raw("definition_file"))
        self._paths: list[str] | None = None

    @classmethod
    def open(cls, directory: Path) -> Segment:
        """Map the segment in ``directory``.

        Raises:
            CorruptIndexError: It is missing or damaged.
            NewerIndexError: It was written by a later version.
        """
        file = ArrayFile(directory / _FILE_NAME)
        try:
            metadata = msgspec.msgpack.decode(file.metadata, type=_Metadata)
        except msgspec.MsgspecError as error:
            message = f"index segment {str(directory)!r} has unreadable metadata"
            raise CorruptIndexError(message, hint="run 'wherein index'") from error
        if metadata.version > SEGMENT_VERSION:
            message = f"index segment {directory.name!r} is newer than this program"
            raise NewerIndexError(message, hint="update wherein, or run 'wherein clear'")
        return cls(directory, file, metadata)

    def close(self) -> None:
        """Let go of the mapping."""
        self.arrays.close()

    def verify(self) -> None:
        """Compare every byte with its checksum.

        Raises:
            CorruptIndexError: One does not match.
        """
        self.arrays.verify()

    @property
    def n_bytes(self) -> int:
        """Size on disk."""
        return self.arrays.size

    @property
    def paths(self) -> list[str]:
        """All paths, sorted, dead files included."""
        if self._paths is None:
            data = self.arrays.array("path_bytes").tobytes()
            ends = self.arrays.array("path_offsets").tolist()
            self._paths = [data[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ends)]
        return self._paths

    def path(self, file: int) -> str:
        """Return the path of one file."""
        start, stop = self.arrays.array("path_offsets")[file : file + 2].tolist()
        return (
            self.arrays.array("path_bytes")[start:stop].tobytes().decode("utf-8", "surrogatepass")
        )

    def language(self, file: int) -> str | None:
        """Return the language of a file."""
        number = int(self.arrays.array("file_language")[file])
        return self.languages[number - 1] if number else None

    def file_kind(self, file: int) -> FileKind:
        """Return what a file holds."""
        return _KINDS[int(self.arrays.array("file_kind")[file])]

    def flags(self, file: int) -> FileFlag:
        """Return a file's flags; a generated-code marker in the content counts too."""
        return FileFlag(int(self.arrays.array("file_flags")[file]))

    def blob_id(self, file: int) -> str:
        """Return the id of a file's content."""
        return self.arrays.array("file_blob")[file].tobytes().hex()

    def chunk(self, row: int) -> Chunk:
        """Return one chunk."""
        symbol, enclosing, signature, names = self._row("chunk_texts", row)
        start_byte, end_byte = self._row("chunk_bytes", row)
        start_line, end_line = self._row("chunk_lines", row)
        return Chunk(
            start_byte=start_byte,
            end_byte=end_byte,
            start_line=start_line,
            end_line=end_line,
            kind=self.chunk_kind(row),
            symbol=self.string(symbol),
            enclosing=self._names(enclosing),
            signature=self.string(signature),
            names=self._names(names),
        )

    def chunk_names(self, row: int) -> tuple[str, ...]:
        """Return the names defined in one chunk."""
        return self._names(self._row("chunk_texts", row)[3])

    def chunk_enclosing(self, row: int) -> tuple[str, ...]:
        """Return the names around one chunk, outermost first."""
        return self._names(self._row("chunk_texts", row)[1])

    def chunk_kind(self, row: int) -> str:
        """Return the kind of one chunk."""
        return self.kinds[int(self.arrays.part("chunk_kind", row, row + 1)[0])]

    def definition(self, row: int) -> Definition:
        """Return one definition."""
        name, enclosing, signature = self._row("definition_texts", row)
        start_byte, end_byte, start_line, end_line, name_line = self._row("definition_places", row)
        return Definition(
            name=self.string(name),
            kind=self.kinds[int(self.arrays.part("definition_kind", row, row + 1)[0])],
            enclosing=self._names(enclosing),
            start_byte=start_byte,
            end_byte=end_byte,
            start_line=start_line,
            end_line=end_line,
            name_line=name_line,
            signature=self.string(signature),
        )

    def definition_rows(self, name: str, *, ignore_case: bool = False) -> NDArray[np.uint32]:
        """Return the rows of the definitions of ``name``, in order."""
        prefix, key = ("lower", name.lower()) if ignore_case else ("exact", name)
        wanted = np.uint64(term_id(key))
        ids = self.arrays.array(f"{prefix}_ids")
        first, last = int(ids.searchsorted(wanted)), int(ids.searchsorted(wanted, "right"))
        return self.arrays.part(f"{prefix}_rows", first, last)

    def string(self, number: int) -> str:
        """Return one stored string."""
        start, stop = self.arrays.part("string_offsets", number, number + 2).tolist()
        data = self.arrays.part("string_bytes", start, stop)
        return data.tobytes().decode("utf-8", "surrogatepass")

    def _names(self, number: int) -> tuple[str, ...]:
        return tuple(self.string(number).split(_SEPARATOR)) if number else ()

    def _row(self, name: str, row: int) -> list[int]:
        return self.arrays.part(name, row, row + 1)[0].tolist()
