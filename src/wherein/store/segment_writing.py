"""Writes a segment, complete or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from numpy.typing import NDArray

from wherein.store.array_file import write_arrays
from wherein.store.segment_columns import (
    Strings,
    chunk_columns,
    definition_columns,
    file_columns,
    text_columns,
    vector_columns,
)
from wherein.store.segment_format import FILE_NAME, SEGMENT_VERSION, SegmentMetadata
from wherein.store.segment_postings import path_postings, postings
from wherein.types import Record, SourceFile

__all__ = ["write_segment"]


def write_segment(directory: Path, files: Iterable[tuple[SourceFile, Record]]) -> None:
    """Write a segment of ``files`` to a new ``directory``, complete or not at all.

    Args:
        directory: Must not exist; its parent must. A half-written neighbour
            ``<name>.tmp-<pid>`` is all that a crash leaves.
        files: Each file once, in any order, with the record of its content. Records whose content
            is not indexed have no chunks and are found by path alone.

    Raises:
        CorruptIndexError: The disk did not give back what was written.
    """
    ordered = sorted(files, key=lambda pair: pair[0].path)
    arrays, metadata = _arrays_of(ordered)
    temporary = directory.with_name(f"{directory.name}.tmp-{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    try:
        write_arrays(temporary / FILE_NAME, arrays, msgspec.msgpack.encode(metadata))
        _sync_directory(temporary)
        temporary.rename(directory)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    _sync_directory(directory.parent)


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _arrays_of(
    ordered: Sequence[tuple[SourceFile, Record]],
) -> tuple[dict[str, NDArray[Any]], SegmentMetadata]:
    records = [record for _, record in ordered]
    languages = sorted({file.language for file, _ in ordered if file.language})
    kinds = sorted(
        {item.kind for record in records for item in chain(record.chunks, record.definitions)}
    )
    kind_ids = {kind: i for i, kind in enumerate(kinds)}
    strings = Strings()
    dim = max((record.vectors.shape[1] for record in records if len(record.vectors)), default=0)
    arrays: dict[str, NDArray[Any]] = {
        **text_columns("path", (file.path for file, _ in ordered)),
        **file_columns(ordered, languages),
        **chunk_columns(records, kind_ids, strings),
        **definition_columns(records, kind_ids, strings),
        **postings(records),
        **path_postings([file.path for file, _ in ordered]),
        **vector_columns(records, dim),
    }
    arrays |= strings.arrays("string")
    return arrays, SegmentMetadata(SEGMENT_VERSION, dim, tuple(languages), tuple(kinds))
