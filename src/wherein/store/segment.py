"""An immutable piece of the index: some files with their chunks, postings, definitions, vectors.

Everything lies in one checked file of arrays (`array_file`), written by `segment_writing`. Files
are sorted by path; a file's chunks and definitions are consecutive rows. What a tree holds is a
list of segments, each with the files of it that are dead (`tree_index`).
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from wherein.errors import CorruptIndexError, NewerIndexError
from wherein.store.array_file import ArrayFile
from wherein.store.segment_format import (
    FILE_KINDS,
    FILE_NAME,
    SEGMENT_VERSION,
    SEPARATOR,
    SegmentMetadata,
)
from wherein.tokens import term_id
from wherein.types import Chunk, Definition, FileFlag, FileKind

__all__ = ["Segment"]


class Segment:
    """An open segment. Arrays are read-only views of the mapped file; ordinals count from 0."""

    def __init__(self, directory: Path, file: ArrayFile, metadata: SegmentMetadata) -> None:
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
        file = ArrayFile(directory / FILE_NAME)
        try:
            metadata = msgspec.msgpack.decode(file.metadata, type=SegmentMetadata)
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
        return FILE_KINDS[int(self.arrays.array("file_kind")[file])]

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
        return tuple(self.string(number).split(SEPARATOR)) if number else ()

    def _row(self, name: str, row: int) -> list[int]:
        return self.arrays.part(name, row, row + 1)[0].tolist()
