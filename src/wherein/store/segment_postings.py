"""Turns the terms of chunks and of paths into the posting lists of a segment.

Body counts are stored for every posting; the counts in the four rarer fields only for the postings
that have one (a quarter), as rows of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wherein.store.path_terms import path_term_counts
from wherein.tokens import term_id
from wherein.types import FIELDS, Record

__all__ = ["path_postings", "postings"]


def postings(records: Sequence[Record]) -> dict[str, NDArray[Any]]:
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


def path_postings(paths: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Turn the paths, in order, into posting lists of files, each sorted by file."""
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
