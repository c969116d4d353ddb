"""Trains the static model: one vector a term, learned term weights for queries and passages.

    python training/train.py --work DIR --output FILE.npz [--terms N --epochs N …]

A text's vector is the weighted mean of its terms' vectors. Loss: InfoNCE both ways over large
batches whose negatives come from the same package, at 256, 128 and 64 dimensions at once.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import torch
from dataset import (
    DOCUMENTATION,
    ERROR,
    HEADING,
    NAME,
    TEST,
    Pairs,
    Vocabulary,
    batches,
    build_vocabulary,
    load_pairs,
    passage_features,
)
from evaluate import Model, holdouts, judge_all, table_of
from numpy.typing import NDArray
from torch import nn


@dataclass
class Options:
    """Every choice of a run; the defaults are those of the shipped model."""

    terms: int = 72_000
    buckets: int = 8_192
    dim: int = 256
    batch: int = 2_048
    group: int = 64
    epochs: int = 3
    rate: float = 0.004
    temperature: float = 0.05
    dropout: float = 0.3
    most_terms: int = 90
    name_shown: float = 0.7
    rest_shown: float = 0.25
    names: float = 0.5
    tests: float = 1.0
    errors: float = 0.7
    headings: float = 1.0
    share: float = 1.0
    seed: int = 1


class StaticModel(nn.Module):
    """The table, the two weightings, and how much each field of a passage counts."""

    def __init__(self, n_rows: int, dim: int, rarity: NDArray[np.float32]) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(n_rows, dim) / dim**0.5)
        start = torch.from_numpy(np.log(rarity))
        self.query_weights = nn.Parameter(start.clone())
        self.passage_weights = nn.Parameter(start.clone())
        self.field_weights = nn.Parameter(torch.tensor([0.0, -0.7, -0.7, 0.0, -0.7]))
        self.joined_weight = nn.Parameter(torch.tensor(0.0))
        self.scale = nn.Parameter(torch.tensor(float(np.log(20.0))))

    def passages(
        self, rows: torch.Tensor, features: torch.Tensor, offsets: torch.Tensor
    ) -> torch.Tensor:
        """Return the passages' sums."""
        weights = (features @ self.field_weights.exp()) * self.passage_weights[rows].exp()
        return self._sums(rows, weights, offsets)

    def queries(
        self, rows: torch.Tensor, joined: torch.Tensor, kept: torch.Tensor, offsets: torch.Tensor
    ) -> torch.Tensor:
        """Return the queries' sums."""
        weights = (self.query_weights[rows] + joined * self.joined_weight).exp() * kept
        return self._sums(rows, weights, offsets)

    def _sums(
        self, rows: torch.Tensor, weights: torch.Tensor, offsets: torch.Tensor
    ) -> torch.Tensor:
        return nn.functional.embedding_bag(
            rows, self.table, offsets[:-1], mode="sum", per_sample_weights=weights
        )


def contrast(
    queries: torch.Tensor, passages: torch.Tensor, same: torch.Tensor, scale: torch.Tensor
) -> torch.Tensor:
    """Return InfoNCE both ways; ``same`` marks pairs that are no negatives."""
    q = nn.functional.normalize(queries, dim=1)
    p = nn.functional.normalize(passages, dim=1)
    scores = (q @ p.T) * scale
    scores = scores.masked_fill(same, -1e4)
    right = torch.arange(len(scores))
    return (
        nn.functional.cross_entropy(scores, right) + nn.functional.cross_entropy(scores.T, right)
    ) / 2


class Batcher:
    """Turns query numbers into tensors, with names, documentation and terms left out at random."""

    def __init__(self, pairs: Pairs, options: Options, rng: np.random.Generator) -> None:
        self.pairs, self.options, self.rng = pairs, options, rng

    def passages(self, chosen: NDArray[np.int64]) -> tuple[torch.Tensor, ...]:
        """Return rows, features and offsets of the passages that the queries ask for."""
        pairs, rng, options = self.pairs, self.rng, self.options
        wanted, kinds = pairs.query_passages[chosen], pairs.query_kinds[chosen]
        places, offsets = pairs.passages.take(wanted)
        lengths = np.diff(offsets)
        with_name = (rng.random(len(chosen)) < options.name_shown) & (kinds != NAME)
        with_rest = rng.random(len(chosen)) < options.rest_shown
        features = passage_features(
            pairs.counts[places], np.repeat(with_name, lengths), np.repeat(with_rest, lengths)
        )
        # Long passages lose more terms, so that none costs more than `most_terms`.
        chance = np.minimum(1 - options.dropout, options.most_terms / np.maximum(lengths, 1))
        kept = (rng.random(len(places)) < np.repeat(chance, lengths)) & features.any(axis=1)
        offsets = np.concatenate([[0], np.cumsum(kept)])[offsets]
        return (
            torch.from_numpy(pairs.passages.values[places[kept]].astype(np.int64)),
            torch.from_numpy(features[kept]),
            torch.from_numpy(offsets),
        )

    def queries(self, chosen: NDArray[np.int64]) -> tuple[torch.Tensor, ...]:
        """Return rows, joined marks, which terms are kept, and offsets of the queries."""
        places, offsets = self.pairs.queries.take(chosen)
        kept = self.rng.random(len(places)) >= self.options.dropout / 2
        return (
            torch.from_numpy(self.pairs.queries.values[places].astype(np.int64)),
            torch.from_numpy(self.pairs.joined[places].astype(np.float32)),
            torch.from_numpy(kept.astype(np.float32)),
            torch.from_numpy(offsets),
        )


def rarity_of(pairs: Pairs, n_rows: int) -> NDArray[np.float32]:
    """Return each row's inverse document frequency, scaled to a mean of about one."""
    n = np.bincount(pairs.passages.values, minlength=n_rows)
    idf = np.log1p(len(pairs.languages) / (n + 1.0))
    return (idf / idf.mean()).astype(np.float32)


def train(pairs: Pairs, vocabulary: Vocabulary, options: Options, work: Path) -> StaticModel:
    """Train over all epochs, reporting the small sets after each."""
    torch.manual_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    model = StaticModel(vocabulary.n_rows, options.dim, rarity_of(pairs, vocabulary.n_rows))
    optimizer = torch.optim.Adam(model.parameters(), lr=options.rate, fused=True)
    chances = {
        DOCUMENTATION: options.share, NAME: options.names * options.share,
        TEST: options.tests * options.share, ERROR: options.errors * options.share,
        HEADING: options.headings * options.share,
    }  # fmt: skip
    expected = sum(chances[kind] * (pairs.query_kinds == kind).sum() for kind in chances)
    total = int(options.epochs * expected / options.batch) + 1
    warm = max(1, total // 20)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, max(0.02, 1 - step / total))
    )
    batcher, started, step = Batcher(pairs, options, rng), time.process_time(), 0
    for epoch in range(options.epochs):
        for chosen in batches(pairs, options.batch, options.group, chances, rng):
            loss = _step(model, batcher, chosen, options)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            step += 1
            if step % 50 == 0:
                spent = time.process_time() - started
                print(f"step {step}/{total} loss {loss.item():.3f} cpu {spent:.0f} s", flush=True)
        figures = judge_all(plain_model(model, vocabulary), work, ["django", "django-small", "go"])
        print(f"epoch {epoch + 1}\n{table_of(figures)}", flush=True)
    return model


def _step(
    model: StaticModel, batcher: Batcher, chosen: NDArray[np.int64], options: Options
) -> torch.Tensor:
    passages = model.passages(*batcher.passages(chosen))
    queries = model.queries(*batcher.queries(chosen))
    wanted = torch.from_numpy(batcher.pairs.query_passages[chosen])
    same = wanted[:, None] == wanted[None, :]
    same.fill_diagonal_(fill_value=False)
    scale = model.scale.exp().clamp(5, 60)
    loss = contrast(queries, passages, same, scale)
    # Matryoshka: one of the shorter vectors in turn, which costs a third of all at every step.
    part = int(batcher.rng.choice([options.dim // 2, options.dim // 4]))
    return loss + 0.4 * contrast(queries[:, :part], passages[:, :part], same, scale)


def plain_model(model: StaticModel, vocabulary: Vocabulary) -> Model:
    """Return the trained values as arrays."""
    with torch.no_grad():
        return Model(
            vocabulary, model.table.numpy().copy(), model.query_weights.exp().numpy(),
            model.passage_weights.exp().numpy(), model.field_weights.exp().numpy(),
            float(model.joined_weight.exp()),
        )  # fmt: skip


def save(model: Model, options: Options, path: Path) -> None:
    """Write the model as arrays that `Model.load` and `export` read."""
    np.savez(
        path,
        terms=np.frombuffer("\n".join(model.vocabulary.terms).encode(), np.uint8),
        n_buckets=model.vocabulary.n_buckets,
        table=model.table.astype(np.float32),
        query_weights=model.query_weights,
        passage_weights=model.passage_weights,
        field_weights=model.field_weights,
        joined_weight=model.joined_weight,
        options=json.dumps(asdict(options)),
    )


def training_shards(work: Path) -> list[Path]:
    """Return every shard that no evaluation set uses."""
    held = {name for names in holdouts().values() for name in names}
    return [path for path in sorted((work / "pairs").glob("*.npz")) if path.stem not in held]


def barred_passages(work: Path) -> NDArray[np.uint64]:
    """Return the hashes of passages of the evaluation sets: copies of them are not trained on."""
    found = [np.load(path)["hashes"] for path in sorted((work / "eval-pairs").glob("*.npz"))]
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.uint64)


def main() -> None:
    """Train one model and print its figures on every set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    for field in fields(Options):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=type(field.default),
                            default=field.default)  # fmt: skip
    arguments = vars(parser.parse_args())
    work, output = arguments.pop("work"), arguments.pop("output")
    options = Options(**arguments)
    torch.set_num_threads(1)
    shards = training_shards(work)
    vocabulary = build_vocabulary(shards, options.terms, options.buckets)
    pairs = load_pairs(shards, vocabulary, barred_passages(work))
    kinds = np.bincount(pairs.query_kinds, minlength=5).tolist()
    print(f"{len(shards)} packages, {len(pairs.languages)} passages, queries by kind {kinds}")
    trained = plain_model(train(pairs, vocabulary, options, work), vocabulary)
    save(trained, options, output)
    print(table_of(judge_all(trained, work, [])))
    print(json.dumps(asdict(options)))


if __name__ == "__main__":
    main()
