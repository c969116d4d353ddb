"""Indexes a handful of files given as text: the real parser, chunker and store, without a walk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from wherein.embed.protocol import Embedder
from wherein.indexing.digest import digest
from wherein.search import pipeline
from wherein.search.equipment import Equipment
from wherein.search.filters import Filters
from wherein.settings import Settings
from wherein.store.segment import Segment
from wherein.store.segment_writing import write_segment
from wherein.store.tree_index import TreeIndex
from wherein.types import Answer, FileStat, Record, SourceFile
from wherein.walk.classify import classify
from wherein.walk.language import detect_language


def indexed_file(
    path: str, data: bytes, home: Path, embedder: Embedder | None
) -> tuple[SourceFile, Record]:
    language = detect_language(path, data)
    kind, flags = classify(path, language, len(data))
    stat = FileStat(size=len(data), mtime_ns=1, ctime_ns=1, inode=1, mode=0o100644)
    record = digest(data, language, Settings(home=home), embedder)
    return SourceFile(path, stat, language, kind, flags), record


class Tree:
    """Files with their index, asked as a workspace would."""

    def __init__(
        self, folder: Path, files: Mapping[str, str | bytes], embedder: Embedder | None = None
    ) -> None:
        self.files = {
            path: text.encode() if isinstance(text, str) else text for path, text in files.items()
        }
        self.embedder = embedder
        directory = folder / "segment"
        write_segment(
            directory,
            [indexed_file(path, data, folder, embedder) for path, data in self.files.items()],
        )
        self.index = TreeIndex([(Segment.open(directory), None)])

    def read(self, path: str) -> str | None:
        return self.files[path].decode("utf-8", "replace")

    def search(self, query: str, *, limit: int = 10, **filters: object) -> Answer:
        return pipeline.search(
            self.index,
            query,
            Equipment(embedder=self.embedder, read_text=self.read),
            limit=limit,
            filters=Filters(**filters),  # type: ignore[arg-type]
        )

    def found(self, query: str, **filters: object) -> list[str]:
        """``path:line-line`` of the hits."""
        return [
            f"{hit.path}:{hit.start_line}-{hit.end_line}"
            for hit in self.search(query, **filters).hits
        ]

    def paths(self, query: str, **filters: object) -> list[str]:
        return [hit.path for hit in self.search(query, **filters).hits]
