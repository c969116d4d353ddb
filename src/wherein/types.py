"""The frozen values that stages hand to one another.

Inside, bytes are 0-based and half-open; lines are 1-based and inclusive everywhere. Paths are
relative to the workspace root, with ``/``, decoded like `os.fsdecode` (surrogate escapes keep
names that are not UTF-8).

What a file has by the hundred (definitions, references, imports, chunks) is a named tuple: making
one costs a fifth of a frozen dataclass, and its columns are one ``zip``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntFlag, StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "FIELDS",
    "RERANKER_SIGNAL",
    "SHIPPED_RANKING",
    "Answer",
    "Chunk",
    "ChunkTerms",
    "Counters",
    "Definition",
    "Evidence",
    "FileFlag",
    "FileKind",
    "FileStat",
    "Hit",
    "Import",
    "Parsed",
    "Record",
    "Reference",
    "Skipped",
    "SourceFile",
    "Span",
    "TreeEntry",
]

FIELDS = ("body", "signature", "documentation", "names", "enclosing")
"""Lexical fields of a chunk, in the column order of every per-field array.

``body`` is the whole text of the chunk. The sixth field, ``path``, belongs to the tree, not to the
content, and has postings of its own.
"""


class FileKind(StrEnum):
    """What a file holds, as ``--content`` names it."""

    CODE = "code"
    DOCS = "docs"
    CONFIG = "config"
    DATA = "data"


class FileFlag(IntFlag):
    """What the ranker and the filters know of a file from its path and first bytes."""

    NONE = 0
    TEST = 1
    GENERATED = 2
    VENDORED = 4
    EXAMPLE = 8


@dataclass(frozen=True, slots=True)
class FileStat:
    """The stat fields that decide whether a file must be read again."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    mode: int


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file the walk admits."""

    path: str
    stat: FileStat
    language: str | None
    """Grammar name (``python``, ``csharp``…); None for text without one."""
    kind: FileKind
    flags: FileFlag


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not indexed, and why (``reason`` is one of `walk.classify.SKIP_REASONS`)."""

    path: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One admitted file of a tree with the id of its content."""

    file: SourceFile
    blob_id: str
    """Git's blob hash of the bytes on disk (40 hex digits), the same outside git."""


@dataclass(frozen=True, slots=True)
class Span:
    """A path with its first and last line."""

    path: str
    start_line: int
    end_line: int


class Definition(NamedTuple):
    """Where a symbol is defined: the tag's lines cover the whole definition with its comments."""

    name: str
    kind: str
    """One of `parse.tags.DEFINITION_KINDS` (``function``, ``method``, ``class``, …)."""
    enclosing: tuple[str, ...]
    """Names of the definitions around it, outermost first."""
    start_byte: int
    end_byte: int
    start_line: int
    end_line: int
    name_line: int
    """The line the name stands on: what a hit on the symbol points at."""
    signature: str
    """The head of the definition on one line, at most 200 characters."""


class Reference(NamedTuple):
    """Where a symbol is used."""

    name: str
    kind: str
    """``call``, ``type``, ``inherit``, ``read`` (one of `parse.tags.REFERENCE_KINDS`)."""
    line: int
    qualifier: str = ""
    """The receiver or module before the name as written (``self``, ``np``), when there is one."""


class Import(NamedTuple):
    """One imported module with the names taken from it."""

    module: str
    names: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a grammar says of one file."""

    definitions: tuple[Definition, ...]
    references: tuple[Reference, ...]
    imports: tuple[Import, ...]
    comments: tuple[tuple[int, int], ...]
    """Byte ranges of comments and documentation strings, in order, not overlapping."""
    cuts: tuple[int, ...]
    """Byte offsets where the chunker may cut, in order."""
    cut_depths: tuple[int, ...]
    """Depth of each cut in the syntax: the chunker prefers the shallow ones."""
    is_partial: bool = False
    """True when the parse had errors or hit a limit."""


class Chunk(NamedTuple):
    """One indexed piece of a file. Concatenated, a file's chunks are the file."""

    start_byte: int
    end_byte: int
    start_line: int
    end_line: int
    kind: str
    """Kind of the symbol, or ``code``, ``section``, ``text``."""
    symbol: str
    """Name of the definition (or heading) the chunk holds or lies in, else empty."""
    enclosing: tuple[str, ...]
    signature: str
    names: tuple[str, ...]
    """Names defined in the chunk."""


@dataclass(frozen=True, slots=True)
class ChunkTerms:
    """Forward index of one file: which terms stand in which field of which chunk.

    The rows of chunk ``i`` are ``offsets[i]:offsets[i + 1]``, sorted by term id.
    """

    offsets: NDArray[np.int32]
    """Shape ``(n_chunks + 1,)``."""
    term_ids: NDArray[np.uint64]
    """Shape ``(n_rows,)``: `tokens.term_id`."""
    counts: NDArray[np.uint8]
    """Shape ``(n_rows, len(FIELDS))``: term frequency by field, capped at 255."""
    lengths: NDArray[np.uint16]
    """Shape ``(n_chunks, len(FIELDS))``: number of terms by field, capped at 65,535."""


@dataclass(frozen=True, slots=True)
class Record:
    """All that follows from a file's bytes and language alone, under one recipe."""

    blob_id: str
    language: str | None
    n_bytes: int
    n_lines: int
    encoding: str
    """As decoded (``utf-8``, ``utf-16-le``, …); bytes of chunks count in the UTF-8 text."""
    is_generated: bool
    """True when a marker in the first lines says so."""
    skip_reason: str
    """Empty, or why the content is not indexed (``binary``, ``minified``, ``secret``…)."""
    chunks: tuple[Chunk, ...]
    definitions: tuple[Definition, ...]
    references: tuple[Reference, ...]
    imports: tuple[Import, ...]
    terms: ChunkTerms
    vectors: NDArray[np.int8]
    """Shape ``(n_chunks, dim)``."""
    scales: NDArray[np.float32]
    """Shape ``(n_chunks,)``: ``vectors[i] * scales[i]`` is L2-normalised; 0 for an empty chunk."""


class Evidence(StrEnum):
    """How sure a hit or an answer is."""

    STRONG = "strong"
    MODERATE = "moderate"
    WEAK = "weak"


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk with its score, rank and signals: an item of the answer."""

    path: str
    start_line: int
    end_line: int
    symbol: str
    kind: str
    language: str | None
    score: float
    rank: int
    evidence: Evidence
    repository: str
    """Root the path is relative to, as the caller named it."""
    signature: str = ""
    further: tuple[Span, ...] = ()
    """Other good places in the same file, best first."""
    matched_lines: tuple[int, ...] = ()
    """Lines of the chunk that show why, most telling first."""
    texts: Mapping[int, str] = field(default_factory=dict[int, str])
    """Text of the `matched_lines` and of the first line that is not blank, by number; empty where
    the file was not read for the answer."""
    signals: Mapping[str, float] = field(default_factory=dict[str, float])
    """Signal name to its contribution; they sum to the score."""


@dataclass(frozen=True, slots=True)
class Counters:
    """What an answer cost; performance tests assert on these, never on time."""

    files_considered: int = 0
    files_read: int = 0
    files_indexed: int = 0
    postings_read: int = 0
    vectors_compared: int = 0
    texts_reranked: int = 0
    """Places that the optional reranker read."""
    bytes_read: int = 0


RERANKER_SIGNAL = "reranker"
"""The one signal of a hit that no weight of ours weighs."""

SHIPPED_RANKING = "shipped"
"""Name of the ranking where a repository has no weights of its own."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search returns."""

    hits: tuple[Hit, ...]
    snapshot_id: str
    evidence: Evidence
    probability: float
    """Calibrated probability that a right file is among the hits, 0 to 1."""
    notes: tuple[str, ...] = ()
    """What the asker should know: partial match, unknown word, files not covered."""
    glossary_names: tuple[str, ...] = ()
    """Names of the code that the team's glossary added to the query."""
    ranking: str = ""
    """Which weights ranked it: `SHIPPED_RANKING`, or those fitted for the repository."""
    skipped: tuple[Skipped, ...] = ()
    not_covered: tuple[str, ...] = ()
    """Files that changed and are not in the index yet; they were scanned exactly where possible."""
    counters: Counters = Counters()
