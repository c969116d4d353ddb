"""Signals that add a file's chunks up: the evidence of the whole file, and its rank by it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from wherein.search.matches import BODY, Matches
from wherein.search.retrievers import Candidates, FileScores
from wherein.store.formula import BM25F

__all__ = ["SIGNALS", "columns", "reciprocal_ranks"]

SIGNALS: Mapping[str, str] = {
    "dens": "0..1: BM25F of all chunks / n^.65, over the best file's: much in little text",
    "top3": "0..1: BM25F of the three best chunks, over the best file's",
    "dens_top3": "0..1: mean of dens and top3, the untrained sum that picks the candidates",
    "dens2": "0..1: sum of squared chunk scores / n^.5, over the best: concentrated evidence",
    "rr_dens_top3": "0..1: 1 / rank by dens_top3: the gap between ranks, whatever the scores",
    "rr_dens": "0..1: 1 / rank by dens",
    "rr_top1": "0..1: 1 / rank by BM25F of the best chunk",
    "first_chunk": "0..1: BM25F of the first chunk, over the best of all: what a file opens with",
    "body_file": "0..1: BM25 of all bodies as one document, over all idf: the whole file as a unit",
    "near": "0..1: mean of dens_top3 over the other candidates in its folder: a folder about it",
    "best_len": "0..1: log2(1 + body terms of the best chunk) / 12: a real body, not a mention",
    "share_chunks": "0..1: share of the file's chunks that have any query term",
}


def columns(
    matches: Matches, candidates: Candidates, scores: FileScores
) -> dict[str, NDArray[np.float32]]:
    """Return the group's columns, each of shape ``(F,)``."""
    files = matches.files
    density, top3, total = scores.density[files], scores.top3[files], scores.total[files]
    best_chunk = max(float(matches.scores.max(initial=0.0)), 1e-9)
    n = np.maximum(matches.sizes - 1, 1)
    squared = matches.total(matches.scores**2) / np.sqrt(n)
    first = matches.scores[matches.starts] if len(files) else np.zeros(0, np.float32)
    found = {
        "dens": density,
        "top3": top3,
        "dens_top3": total,
        "dens2": squared / max(float(squared.max(initial=0.0)), 1e-9),
        "rr_dens_top3": reciprocal_ranks(total),
        "rr_dens": reciprocal_ranks(density),
        "rr_top1": reciprocal_ranks(scores.top1[files]),
        "first_chunk": first / best_chunk,
        "body_file": _whole_file(matches),
        "near": _neighbours(matches, total),
        "best_len": _best_lengths(matches),
        "share_chunks": matches.total((matches.scores > 0).astype(np.float32)) / n,
    }
    return {name: np.asarray(column, np.float32) for name, column in found.items()}


def reciprocal_ranks(values: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return 1 / rank by falling value, equal values sharing the best; 0 where it is not > 0."""
    if not len(values):
        return np.zeros(0, np.float32)
    ordered = np.sort(-values)
    ranks = np.searchsorted(ordered, -values) + 1
    return np.where(values > 0, 1.0 / ranks, 0.0).astype(np.float32)


def _whole_file(matches: Matches) -> NDArray[np.float32]:
    """Return BM25 of each file's bodies as one document."""
    total = float(matches.idf.sum())
    if total <= 0:
        return np.zeros(len(matches.files), np.float32)
    frequencies = matches.total(matches.counts[BODY].astype(np.float32))
    lengths = matches.index.file_lengths
    average = max(matches.index.average_file_length, 1.0)
    b = BM25F.fields["body"].b
    norms = 1 - b + b * lengths[matches.files] / average
    saturated = frequencies / (frequencies + BM25F.k1 * norms[None])
    return (matches.idf @ saturated / total).astype(np.float32)


def _neighbours(matches: Matches, total: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the mean untrained sum of the other candidates in the same folder, 0 when alone."""
    folders = [matches.index.path(file).rpartition("/")[0] for file in matches.files.tolist()]
    sums: dict[str, float] = {}
    counts: dict[str, int] = {}
    for folder, value in zip(folders, total.tolist(), strict=True):
        sums[folder] = sums.get(folder, 0.0) + value
        counts[folder] = counts.get(folder, 0) + 1
    others = [
        (sums[folder] - value) / max(counts[folder] - 1, 1)
        for folder, value in zip(folders, total.tolist(), strict=True)
    ]
    return np.array(others, np.float32)


def _best_lengths(matches: Matches) -> NDArray[np.float32]:
    """Return the length of each file's best chunk, 0 for a file without a match."""
    lengths = matches.index.field_lengths
    rows = matches.best_rows
    if not len(lengths) or not len(rows):
        return np.zeros(len(rows), np.float32)
    logs = np.log2(1 + lengths[matches.rows[rows], BODY].astype(np.float32)) / 12
    return np.where(matches.scores[rows] > 0, np.minimum(logs, 1), 0).astype(np.float32)
