"""One working tree's index: its segments with the dead files left out, seen as one.

Files and chunks have ordinals that run on from segment to segment, dead ones included; what is
counted (document frequencies, lengths, numbers of chunks) counts live ones only, so the scores are
those of one fresh segment of the live files, to the last bit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wherein.errors import CorruptIndexError
from wherein.store import vectors
from wherein.store.array_file import ArrayFile
from wherein.store.formula import BM25F, DENSITY_EXPONENT, Bm25f
from wherein.store.segment import Segment
from wherein.tokens import term_id
from wherein.types import FIELDS, Chunk, Definition, FileFlag, FileKind

__all__ = ["ChunkHead", "FoundDefinition", "IndexedFile", "Postings", "TreeIndex"]


@dataclass(frozen=True, slots=True)
class Postings:
    """One term's postings over the live chunks, sorted by chunk ordinal within each segment."""

    chunks: NDArray[np.int64]
    """Shape ``(n,)``: chunk ordinals, no repeats; of the type that arrays are indexed with."""
    body: NDArray[np.uint8]
    """Shape ``(n,)``: term frequency in the body."""
    rare_places: NDArray[np.int64]
    """Shape ``(m,)``: places in ``chunks`` whose chunk has the term in another field as well."""
    rare_counts: NDArray[np.uint8]
    """Shape ``(m, 4)``: frequency in signature, documentation, names, enclosing."""
    files: NDArray[np.uint32]
    """Shape ``(k,)``: ordinals of the live files whose path has the term."""
    path_counts: NDArray[np.uint8]
    """Shape ``(k,)``: frequency in the path."""


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """What the index knows of one file."""

    ordinal: int
    path: str
    language: str | None
    kind: FileKind
    flags: FileFlag
    n_bytes: int
    n_lines: int
    n_imports: int
    n_definitions: int
    blob_id: str
    first_chunk: int
    """Ordinal of its first chunk; its chunks are ``first_chunk`` to ``end_chunk``."""
    end_chunk: int


@dataclass(frozen=True, slots=True)
class FoundDefinition:
    """A definition with the file and the chunk that hold it."""

    file: int
    chunk: int
    """Ordinal of the chunk it begins in, or -1 when the file has none."""
    definition: Definition


@dataclass(frozen=True, slots=True)
class ChunkHead:
    """The names of a chunk."""

    names: tuple[str, ...]
    enclosing: tuple[str, ...]
    kind: str


class TreeIndex:
    """The live files of some segments. What it answers never changes once it is made."""

    def __init__(self, segments: Sequence[tuple[Segment, NDArray[np.bool_] | None]]) -> None:
        """Join ``segments``.

        Args:
            segments: Each with its dead files (True = dead), or None when all are live.

        Raises:
            CorruptIndexError: The number of marks is not that of the files, or the vectors of two
                segments differ in dimension.
        """
        self._segments = tuple(segment for segment, _ in segments)
        for segment, dead in segments:
            if dead is not None and len(dead) != segment.n_files:
                message = f"segment {segment.directory.name!r} has {segment.n_files} files, not"
                message = f"{message} {len(dead)}"
                raise CorruptIndexError(message, hint="run 'wherein index'")
        dims = {segment.dim for segment in self._segments if segment.n_chunks and segment.dim}
        if len(dims) > 1:
            message = f"segments have vectors of different dimensions: {sorted(dims)}"
            raise CorruptIndexError(message, hint="run 'wherein clear'")
        self.dim = dims.pop() if dims else 0
        self._first_files = _starts([s.n_files for s in self._segments])
        self._first_chunks = _starts([s.n_chunks for s in self._segments])
        self.n_files = self._first_files[-1]
        """Ordinals of files run below this; dead files included."""
        self.n_chunks = self._first_chunks[-1]
        """Ordinals of chunks run below this; dead chunks included."""
        self.live_files: NDArray[np.bool_] = np.concatenate(
            [
                np.ones(s.n_files, np.bool_) if dead is None else ~dead.astype(np.bool_)
                for s, dead in segments
            ]
            or [np.zeros(0, np.bool_)]
        )
        """Shape ``(n_files,)``."""
        self._files: dict[int, IndexedFile] = {}  # those that were asked for
        self._heads: dict[int, ChunkHead] = {}
        self._defining: dict[tuple[str, bool], NDArray[np.int64]] = {}
        self._has_dead_in = [dead is not None and bool(dead.any()) for _, dead in segments]
        self._has_dead = any(self._has_dead_in)
        self.n_live_files = int(self.live_files.sum())
        self.chunk_offsets: NDArray[np.int64] = np.concatenate(
            [
                s.file_chunks[:-1].astype(np.int64) + start
                for s, start in zip(self._segments, self._first_chunks, strict=False)
            ]
            + [np.array([self.n_chunks], np.int64)]
        )
        """Shape ``(n_files + 1,)``: the chunks of file ``i`` are ``[i]`` to ``[i + 1]``."""
        self.chunk_counts: NDArray[np.int64] = np.diff(self.chunk_offsets)
        """Shape ``(n_files,)``."""

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments, in order."""
        return self._segments

    @property
    def first_files(self) -> list[int]:
        """Ordinal of the first file of each segment; within one, ordinals follow the paths."""
        return self._first_files[:-1]

    @cached_property
    def file_of_chunk(self) -> NDArray[np.int32]:
        """Shape ``(n_chunks,)``: ordinal of each chunk's file."""
        return np.repeat(np.arange(self.n_files, dtype=np.int32), self.chunk_counts)

    @cached_property
    def live_chunks(self) -> NDArray[np.bool_]:
        """Shape ``(n_chunks,)``."""
        return np.repeat(self.live_files, self.chunk_counts)

    @cached_property
    def n_live_chunks(self) -> int:
        """Number of live chunks."""
        return int(self.chunk_counts[self.live_files].sum())

    def _column(self, name: str, empty: NDArray[Any]) -> NDArray[Any]:
        columns = [segment.arrays.array(name) for segment in self._segments]
        if len(columns) == 1:
            return columns[0]
        return np.concatenate(columns) if columns else empty

    @cached_property
    def field_lengths(self) -> NDArray[np.uint16]:
        """Shape ``(n_chunks, len(FIELDS))``: number of terms by field."""
        return self._column("chunk_lengths", np.zeros((0, len(FIELDS)), np.uint16))

    @cached_property
    def file_lengths(self) -> NDArray[np.int64]:
        """Shape ``(n_files,)``: number of body terms of each file."""
        sums = np.zeros(self.n_chunks + 1, np.int64)
        np.cumsum(self.field_lengths[:, 0], out=sums[1:])
        return sums[self.chunk_offsets[1:]] - sums[self.chunk_offsets[:-1]]

    @cached_property
    def average_file_length(self) -> float:
        """Mean of `file_lengths` over live files."""
        return float(self.file_lengths[self.live_files].mean()) if self.n_live_files else 0.0

    @cached_property
    def density_norms(self) -> NDArray[np.float64]:
        """Shape ``(n_files,)``: what the sum over a file's chunks is divided by."""
        return np.maximum(self.chunk_counts, 1).astype(np.float64) ** DENSITY_EXPONENT

    @cached_property
    def path_lengths(self) -> NDArray[np.uint16]:
        """Shape ``(n_files,)``: number of terms of each path."""
        return self._column("path_lengths", np.zeros(0, np.uint16))

    @cached_property
    def average_lengths(self) -> NDArray[np.float64]:
        """Shape ``(6,)``: mean of each field of `types.FIELDS` over live chunks, then of paths."""
        lengths, paths = self.field_lengths, self.path_lengths
        if self._has_dead:
            lengths, paths = lengths[self.live_chunks], paths[self.live_files]
        # Whole numbers are added before the one division, so the order of segments cannot show.
        sums = [*lengths.sum(axis=0, dtype=np.int64), paths.sum(dtype=np.int64)]
        counts = [max(len(lengths), 1)] * len(FIELDS) + [max(len(paths), 1)]
        return np.array(sums, np.float64) / np.array(counts, np.float64)

    @cached_property
    def norms(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Weight over length norm: ``(5, n_chunks)`` by field, and ``(n_files,)`` for the path."""
        return self.norms_for(BM25F)

    def norms_for(self, formula: Bm25f) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return ``w / (1 - b + b * length / average)`` for each field and for the path."""
        averages = np.where(self.average_lengths > 0, self.average_lengths, 1.0)
        chunk_norms = np.empty((len(FIELDS), self.n_chunks), np.float32)
        for column, name in enumerate(FIELDS):
            chunk_norms[column] = _norm(
                formula, name, self.field_lengths[:, column], averages[column]
            )
        path_norms = _norm(formula, "path", self.path_lengths, averages[-1])
        return chunk_norms, path_norms

    def postings(self, term: str) -> Postings:
        """Return the live postings of ``term`` in all fields, the path's included."""
        wanted = np.uint64(term_id(term))
        found = (self._postings_in(number, wanted) for number in range(len(self._segments)))
        parts = [part for part in found if part is not None]
        if len(parts) < 2:
            return parts[0] if parts else _NO_POSTINGS
        places = _starts([len(part.chunks) for part in parts])
        return Postings(
            chunks=np.concatenate([part.chunks for part in parts]),
            body=np.concatenate([part.body for part in parts]),
            rare_places=np.concatenate(
                [part.rare_places + start for part, start in zip(parts, places, strict=False)]
            ),
            rare_counts=np.concatenate([part.rare_counts for part in parts]),
            files=np.concatenate([part.files for part in parts]),
            path_counts=np.concatenate([part.path_counts for part in parts]),
        )

    def _postings_in(self, number: int, wanted: np.uint64) -> Postings | None:
        """Return the live postings of a term in one segment, None when it has none there."""
        arrays = self._segments[number].arrays
        chunks, body, rare_places, rare_counts = _NO_LISTS
        run = _run(arrays, "term_ids", "term_offsets", wanted)
        if run is not None:
            place, start, stop = run
            rare_start, rare_stop = arrays.part("term_rare_offsets", place, place + 2).tolist()
            chunks = arrays.part("posting_chunk", start, stop).astype(np.int64)
            chunks += self._first_chunks[number]
            body = arrays.part("posting_body", start, stop)
            rare_places = arrays.part("rare_posting", rare_start, rare_stop).astype(np.int64)
            rare_places -= start
            rare_counts = arrays.part("rare_counts", rare_start, rare_stop)
            if self._has_dead_in[number]:
                chunks, body, rare_places, rare_counts = self._live(
                    chunks, body, rare_places, rare_counts
                )
        files, path_counts = self._path_postings_in(number, wanted)
        if not len(chunks) and not len(files):
            return None
        return Postings(chunks, body, rare_places, rare_counts, files, path_counts)

    def _live(
        self,
        chunks: NDArray[np.int64],
        body: NDArray[np.uint8],
        rare_places: NDArray[np.int64],
        rare_counts: NDArray[np.uint8],
    ) -> tuple[NDArray[Any], ...]:
        """Leave out the postings of dead chunks."""
        keep = self.live_chunks.take(chunks)
        if keep.all():
            return chunks, body, rare_places, rare_counts
        kept_rare = keep[rare_places]
        new_places = np.cumsum(keep) - 1
        return (
            chunks[keep],
            body[keep],
            new_places[rare_places[kept_rare]],
            rare_counts[kept_rare],
        )

    def _path_postings_in(
        self, number: int, wanted: np.uint64
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        arrays = self._segments[number].arrays
        run = _run(arrays, "path_term_ids", "path_term_offsets", wanted)
        if run is None:
            return _NO_POSTINGS.files, _NO_POSTINGS.path_counts
        _, start, stop = run
        files = arrays.part("path_posting_file", start, stop) + np.uint32(self._first_files[number])
        counts = arrays.part("path_posting_count", start, stop)
        if self._has_dead_in[number]:
            keep = self.live_files[files]
            files, counts = files[keep], counts[keep]
        return files, counts

    def path_postings(self, term: str) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Return the live files whose path has ``term``, and how often."""
        found = self.postings(term)
        return found.files, found.path_counts

    def document_frequency(self, term: str) -> int:
        """Return how many live chunks have ``term`` in any field, the path included."""
        found = self.postings(term)
        in_path = int(self.chunk_counts[found.files].sum())
        if not in_path:
            return len(found.chunks)
        has_path = np.zeros(self.n_files, np.bool_)
        has_path[found.files] = True
        return in_path + int((~has_path[self.file_of_chunk[found.chunks]]).sum())

    def definitions(self, name: str, *, ignore_case: bool = False) -> list[FoundDefinition]:
        """Return the live definitions of ``name``, by ordinal of their file, then by line."""
        found: list[FoundDefinition] = []
        for number, segment in enumerate(self._segments):
            for row in segment.definition_rows(name, ignore_case=ignore_case).tolist():
                item = self._found(number, row)
                stored = item.definition.name
                # Names are found by hash: the stored name decides.
                same = stored.lower() == name.lower() if ignore_case else stored == name
                if same and self.live_files[item.file]:
                    found.append(item)
        return found

    def defining_files(self, name: str, *, ignore_case: bool = False) -> NDArray[np.int64]:
        """Return the ordinals of the live files that define ``name``, rising, each once."""
        key = (name, ignore_case)
        known = self._defining.get(key)
        if known is None:
            if len(self._defining) >= _MAX_REMEMBERED:
                self._defining.clear()
            known = self._defining[key] = self._find_defining(name, ignore_case=ignore_case)
        return known

    def _find_defining(self, name: str, *, ignore_case: bool) -> NDArray[np.int64]:
        files: set[int] = set()  # np.unique would load numpy.ma, 9 ms of a cold search
        for segment, start in zip(self._segments, self._first_files, strict=False):
            rows = segment.definition_rows(name, ignore_case=ignore_case)
            if len(rows):
                found = segment.arrays.array("definition_file")[rows].astype(np.int64) + start
                files.update(found[self.live_files[found]].tolist())
        return np.array(sorted(files), np.int64)

    def definitions_of(
        self, file: int, name: str, *, ignore_case: bool = False
    ) -> list[FoundDefinition]:
        """Return the definitions of ``name`` in one file, in order."""
        number, row = self._place(file)
        segment = self._segments[number]
        start, stop = segment.file_definitions[row : row + 2].tolist()
        rows = segment.definition_rows(name, ignore_case=ignore_case)
        here = np.sort(rows[(rows >= start) & (rows < stop)])
        return [self._found(number, definition) for definition in here.tolist()]

    def definitions_in(self, file: int) -> list[FoundDefinition]:
        """Return the definitions of one file, in the order of the record."""
        number, row = self._place(file)
        start, stop = self._segments[number].file_definitions[row : row + 2].tolist()
        return [self._found(number, definition) for definition in range(start, stop)]

    def _found(self, number: int, row: int) -> FoundDefinition:
        segment = self._segments[number]
        file = int(segment.arrays.part("definition_file", row, row + 1)[0])
        file += self._first_files[number]
        definition = segment.definition(row)
        return FoundDefinition(file, self.chunk_at(file, definition.start_byte), definition)

    def chunk_at(self, file: int, byte: int) -> int:
        """Return the ordinal of the chunk of ``file`` that holds ``byte``, or -1."""
        number, _ = self._place(file)
        first, end = self.chunk_offsets[file : file + 2].tolist()
        if first == end:
            return -1
        shift = self._first_chunks[number]
        starts = self._segments[number].arrays.part("chunk_bytes", first - shift, end - shift)[:, 0]
        return first + max(int(np.searchsorted(starts, byte, side="right")) - 1, 0)

    def chunk(self, ordinal: int) -> Chunk:
        """Return one chunk."""
        number = bisect_right(self._first_chunks, ordinal) - 1
        return self._segments[number].chunk(ordinal - self._first_chunks[number])

    def lines_in(self, file: int) -> NDArray[np.uint32]:
        """Return the first and the last line of each chunk of a file, 1-based, shape ``(n, 2)``."""
        number, _ = self._place(file)
        shift = self._first_chunks[number]
        first, end = self.chunk_offsets[file : file + 2].tolist()
        return self._segments[number].arrays.part("chunk_lines", first - shift, end - shift)

    def chunk_head(self, ordinal: int) -> ChunkHead:
        """Return what the ranker looks at of one chunk."""
        known = self._heads.get(ordinal)
        if known is None:
            if len(self._heads) >= _MAX_REMEMBERED:
                self._heads.clear()
            number = bisect_right(self._first_chunks, ordinal) - 1
            segment, row = self._segments[number], ordinal - self._first_chunks[number]
            known = self._heads[ordinal] = ChunkHead(
                segment.chunk_names(row), segment.chunk_enclosing(row), segment.chunk_kind(row)
            )
        return known

    def path(self, file: int) -> str:
        """Return the path of one file."""
        known = self._files.get(file)
        if known is not None:
            return known.path
        number, row = self._place(file)
        return self._segments[number].path(row)

    @cached_property
    def paths(self) -> list[str]:
        """The paths of all files by ordinal, dead ones included."""
        return [path for segment in self._segments for path in segment.paths]

    @cached_property
    def _ordinals(self) -> dict[str, int]:
        live = np.flatnonzero(self.live_files).tolist()
        return {self.paths[file]: file for file in live}

    def find(self, path: str) -> int | None:
        """Return the ordinal of the live file at ``path``, or None."""
        return self._ordinals.get(path)

    def file(self, ordinal: int) -> IndexedFile:
        """Return what is known of one file."""
        known = self._files.get(ordinal)
        if known is not None:
            return known
        number, row = self._place(ordinal)
        segment = self._segments[number]
        first_definition, end_definition = segment.file_definitions[row : row + 2].tolist()
        known = IndexedFile(
            ordinal=ordinal,
            path=segment.path(row),
            language=segment.language(row),
            kind=segment.file_kind(row),
            flags=segment.flags(row),
            n_bytes=int(segment.arrays.array("file_bytes")[row]),
            n_lines=int(segment.arrays.array("file_lines")[row]),
            n_imports=int(segment.arrays.array("file_imports")[row]),
            n_definitions=end_definition - first_definition,
            blob_id=segment.blob_id(row),
            first_chunk=int(self.chunk_offsets[ordinal]),
            end_chunk=int(self.chunk_offsets[ordinal + 1]),
        )
        self._files[ordinal] = known
        return known

    @cached_property
    def file_flags(self) -> NDArray[np.uint16]:
        """Shape ``(n_files,)``: `types.FileFlag` bits."""
        return self._column("file_flags", np.zeros(0, np.uint16))

    def files_of_kinds(self, kinds: frozenset[FileKind]) -> NDArray[np.bool_]:
        """Return which files hold one of ``kinds``; shape ``(n_files,)``."""
        column = self._column("file_kind", np.zeros(0, np.uint8))
        is_wanted = np.array([kind in kinds for kind in FileKind])
        return is_wanted[column]

    def files_of_languages(self, languages: frozenset[str]) -> NDArray[np.bool_]:
        """Return which files are in one of ``languages``; shape ``(n_files,)``."""
        return np.concatenate(
            [
                np.isin(
                    s.arrays.array("file_language"),
                    [i + 1 for i, name in enumerate(s.languages) if name in languages],
                )
                for s in self._segments
            ]
            or [np.zeros(0, np.bool_)]
        )

    @cached_property
    def languages(self) -> frozenset[str]:
        """All languages of the segments, dead files included."""
        return frozenset(name for segment in self._segments for name in segment.languages)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """All kinds of symbols and chunks of the segments."""
        return frozenset(kind for segment in self._segments for kind in segment.kinds)

    def chunks_of_kinds(self, kinds: frozenset[str]) -> NDArray[np.bool_]:
        """Return which chunks are of, or hold the start of, a symbol of one of ``kinds``."""
        chosen = np.zeros(self.n_chunks, np.bool_)
        for number, segment in enumerate(self._segments):
            wanted = [i for i, kind in enumerate(segment.kinds) if kind in kinds]
            start, end = self._first_chunks[number : number + 2]
            chosen[start:end] = np.isin(segment.arrays.array("chunk_kind"), wanted)
            rows = np.flatnonzero(np.isin(segment.arrays.array("definition_kind"), wanted))
            files = segment.arrays.array("definition_file")[rows].astype(np.int64)
            starts = segment.arrays.array("definition_places")[rows, 0]
            # (file, byte) pairs in order, so one search finds the chunk of each definition.
            chunk_starts = segment.arrays.array("chunk_bytes")[:, 0].astype(np.int64)
            owners = self.file_of_chunk[start:end].astype(np.int64) - self._first_files[number]
            keys: NDArray[np.int64] = (owners << 32) + chunk_starts
            wanted_keys: NDArray[np.int64] = (files << 32) + starts
            places = np.searchsorted(keys, wanted_keys, "right")
            chosen[start + places[places > 0] - 1] = True
        return chosen

    def similarity(self, query_vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosine of a query with every chunk; dead chunks and other models give 0.

        Args:
            query_vector: Shape ``(dim,)``.

        Returns:
            Shape ``(n_chunks,)``.
        """
        parts: list[NDArray[np.float32]] = []
        query = vectors.quantize(np.asarray(query_vector, np.float32)[None])
        for segment in self._segments:
            if segment.dim == len(query_vector) and segment.n_chunks:
                rows = segment.arrays.array("vectors")
                scales = segment.arrays.array("vector_scales")
                parts.append(vectors.similarities(query, rows, scales))
            else:
                parts.append(np.zeros(segment.n_chunks, np.float32))
        if not parts:
            return np.zeros(0, np.float32)
        scores = parts[0] if len(parts) == 1 else np.concatenate(parts)
        if self._has_dead:
            scores[~self.live_chunks] = 0.0
        return scores

    def dense(
        self, query_vector: NDArray[np.float32], k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the ``k`` chunks nearest to a query, best first, with their cosines."""
        scores = self.similarity(query_vector)
        if self._has_dead:
            scores[~self.live_chunks] = -np.inf
        rows = vectors.best_rows(scores, min(k, self.n_live_chunks))
        return rows, scores[rows]

    def vector(self, chunk: int) -> NDArray[np.float32]:
        """Return the L2-normalised vector of one chunk (zero when it has none)."""
        number = bisect_right(self._first_chunks, chunk) - 1
        segment, row = self._segments[number], chunk - self._first_chunks[number]
        scale = segment.arrays.array("vector_scales")[row]
        return segment.arrays.array("vectors")[row].astype(np.float32) * scale

    def _place(self, file: int) -> tuple[int, int]:
        """Return the number of the segment that holds a file, and its row there."""
        number = bisect_right(self._first_files, file) - 1
        return number, file - self._first_files[number]


_MAX_REMEMBERED = 1 << 14
"""Names and chunks that are remembered: a query asks for each of its words more than once, and the
next query is often about the same files."""

_NO_LISTS: tuple[NDArray[Any], ...] = (
    np.zeros(0, np.int64),
    np.zeros(0, np.uint8),
    np.zeros(0, np.int64),
    np.zeros((0, len(FIELDS) - 1), np.uint8),
)
_NO_POSTINGS = Postings(
    _NO_LISTS[0],
    _NO_LISTS[1],
    _NO_LISTS[2],
    _NO_LISTS[3],
    np.zeros(0, np.uint32),
    np.zeros(0, np.uint8),
)


def _starts(counts: Sequence[int]) -> list[int]:
    """Return the running sums from 0, the total last."""
    starts = [0]
    for count in counts:
        starts.append(starts[-1] + count)
    return starts


def _run(
    arrays: ArrayFile, ids: str, offsets: str, wanted: np.uint64
) -> tuple[int, int, int] | None:
    """Return the place of ``wanted`` among sorted ids and the start and end of its run."""
    known = arrays.array(ids)
    place = int(known.searchsorted(wanted))
    if place == len(known) or known[place] != wanted:
        return None
    start, stop = arrays.part(offsets, place, place + 2).tolist()
    return place, start, stop


def _norm(
    formula: Bm25f, name: str, lengths: NDArray[np.uint16], average: float
) -> NDArray[np.float32]:
    weight = formula.fields[name]
    return (weight.weight / (1 - weight.b + weight.b * (lengths / average))).astype(np.float32)
