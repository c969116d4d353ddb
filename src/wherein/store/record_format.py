"""Records to bytes and back: columns in msgpack, arrays as they lie in memory.

A record is kept in two parts. The core is what a segment is made from; references, which only the
call graph reads, are apart, so that building a segment decodes nothing it does not need. Both are
compressed (level 1 halves them for 2 % of a file's digestion) but for the vectors, which are noise.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from wherein.types import FIELDS, Chunk, ChunkTerms, Definition, Import, Record, Reference

__all__ = [
    "RECORD_VERSION",
    "decode_record",
    "decode_references",
    "encode_record",
    "encode_references",
]

RECORD_VERSION = 1
"""1: first form (2026-11). Part of the recipe, so records of another form are never read."""

_REST = len(FIELDS) - 1
_LENGTH = struct.Struct("<I")


class _Core(msgspec.Struct, frozen=True, array_like=True):
    blob_id: str
    language: str | None
    n_bytes: int
    n_lines: int
    encoding: str
    is_generated: bool
    skip_reason: str
    chunks: list[Sequence[Any]]
    """One list for each field of `Chunk`."""
    definitions: list[Sequence[Any]]
    imports: list[Sequence[Any]]
    offsets: bytes
    term_ids: bytes
    body: bytes
    """Counts in the body, one byte for each row."""
    has_rest: bytes
    """One bit for each row: does any other field count it? A quarter do."""
    rest: bytes
    """Counts in the other fields, for those rows."""
    lengths: bytes
    dim: int
    scales: bytes


_core_decoder = msgspec.msgpack.Decoder(_Core)
_references_decoder = msgspec.msgpack.Decoder(list[list[Any]])
_encoder = msgspec.msgpack.Encoder()


def _columns(rows: Sequence[tuple[Any, ...]], names: Sequence[str]) -> list[Sequence[Any]]:
    if not rows:
        return [[] for _ in names]
    return list(zip(*rows, strict=True))


def encode_record(record: Record) -> bytes:
    """Return the core of a record as bytes: all but its references."""
    counts = record.terms.counts
    rest = counts[:, 1:]
    has_rest = rest.any(axis=1)
    core = _Core(
        blob_id=record.blob_id,
        language=record.language,
        n_bytes=record.n_bytes,
        n_lines=record.n_lines,
        encoding=record.encoding,
        is_generated=record.is_generated,
        skip_reason=record.skip_reason,
        chunks=_columns(record.chunks, Chunk._fields),
        definitions=_columns(record.definitions, Definition._fields),
        imports=_columns(record.imports, Import._fields),
        offsets=record.terms.offsets.astype("<i4", copy=False).tobytes(),
        term_ids=record.terms.term_ids.astype("<u8", copy=False).tobytes(),
        body=counts[:, 0].tobytes(),
        has_rest=np.packbits(has_rest).tobytes(),
        rest=rest[has_rest].tobytes(),
        lengths=record.terms.lengths.astype("<u2", copy=False).tobytes(),
        dim=record.vectors.shape[1],
        scales=record.scales.astype("<f4", copy=False).tobytes(),
    )
    packed = zlib.compress(_encoder.encode(core), 1)
    vectors = record.vectors.tobytes()
    return b"".join([_LENGTH.pack(len(packed)), packed, vectors])


def encode_references(record: Record) -> bytes:
    """Return the references of a record as compressed bytes, empty when there are none."""
    if not record.references:
        return b""
    return zlib.compress(_encoder.encode(_columns(record.references, Reference._fields)), 1)


def decode_record(core: bytes, references: bytes = b"") -> Record:
    """Return the record that `encode_record` and `encode_references` gave.

    Args:
        core: What `encode_record` gave.
        references: What `encode_references` gave; left out, the record has none.

    Raises:
        ValueError: The bytes are not a record.
    """
    try:
        (length,) = _LENGTH.unpack_from(core)
        vectors_at = _LENGTH.size + length
        raw = _core_decoder.decode(zlib.decompress(memoryview(core)[_LENGTH.size : vectors_at]))
    except (struct.error, zlib.error, msgspec.MsgspecError) as error:
        message = "not a record"
        raise ValueError(message) from error
    chunks = _chunks(raw.chunks)
    return Record(
        blob_id=raw.blob_id,
        language=raw.language,
        n_bytes=raw.n_bytes,
        n_lines=raw.n_lines,
        encoding=raw.encoding,
        is_generated=raw.is_generated,
        skip_reason=raw.skip_reason,
        chunks=chunks,
        definitions=_definitions(raw.definitions),
        references=decode_references(references),
        imports=_imports(raw.imports),
        terms=_terms(raw),
        vectors=np.frombuffer(core, np.int8, offset=vectors_at).reshape(len(chunks), raw.dim),
        scales=np.frombuffer(raw.scales, "<f4"),
    )


def _terms(raw: _Core) -> ChunkTerms:
    body = np.frombuffer(raw.body, np.uint8)
    counts = np.zeros((len(body), len(FIELDS)), np.uint8)
    counts[:, 0] = body
    has_rest = np.unpackbits(np.frombuffer(raw.has_rest, np.uint8), count=len(body)).view(np.bool_)
    counts[has_rest, 1:] = np.frombuffer(raw.rest, np.uint8).reshape(-1, _REST)
    return ChunkTerms(
        offsets=np.frombuffer(raw.offsets, "<i4"),
        term_ids=np.frombuffer(raw.term_ids, "<u8"),
        counts=counts,
        lengths=np.frombuffer(raw.lengths, "<u2").reshape(-1, len(FIELDS)),
    )


def _chunks(columns: list[Sequence[Any]]) -> tuple[Chunk, ...]:
    by_name = dict(zip(Chunk._fields, columns, strict=True))
    by_name["enclosing"] = [tuple(names) for names in by_name["enclosing"]]
    by_name["names"] = [tuple(names) for names in by_name["names"]]
    return tuple(map(Chunk._make, zip(*by_name.values(), strict=True)))


def _definitions(columns: list[Sequence[Any]]) -> tuple[Definition, ...]:
    by_name = dict(zip(Definition._fields, columns, strict=True))
    by_name["enclosing"] = [tuple(names) for names in by_name["enclosing"]]
    return tuple(map(Definition._make, zip(*by_name.values(), strict=True)))


def _imports(columns: list[Sequence[Any]]) -> tuple[Import, ...]:
    modules, names, lines = columns
    taken: list[tuple[str, ...]] = [tuple(row) for row in names]
    return tuple(map(Import._make, zip(modules, taken, lines, strict=True)))


def decode_references(references: bytes) -> tuple[Reference, ...]:
    """Return the references that `encode_references` gave.

    Raises:
        ValueError: The bytes are not references.
    """
    if not references:
        return ()
    try:
        columns = _references_decoder.decode(zlib.decompress(references))
    except (zlib.error, msgspec.MsgspecError) as error:
        message = "not the references of a record"
        raise ValueError(message) from error
    return tuple(map(Reference._make, zip(*columns, strict=True)))
