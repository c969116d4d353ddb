"""One working tree's index: its segments with the dead files left out, seen as one.

Three layers, each a module: which files there are (`tree_files`), which terms stand where
(`tree_postings`), and here definitions, chunks and vectors.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wherein.store import vectors
from wherein.store.segment import Segment
from wherein.store.tree_postings import TreePostings
from wherein.types import Chunk, Definition

__all__ = ["ChunkHead", "FoundDefinition", "TreeIndex"]


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


class TreeIndex(TreePostings):
    """The live files of some segments. What it answers never changes once it is made."""

    def __init__(self, segments: Sequence[tuple[Segment, NDArray[np.bool_] | None]]) -> None:
        """Join ``segments``, as `TreeFiles` does."""
        super().__init__(segments)
        self._heads: dict[int, ChunkHead] = {}
        self._defining: dict[tuple[str, bool], NDArray[np.int64]] = {}

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

    def vector(self, chunk: int) -> NDArray[np.float32]:
        """Return the L2-normalised vector of one chunk (zero when it has none)."""
        number = bisect_right(self._first_chunks, chunk) - 1
        segment, row = self._segments[number], chunk - self._first_chunks[number]
        scale = segment.arrays.array("vector_scales")[row]
        return segment.arrays.array("vectors")[row].astype(np.float32) * scale


_MAX_REMEMBERED = 1 << 14
"""Names and chunks that are remembered: a query asks for each of its words more than once, and the
next query is often about the same files."""
