"""The files of one working tree's index: those of its segments, the dead ones left out.

Files and chunks have ordinals that run on from segment to segment, dead ones included.
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
from wherein.store.segment import Segment
from wherein.types import FileFlag, FileKind

__all__ = ["IndexedFile", "TreeFiles", "starts_of"]


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """What the index knows of one file."""

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


class TreeFiles:
    """Which files and chunks there are, and what each file is."""

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
        self._first_files = starts_of([s.n_files for s in self._segments])
        self._first_chunks = starts_of([s.n_chunks for s in self._segments])
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

    def _place(self, file: int) -> tuple[int, int]:
        """Return the number of the segment that holds a file, and its row there."""
        number = bisect_right(self._first_files, file) - 1
        return number, file - self._first_files[number]

    def _column(self, name: str, empty: NDArray[Any]) -> NDArray[Any]:
        columns = [segment.arrays.array(name) for segment in self._segments]
        if len(columns) == 1:
            return columns[0]
        return np.concatenate(columns) if columns else empty


def starts_of(counts: Sequence[int]) -> list[int]:
    """Return the running sums from 0, the total last."""
    starts = [0]
    for count in counts:
        starts.append(starts[-1] + count)
    return starts
