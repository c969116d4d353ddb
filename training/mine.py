"""Finds hard negatives: groups each package's passages by what an earlier model thinks alike.

    python training/mine.py --dataset FOLDER --model FILE.npz

Writes ``clusters.npy`` into the folder of loaded pairs: a number for each passage, equal for
passages of one package that lie near the same random one of them. `train --mined` then draws the
groups of its batches from these clusters, so that the negatives of a query are what the earlier
model could mistake for the answer.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from dataset import open_pairs, passage_features
from evaluate import Model, sum_rows
from numpy.typing import NDArray

PER_CLUSTER = 48
DIMENSIONS = 64
BLOCK = 8_192


def clusters_of(vectors: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return for each row the number of the nearest of some rows chosen at random."""
    n = max(1, len(vectors) // PER_CLUSTER)
    centres = vectors[rng.permutation(len(vectors))[:n]]
    parts = [
        (vectors[start : start + BLOCK] @ centres.T).argmax(axis=1)
        for start in range(0, len(vectors), BLOCK)
    ]
    return np.concatenate(parts)


def main() -> None:
    """Write the clusters of one dataset."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    options = parser.parse_args()
    pairs, vocabulary = open_pairs(options.dataset)
    model = Model.load(options.model)
    if vocabulary.terms != model.vocabulary.terms:
        raise SystemExit("the model was trained on another dataset")
    table = np.ascontiguousarray(model.table[:, :DIMENSIONS])
    rng = np.random.default_rng(11)
    clusters = np.zeros(len(pairs.packages), np.int64)
    first = 0
    bounds = np.searchsorted(pairs.packages, np.arange(len(pairs.names) + 1))
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        if begin == end:
            continue
        places, offsets = pairs.passages.take(np.arange(begin, end))
        rows = pairs.passages.values[places]
        shown = np.ones(len(rows), bool)
        features = passage_features(pairs.counts[places], shown, ~shown)
        weights = (features @ model.field_weights) * model.passage_weights[rows]
        weights *= pairs.shares[places]
        vectors = sum_rows(offsets, rows, weights, table)
        clusters[begin:end] = first + clusters_of(vectors, rng)
        first = int(clusters[begin:end].max()) + 1
    np.save(options.dataset / "clusters.npy", clusters)
    print(f"{first:,} clusters of {len(clusters):,} passages")


if __name__ == "__main__":
    main()
