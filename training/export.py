"""Writes a trained model as the int8 file that the package ships.

python training/export.py --model FILE.npz --output src/wherein/embed/data/static.bin
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from evaluate import Model

from wherein.embed.weights import Weights, verify, write_weights
from wherein.tokens import TERMS_VERSION, term_id

MOST_BYTES = 24_000_000


def quantise(model: Model, name: str) -> Weights:
    """Return the model with an int8 table, its rows in the order of their term ids."""
    ids = np.array([term_id(term) for term in model.vocabulary.terms], np.uint64)
    order = np.argsort(ids)
    rows = np.concatenate([order, np.arange(len(ids), model.vocabulary.n_rows)])
    table = model.table[rows]
    scales = np.maximum(np.abs(table).max(axis=1), 1e-12) / 127.0
    return Weights(
        name=name,
        fingerprint="",
        term_ids=ids[order],
        table=np.rint(table / scales[:, None]).astype(np.int8),
        query_weights=(model.query_weights[rows] * scales).astype(np.float32),
        passage_weights=(model.passage_weights[rows] * scales).astype(np.float32),
        field_weights=model.field_weights.astype(np.float32),
        joined_weight=model.joined_weight,
    )


def main() -> None:
    """Quantise and write one model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--version", required=True)
    options = parser.parse_args()
    weights = quantise(Model.load(options.model), f"wherein static {options.version}")
    about = {"version": options.version, "terms_version": str(TERMS_VERSION)}
    write_weights(options.output, weights, about)
    size = options.output.stat().st_size
    print(f"{size:,} bytes, {len(weights.term_ids):,} terms, {weights.n_buckets:,} buckets")
    if size > MOST_BYTES or not verify(options.output):
        raise SystemExit("the file is too large or damaged")


if __name__ == "__main__":
    main()
