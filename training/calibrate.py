"""Tones down what training could not learn: rare terms, buckets, and the spread of weights.

    python training/calibrate.py --dataset FOLDER --model FILE.npz --output FILE.npz

A term that few passages have keeps most of its random start, which is noise in every text that has
it: its weights are multiplied by ``n / (n + confidence)``. The buckets that unknown terms share are
such noise too, but they also recognise an unknown identifier when it is asked for, so theirs are
only lessened. The weights start as inverse document frequencies and move little; the ``power``
narrows them. The trials behind the constants are in ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from dataset import open_pairs
from evaluate import Model
from train import Options, save

CONFIDENCE = 20.0
POWER = 0.9
BUCKETS = 0.7


def calibrated(model: Model, counts: np.ndarray, confidence: float, power: float) -> Model:
    """Return the model with weights by confidence and lessened buckets."""
    n = len(model.vocabulary.terms)
    trust = np.full(model.vocabulary.n_rows, BUCKETS)
    trust[:n] = counts[:n] / (counts[:n] + confidence)

    def toned(weights: np.ndarray) -> np.ndarray:
        powers = np.where(np.arange(len(weights)) < n, weights**power, weights)
        return (powers * trust).astype(np.float32)

    return replace(
        model,
        query_weights=toned(model.query_weights),
        passage_weights=toned(model.passage_weights),
    )


def main() -> None:
    """Write the calibrated model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--confidence", type=float, default=CONFIDENCE)
    parser.add_argument("--power", type=float, default=POWER)
    options = parser.parse_args()
    model, (pairs, vocabulary) = Model.load(options.model), open_pairs(options.dataset)
    if vocabulary.terms != model.vocabulary.terms:
        raise SystemExit("the model was trained on another dataset")
    counts = np.bincount(pairs.passages.values, minlength=vocabulary.n_rows)
    save(calibrated(model, counts, options.confidence, options.power), Options(), options.output)


if __name__ == "__main__":
    main()
