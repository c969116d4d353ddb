"""Trains the static model: one vector a term, learned term weights for queries and passages.

    python training/train.py --work DIR --output FILE.npz [--terms N --epochs N …]

A text's vector is the weighted mean of its terms' vectors. Loss: InfoNCE both ways over large
batches whose negatives come from the same package, at 256, 128 and 64 dimensions at once.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from dataclasses import asdict, dataclass, fields
from multiprocessing.context import BaseContext
from pathlib import Path

import numpy as np
import torch
from dataset import (
    CHANGE,
    DOCUMENTATION,
    ERROR,
    HEADING,
    KINDS,
    NAME,
    REST,
    TEST,
    Pairs,
    Vocabulary,
    batches,
    build_vocabulary,
    load_pairs,
    open_pairs,
    passage_features,
    save_pairs,
)
from evaluate import Model, holdouts, judge_all, table_of
from files import write_arrays
from numpy.typing import NDArray
from starts import latent
from torch import nn

REST_KEPT = 0.6
"""Of a long documentation's further terms, those that a long query keeps."""


@dataclass
class Options:
    """Every choice of a run; what the shipped model was made with is in ``README.md``."""

    terms: int = 72_000
    buckets: int = 8_192
    dim: int = 256
    batch: int = 2_048
    group: int = 64
    epochs: int = 3
    rate: float = 0.004
    weight_rate: float = 0.0
    temperature: float = 0.05
    dropout: float = 0.3
    most_terms: int = 64
    name_shown: float = 0.7
    rest_shown: float = 0.25
    rest_asked: float = 0.0
    names: float = 0.5
    tests: float = 1.0
    errors: float = 0.7
    headings: float = 1.0
    changes: float = 0.0
    share: float = 1.0
    seed: int = 1
    workers: int = 2
    merge_every: int = 16
    mined: float = 0.0
    start_kind: str = "random"
    start_pairs: int = 200_000
    confidence: float = 0.0
    power: float = 1.0
    bucket_weight: float = 1.0


@dataclass(frozen=True)
class Run:
    """Where a run reads and writes, and which sets it reports after each epoch."""

    options: Options
    work: Path
    output: Path
    sets: list[str]


class StaticModel(nn.Module):
    """The table, the two weightings, and how much each field of a passage counts."""

    def __init__(self, table: NDArray[np.float32], weights: NDArray[np.float32]) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.from_numpy(table))
        start = torch.from_numpy(np.log(weights))
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


class _Contrast(torch.autograd.Function):
    """InfoNCE both ways with its gradient by hand.

    Cosines are at most one, so subtracting the scale keeps every exponential in range, and one
    exponential serves both directions: a third of the time of two cross-entropies.
    """

    @staticmethod
    def forward(ctx, q, p, same, scale):  # noqa: ANN001, ANN205
        """Return the mean loss over rows and columns."""
        cosines = q @ p.T
        likeness = torch.exp_((cosines - 1) * scale)
        likeness[same] = 0
        rows, columns = likeness.sum(1), likeness.sum(0)
        right = cosines.diagonal()
        ctx.save_for_backward(q, p, cosines, likeness, rows, columns, scale)
        return ((rows.log() + columns.log()) / 2 + scale * (1 - right)).mean()

    @staticmethod
    def backward(ctx, grad):  # noqa: ANN001, ANN205
        """Return the gradients of both sides and of the scale."""
        q, p, cosines, likeness, rows, columns, scale = ctx.saved_tensors
        n = len(q)
        slope = likeness.mul_((0.5 / n / rows)[:, None] + (0.5 / n / columns)[None, :])
        slope.diagonal().sub_(1 / n)
        by_scale = (slope * cosines).sum() * grad
        slope.mul_(scale * grad)
        return slope @ p, slope.T @ q, None, by_scale


def contrast(
    queries: torch.Tensor, passages: torch.Tensor, same: torch.Tensor, scale: torch.Tensor
) -> torch.Tensor:
    """Return InfoNCE both ways; ``same`` indexes pairs that are no negatives."""
    q = nn.functional.normalize(queries, dim=1)
    p = nn.functional.normalize(passages, dim=1)
    return _Contrast.apply(q, p, same, scale)


class Batcher:
    """Turns query numbers into tensors, with names, documentation and terms left out at random."""

    def __init__(self, pairs: Pairs, options: Options, rng: np.random.Generator) -> None:
        self.pairs, self.options, self.rng = pairs, options, rng

    def longer(self, chosen: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Choose the queries that ask with all of the documentation, not its first paragraph."""
        documented = self.pairs.query_kinds[chosen] == DOCUMENTATION
        return documented & (self.rng.random(len(chosen)) < self.options.rest_asked)

    def passages(
        self, chosen: NDArray[np.int64], longer: NDArray[np.bool_]
    ) -> tuple[torch.Tensor, ...]:
        """Return rows, features and offsets of the passages that the queries ask for."""
        pairs, rng, options = self.pairs, self.rng, self.options
        wanted, kinds = pairs.query_passages[chosen], pairs.query_kinds[chosen]
        places, offsets = pairs.passages.take(wanted)
        lengths = np.diff(offsets)
        with_name = (rng.random(len(chosen)) < options.name_shown) & (kinds != NAME)
        with_rest = (rng.random(len(chosen)) < options.rest_shown) & ~longer
        features = passage_features(
            pairs.counts[places], np.repeat(with_name, lengths), np.repeat(with_rest, lengths)
        )
        features *= pairs.shares[places, None]
        # Long passages lose more terms, so that none costs more than `most_terms`.
        chance = np.minimum(1 - options.dropout, options.most_terms / np.maximum(lengths, 1))
        kept = (rng.random(len(places)) < np.repeat(chance, lengths)) & features.any(axis=1)
        offsets = np.concatenate([[0], np.cumsum(kept)])[offsets]
        return (
            torch.from_numpy(pairs.passages.values[places[kept]].astype(np.int64)),
            torch.from_numpy(features[kept]),
            torch.from_numpy(offsets),
        )

    def queries(
        self, chosen: NDArray[np.int64], longer: NDArray[np.bool_]
    ) -> tuple[torch.Tensor, ...]:
        """Return rows, joined marks, which terms are kept, and offsets of the queries."""
        pairs = self.pairs
        places, offsets = pairs.queries.take(chosen)
        rows, joined = pairs.queries.values[places], pairs.joined[places]
        owners = np.repeat(np.arange(len(chosen)), np.diff(offsets))
        kept = self.rng.random(len(places)) >= self.options.dropout / 2
        kept = kept * pairs.query_shares[places]
        if longer.any():
            more, bounds = pairs.passages.take(pairs.query_passages[chosen[longer]])
            asked = np.repeat(np.flatnonzero(longer), np.diff(bounds))
            said = (pairs.counts[more, REST] > 0) & (self.rng.random(len(more)) < REST_KEPT)
            owners = np.concatenate([owners, asked[said]])
            order = np.argsort(owners, kind="stable")
            rows = np.concatenate([rows, pairs.passages.values[more[said]]])[order]
            joined = np.concatenate([joined, np.zeros(said.sum(), bool)])[order]
            kept = np.concatenate([kept, pairs.shares[more[said]]])[order]
            offsets = np.searchsorted(owners[order], np.arange(len(chosen) + 1))
        return (
            torch.from_numpy(rows.astype(np.int64)),
            torch.from_numpy(joined.astype(np.float32)),
            torch.from_numpy(kept.astype(np.float32)),
            torch.from_numpy(offsets),
        )


def start_weights(pairs: Pairs, vocabulary: Vocabulary, options: Options) -> NDArray[np.float32]:
    """Return each row's weight before training.

    Its inverse document frequency, scaled to a mean of about one, to the power `Options.power`;
    times ``n / (n + confidence)`` for a term of about ``n`` passages, and times
    `Options.bucket_weight` for a bucket: what training cannot learn counts less from the start.
    """
    n = np.bincount(pairs.passages.values, minlength=vocabulary.n_rows)
    idf = np.log1p(len(pairs.languages) / (n + 1.0))
    trust = (n + 1.0) / (n + 1.0 + options.confidence)
    trust[len(vocabulary.terms) :] = options.bucket_weight
    return ((idf / idf.mean()) ** options.power * trust).astype(np.float32)


def start_table(pairs: Pairs, vocabulary: Vocabulary, options: Options) -> NDArray[np.float32]:
    """Return the table before training, its rows of about length one.

    ``random``: by the run's seed. ``latent``: of `starts.latent`, with random buckets; it does not
    depend on the seed, so that runs with other seeds can be averaged.
    """
    shape = (vocabulary.n_rows, options.dim)
    if options.start_kind == "random":
        return (torch.randn(shape) / options.dim**0.5).numpy()
    rng = np.random.default_rng(1)
    table = rng.standard_normal(shape, np.float32) / np.float32(options.dim**0.5)
    n = len(vocabulary.terms)
    table[:n] = latent(pairs, shape[0], options.dim, options.start_pairs, 1)[:n]
    return table


def chances_of(options: Options) -> dict[int, float]:
    """Return with which chance a query of each kind takes part in an epoch."""
    whole = {
        DOCUMENTATION: 1.0, NAME: options.names, TEST: options.tests, ERROR: options.errors,
        HEADING: options.headings, CHANGE: options.changes,
    }  # fmt: skip
    return {kind: chance * options.share for kind, chance in whole.items()}


class Shared:
    """What the processes of one run share: a copy of the table each, and which rows it moved.

    Every `Options.merge_every` steps the tables are merged row by row: the mean over the processes
    that moved the row, so that rare terms keep their whole step.
    """

    def __init__(self, model: StaticModel, n_workers: int, context: BaseContext) -> None:
        self.n_workers = n_workers
        self.barrier = context.Barrier(n_workers)
        self.base = model.table.detach().clone().share_memory_()
        self.tables = torch.zeros((n_workers, *self.base.shape)).share_memory_()
        self.moved = torch.zeros((n_workers, len(self.base)), dtype=torch.bool).share_memory_()
        self.small = torch.zeros((n_workers, _flat(model).numel())).share_memory_()

    def merge(self, model: StaticModel, rank: int) -> None:
        """Exchange what this process learned for what all did."""
        if self.n_workers == 1:
            return
        with torch.no_grad():
            self.tables[rank] = model.table
            self.small[rank] = _flat(model)
            self.barrier.wait()
            rows = slice(*(len(self.base) * part // self.n_workers for part in (rank, rank + 1)))
            moved = self.moved[:, rows, None]
            steps = ((self.tables[:, rows] - self.base[rows]) * moved).sum(0)
            self.base[rows] += steps / moved.sum(0).clamp(min=1)
            self.barrier.wait()
            model.table.copy_(self.base)
            _set_flat(model, self.small.mean(0))
            self.barrier.wait()
            self.moved[rank] = False


def _small(model: StaticModel) -> list[nn.Parameter]:
    return [value for name, value in model.named_parameters() if name != "table"]


def _flat(model: StaticModel) -> torch.Tensor:
    return torch.cat([value.detach().reshape(-1) for value in _small(model)])


def _set_flat(model: StaticModel, values: torch.Tensor) -> None:
    start = 0
    for parameter in _small(model):
        part = values[start : start + parameter.numel()]
        parameter.copy_(part.reshape(parameter.shape))
        start += parameter.numel()


def work_on(rank: int, shared: Shared, model: StaticModel, folder: Path, run: Run) -> None:
    """Train one process's share of every epoch; the first process reports and saves."""
    torch.set_num_threads(1)
    # A session of its own: schedulers that share out by session would give all one share.
    os.setsid()
    parent = os.getppid()
    options, n_workers = run.options, shared.n_workers
    pairs, vocabulary = open_pairs(folder)
    rates = [options.rate, options.weight_rate or options.rate]
    groups = [{"params": [model.table]}, {"params": _small(model)}]
    optimizer = torch.optim.Adam(groups, fused=True)
    chances = chances_of(options)
    expected = sum(chances[kind] * (pairs.query_kinds == kind).sum() for kind in chances)
    total = int(options.epochs * expected / options.batch / n_workers) + 1
    batcher = Batcher(pairs, options, np.random.default_rng((options.seed, rank)))
    step, started = 0, time.process_time()
    clusters = np.load(folder / "clusters.npy") if options.mined else None
    for epoch in range(options.epochs):
        rng = np.random.default_rng((options.seed, 1000 + epoch))
        part = (rank, n_workers)
        mined = clusters if rng.random() < options.mined else None
        for chosen in batches(pairs, options.batch, options.group, chances, rng, part, mined):
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * _slope(step, total)
            optimizer.zero_grad()
            loss = _step(model, batcher, chosen, options, shared.moved[rank])
            loss.backward()
            optimizer.step()
            step += 1
            if os.getppid() != parent:  # it was killed, and what is started next writes this file
                shared.barrier.abort()
                return
            if step % options.merge_every == 0:
                shared.merge(model, rank)
            if step % 20 == 0 and rank == 0:
                spent = time.process_time() - started
                print(f"step {step}/{total} loss {loss.item():.3f} cpu {spent:.0f} s", flush=True)
        shared.merge(model, rank)
        if rank == 0:
            trained = plain_model(model, vocabulary)
            save(trained, options, run.output)
            figures = judge_all(trained, run.work, run.sets)
            print(f"epoch {epoch + 1}\n{table_of(figures)}", flush=True)


def _slope(step: int, total: int) -> float:
    """Return the share of the learning rate: a short rise, then straight down."""
    return min((step + 1) / max(1, total // 20), max(0.02, 1 - step / total))


def _step(
    model: StaticModel,
    batcher: Batcher,
    chosen: NDArray[np.int64],
    options: Options,
    moved: torch.Tensor,
) -> torch.Tensor:
    longer = batcher.longer(chosen)
    rows, *rest = batcher.passages(chosen, longer)
    passages = model.passages(rows, *rest)
    asked, *others = batcher.queries(chosen, longer)
    queries = model.queries(asked, *others)
    moved[rows] = True
    moved[asked] = True
    same = _same(batcher.pairs.query_passages[chosen])
    scale = model.scale.exp().clamp(5, 30)
    loss = contrast(queries, passages, same, scale)
    # Matryoshka: one of the shorter vectors in turn, which costs a third of all at every step.
    part = int(batcher.rng.choice([options.dim // 2, options.dim // 4]))
    return loss + 0.4 * contrast(queries[:, :part], passages[:, :part], same, scale)


def _same(wanted: NDArray[np.int64]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the places, off the diagonal, where two queries want the same passage."""
    order = np.argsort(wanted, kind="stable")
    left, right = [], []
    for distance in (1, 2, 3):
        equal = np.flatnonzero(wanted[order[distance:]] == wanted[order[:-distance]])
        left += [order[equal], order[equal + distance]]
        right += [order[equal + distance], order[equal]]
    return torch.from_numpy(np.concatenate(left)), torch.from_numpy(np.concatenate(right))


def plain_model(model: StaticModel, vocabulary: Vocabulary) -> Model:
    """Return the trained values as arrays."""
    with torch.no_grad():
        return Model(
            vocabulary, model.table.numpy().copy(), model.query_weights.exp().numpy(),
            model.passage_weights.exp().numpy(), model.field_weights.exp().numpy(),
            float(model.joined_weight.exp()),
        )  # fmt: skip


def set_model(model: StaticModel, trained: Model) -> None:
    """Go on from an earlier run's values."""
    values = {
        "table": trained.table, "query_weights": np.log(trained.query_weights),
        "passage_weights": np.log(trained.passage_weights),
        "field_weights": np.log(trained.field_weights),
        "joined_weight": np.log(trained.joined_weight),
    }  # fmt: skip
    with torch.no_grad():
        for name, value in values.items():
            getattr(model, name).copy_(torch.as_tensor(value))


def save(model: Model, options: Options, path: Path) -> None:
    """Write the model as arrays that `Model.load` and `export` read."""
    arrays = {
        "terms": np.frombuffer("\n".join(model.vocabulary.terms).encode(), np.uint8),
        "n_buckets": np.array(model.vocabulary.n_buckets),
        "table": model.table.astype(np.float32),
        "query_weights": model.query_weights,
        "passage_weights": model.passage_weights,
        "field_weights": model.field_weights,
        "joined_weight": np.array(model.joined_weight),
        "options": np.array(json.dumps(asdict(options))),
    }
    write_arrays(path, arrays)


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
    parser.add_argument("--dataset", type=Path, help="folder of an earlier run's loaded pairs")
    parser.add_argument("--start", type=Path, help="model of an earlier run over the same dataset")
    for field in fields(Options):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=type(field.default),
                            default=field.default)  # fmt: skip
    arguments = vars(parser.parse_args())
    work, output, dataset, start = (
        arguments.pop(name) for name in ("work", "output", "dataset", "start")
    )
    options = Options(**arguments)
    torch.set_num_threads(1)
    folder = prepare(work, options) if dataset is None else dataset
    pairs, vocabulary = open_pairs(folder)
    kinds = np.bincount(pairs.query_kinds, minlength=len(KINDS)).tolist()
    print(f"{len(pairs.names)} packages, {len(pairs.languages)} passages, queries by kind {kinds}")
    torch.manual_seed(options.seed)
    model = StaticModel(
        start_table(pairs, vocabulary, options), start_weights(pairs, vocabulary, options)
    )
    if start is not None:
        set_model(model, Model.load(start))
    context = multiprocessing.get_context("fork")
    shared = Shared(model, options.workers, context)
    run = Run(options, work, output, ["django", "django-small", "go"])
    workers = [
        context.Process(target=work_on, args=(rank, shared, model, folder, run))
        for rank in range(options.workers)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(table_of(judge_all(Model.load(output), work, [])))
    print(json.dumps(asdict(options)))


def prepare(work: Path, options: Options) -> Path:
    """Load every training shard over one vocabulary into ``dataset``, once."""
    folder = work / f"dataset-{options.terms}"
    if not (folder / "about.json").exists():
        shards = training_shards(work)
        vocabulary = build_vocabulary(shards, options.terms, options.buckets)
        save_pairs(load_pairs(shards, vocabulary, barred_passages(work)), vocabulary, folder)
    return folder


if __name__ == "__main__":
    main()
