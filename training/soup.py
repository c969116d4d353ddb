"""Averages models of one run: checkpoints of its epochs, or runs that began alike.

python training/soup.py --output FILE.npz FILE.npz FILE.npz …
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from evaluate import Model
from train import Options, save


def mean_model(models: list[Model]) -> Model:
    """Return the mean of the tables and the geometric mean of the weights."""

    def geometric(name: str) -> np.ndarray:
        return np.exp(np.mean([np.log(getattr(model, name)) for model in models], axis=0))

    return replace(
        models[0],
        table=np.mean([model.table for model in models], axis=0),
        query_weights=geometric("query_weights"),
        passage_weights=geometric("passage_weights"),
        field_weights=geometric("field_weights"),
        joined_weight=float(geometric("joined_weight")),
    )


def main() -> None:
    """Write the mean of the models."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("model", type=Path, nargs="+")
    options = parser.parse_args()
    models = [Model.load(path) for path in options.model]
    if any(model.vocabulary.terms != models[0].vocabulary.terms for model in models):
        raise SystemExit("the models have different vocabularies")
    save(mean_model(models), Options(), options.output)


if __name__ == "__main__":
    main()
