"""All that follows from the bytes of one file: text, tags, chunks, terms, vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wherein.chunk.chunker import CHUNK_VERSION, chunk_file
from wherein.chunk.fields import chunk_terms
from wherein.embed.protocol import Embedder
from wherein.parse.notebook import NOTEBOOK, cell_sources
from wherein.parse.tags import PARSE_VERSION, parse
from wherein.settings import Settings
from wherein.store.record_format import RECORD_VERSION
from wherein.store.vectors import quantize
from wherein.tokens import TERMS_VERSION
from wherein.types import FIELDS, Chunk, ChunkTerms, Parsed, Record
from wherein.walk.blob import blob_id
from wherein.walk.classify import content_skip_reason, is_generated_text
from wherein.walk.encoding import decode

__all__ = ["DIGEST_VERSION", "chunk_texts", "digest", "recipe", "skip_record"]

DIGEST_VERSION = 3
"""Part of the recipe: raise it when decoding, limits or quantisation change."""


def recipe(settings: Settings, embedder: Embedder | None) -> str:
    """Return the hash of everything besides bytes and language that decides what a record holds.

    A record made under another recipe is never read, so vectors of two models never meet.
    """
    parts = (
        RECORD_VERSION,
        DIGEST_VERSION,
        TERMS_VERSION,
        PARSE_VERSION,
        CHUNK_VERSION,
        _installed_version("semble_grammars"),
        _installed_version("tree_sitter"),
        settings.chunk_chars,
        settings.max_file_bytes,
        embedder.fingerprint if embedder else "none",
    )
    return blake2b(repr(parts).encode(), digest_size=10).hexdigest()


def _installed_version(package: str) -> str:
    """Return the name of the folder pip notes an installed package's version in.

    Importing the package or `importlib.metadata` costs each query 30 ms; looking at a name, none.
    """
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        return ""
    beside = Path(spec.origin).parent.parent
    return ",".join(sorted(path.name for path in beside.glob(f"{package}-*.dist-info")))


def digest(
    data: bytes, language: str | None, settings: Settings, embedder: Embedder | None
) -> Record:
    """Return the record of one content.

    A file larger than ``settings.max_file_bytes`` is not parsed; its beginning is cut by lines.

    Args:
        data: The file's bytes, all of them.
        language: Grammar name, None for text without one.
        settings: Chunk size and limits.
        embedder: Makes the vectors; None makes records without.
    """
    name = blob_id(data)
    decoded = decode(_beginning(data, settings.max_file_bytes))
    if decoded is None:
        return skip_record(name, language, len(data), "binary")
    text = decoded.text.encode("utf-8", "surrogatepass")
    reason = content_skip_reason(decoded.text, language)
    if reason:
        return skip_record(name, language, len(data), reason)
    is_whole = len(data) <= settings.max_file_bytes
    parsed = parse(text, language) if is_whole else None
    text = _searched(text, language)
    chunks = chunk_file(text, language, parsed, settings.chunk_chars)
    terms, strings = chunk_terms(text, chunks, parsed)
    vectors, scales = _embed(embedder, terms, strings, text, chunks)
    found = parsed or Parsed((), (), (), (), (), ())
    return Record(
        blob_id=name,
        language=language,
        n_bytes=len(data),
        n_lines=text.count(b"\n") + (not text.endswith(b"\n") and bool(text)),
        encoding=decoded.encoding,
        is_generated=is_generated_text(decoded.text),
        skip_reason="",
        chunks=chunks,
        definitions=found.definitions,
        references=found.references,
        imports=found.imports,
        terms=terms,
        vectors=vectors,
        scales=scales,
    )


def chunk_texts(data: bytes, record: Record, settings: Settings) -> tuple[str, ...]:
    """Return the texts of a record's chunks.

    Args:
        data: The bytes that the record was made of.
        record: What `digest` gave.
        settings: Those it was given.
    """
    decoded = decode(_beginning(data, settings.max_file_bytes))
    if decoded is None or not record.chunks:
        return ()
    text = _searched(decoded.text.encode("utf-8", "surrogatepass"), record.language)
    return tuple(_Texts(text, record.chunks))


def _searched(text: bytes, language: str | None) -> bytes:
    """Return what of a file is found by its words, every line in its place."""
    return cell_sources(text) if language == NOTEBOOK else text


def _beginning(data: bytes, max_bytes: int) -> bytes:
    """Return the whole lines among the first bytes of a file that is too large."""
    if len(data) <= max_bytes:
        return data
    end = data.rfind(b"\n", 0, max_bytes) + 1
    return data[: end or max_bytes]


def skip_record(name: str, language: str | None, n_bytes: int, reason: str) -> Record:
    """Return the record of a content that is not indexed, and why."""
    terms = ChunkTerms(
        offsets=np.zeros(1, np.int32),
        term_ids=np.zeros(0, np.uint64),
        counts=np.zeros((0, len(FIELDS)), np.uint8),
        lengths=np.zeros((0, len(FIELDS)), np.uint16),
    )
    return Record(
        blob_id=name,
        language=language,
        n_bytes=n_bytes,
        n_lines=0,
        encoding="",
        is_generated=False,
        skip_reason=reason,
        chunks=(),
        definitions=(),
        references=(),
        imports=(),
        terms=terms,
        vectors=np.zeros((0, 0), np.int8),
        scales=np.zeros(0, np.float32),
    )


class _Texts(Sequence[str]):
    """The chunks' texts, decoded when somebody looks."""

    def __init__(self, text: bytes, chunks: Sequence[Chunk]) -> None:
        self._text = text
        self._chunks = chunks

    def __len__(self) -> int:
        return len(self._chunks)

    def __getitem__(self, place: int | slice) -> str | list[str]:  # pyright: ignore[reportIncompatibleMethodOverride]
        if isinstance(place, slice):
            return [self._decoded(chunk) for chunk in self._chunks[place]]
        return self._decoded(self._chunks[place])

    def _decoded(self, chunk: Chunk) -> str:
        return self._text[chunk.start_byte : chunk.end_byte].decode("utf-8", "replace")


def _embed(
    embedder: Embedder | None,
    terms: ChunkTerms,
    strings: Mapping[int, str],
    text: bytes,
    chunks: Sequence[Chunk],
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    if embedder is None or not chunks:
        dim = embedder.dim if embedder else 0
        return np.zeros((len(chunks), dim), np.int8), np.zeros(len(chunks), np.float32)
    return quantize(embedder.embed_chunks(terms, strings, _Texts(text, chunks)))
