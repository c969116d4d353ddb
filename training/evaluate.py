"""Judges a model on documented functions: does the documentation's wording find its function?

    python training/evaluate.py --work DIR --model FILE.npz [--set NAME …]

Sets: ``django`` (8,452 functions, 1,000 queries), ``django-small`` (2,000 and 300), and one for
each language of ``holdout.txt``. Passages carry no documentation. Figures are MRR@10: BM25, the
model alone, both fused by reciprocal rank and by score.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from dataset import (
    BODY,
    DOCUMENTATION,
    ENCLOSING,
    NAMES,
    Pairs,
    Vocabulary,
    build_vocabulary,
    load_pairs,
    passage_features,
)
from numpy.typing import NDArray

HOLDOUT = Path(__file__).with_name("holdout.txt")
K1, B = 1.2, 0.75
RRF_K = 60
DENSE_WEIGHTS = (0.5, 1.0, 2.0)
SCORE_WEIGHTS = (0.3, 0.5, 0.7)


@dataclass
class Model:
    """A trained model as plain arrays."""

    vocabulary: Vocabulary
    table: NDArray[np.float32]
    query_weights: NDArray[np.float32]
    passage_weights: NDArray[np.float32]
    field_weights: NDArray[np.float32]
    joined_weight: float

    @classmethod
    def load(cls, path: Path) -> Model:
        """Read what `train` wrote."""
        with np.load(path) as arrays:
            terms = arrays["terms"].tobytes().decode("utf-8").split("\n")
            return cls(
                Vocabulary(terms, int(arrays["n_buckets"])), arrays["table"],
                arrays["query_weights"], arrays["passage_weights"], arrays["field_weights"],
                float(arrays["joined_weight"]),
            )  # fmt: skip


@dataclass
class Case:
    """One evaluation set over some vocabulary."""

    name: str
    pairs: Pairs
    passages: NDArray[np.int64]
    queries: NDArray[np.int64]

    def targets(self) -> NDArray[np.int64]:
        """Return for each query the place of its passage among ``passages``."""
        place = np.full(len(self.pairs.languages), -1)
        place[self.passages] = np.arange(len(self.passages))
        return place[self.pairs.query_passages[self.queries]]


def holdouts() -> dict[str, list[str]]:
    """Return the held-out packages by language."""
    lines = [line.split() for line in HOLDOUT.read_text().splitlines()]
    return {line[0]: line[1:] for line in lines if line and line[0] != "#"}


def sum_rows(
    offsets: NDArray[np.int64], rows: NDArray[np.int32], weights: NDArray, table: NDArray
) -> NDArray[np.float32]:
    """Return the L2-normalised weighted sums of table rows."""
    sums = np.zeros((len(offsets) - 1, table.shape[1]), np.float32)
    for i in range(len(sums)):
        a, b = offsets[i], offsets[i + 1]
        if b > a:
            sums[i] = weights[a:b] @ table[rows[a:b]]
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return sums / np.maximum(lengths, 1e-9)


def dense_scores(model: Model, case: Case, dim: int) -> NDArray[np.float32]:
    """Return the cosine of every query with every passage."""
    pairs, table = case.pairs, model.table[:, :dim]
    places, offsets = pairs.passages.take(case.passages)
    rows, counts = pairs.passages.values[places], pairs.counts[places]
    shown = np.ones(len(rows), bool)
    features = passage_features(counts, shown, ~shown)
    weights = (features @ model.field_weights) * model.passage_weights[rows] * pairs.shares[places]
    passages = sum_rows(offsets, rows, weights, table)
    places, offsets = pairs.queries.take(case.queries)
    rows = pairs.queries.values[places]
    weights = model.query_weights[rows] * np.where(pairs.joined[places], model.joined_weight, 1.0)
    weights = weights * pairs.query_shares[places]
    return sum_rows(offsets, rows, weights, table) @ passages.T


def bm25_scores(case: Case, n_rows: int) -> NDArray[np.float32]:
    """Return BM25 of every query and passage over the whole text of each function."""
    pairs = case.pairs
    places, offsets = pairs.passages.take(case.passages)
    rows, counts = pairs.passages.values[places], pairs.counts[places].astype(np.float32)
    frequency = counts[:, BODY] + counts[:, NAMES]
    owner = np.repeat(np.arange(len(case.passages)), np.diff(offsets))
    lengths = np.bincount(owner, frequency, minlength=len(case.passages))
    norm = K1 * (1 - B + B * lengths / lengths.mean())
    present = frequency > 0
    n = np.bincount(rows[present], minlength=n_rows)
    idf = np.log1p((len(case.passages) - n + 0.5) / (n + 0.5))
    impact = idf[rows] * frequency * (K1 + 1) / (frequency + norm[owner])
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(n_rows + 1))
    scores = np.zeros((len(case.queries), len(case.passages)), np.float32)
    for i, query in enumerate(case.queries.tolist()):
        a, b = pairs.queries.offsets[query], pairs.queries.offsets[query + 1]
        plain = pairs.queries.values[a:b][~pairs.joined[a:b]]
        for row in np.unique(plain).tolist():
            found = order[starts[row] : starts[row + 1]]
            scores[i, owner[found]] += impact[found]
    return scores


def ranks_of(scores: NDArray[np.float32], targets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the rank of each query's target; ties count half."""
    best = scores[np.arange(len(targets)), targets][:, None]
    return 1 + (scores > best).sum(axis=1) + 0.5 * ((scores == best).sum(axis=1) - 1)


def mrr(scores: NDArray[np.float32], targets: NDArray[np.int64]) -> float:
    """Return the mean reciprocal rank, 0 beyond the tenth place.

    Raises:
        ValueError: A score is not a number; it would compare as better than the first place.
    """
    if not np.isfinite(scores).all():
        raise ValueError("scores that are not numbers")
    ranks = ranks_of(scores, targets)
    return float(np.where(ranks <= 10, 1 / ranks, 0).mean())


def reciprocal_ranks(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ``1 / (k + rank)`` of every passage in every query's list; unmatched ones get 0."""
    order = np.argsort(-scores, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(1, scores.shape[1] + 1)[None, :], axis=1)
    return np.where(scores > 0, 1.0 / (RRF_K + ranks), 0).astype(np.float32)


def judge(model: Model, case: Case, dim: int, lexical: NDArray[np.float32]) -> dict[str, float]:
    """Return the figures of one set."""
    targets = case.targets()
    dense = dense_scores(model, case, dim)
    figures = {"bm25": mrr(lexical, targets), "alone": mrr(dense, targets)}
    first, second = reciprocal_ranks(lexical), reciprocal_ranks(dense)
    for weight in DENSE_WEIGHTS:
        figures[f"rrf{weight:g}"] = mrr(first + weight * second, targets)
    top = lexical / np.maximum(lexical.max(axis=1, keepdims=True), 1e-9)
    span = dense / np.maximum(dense.max(axis=1, keepdims=True), 1e-9)
    for weight in SCORE_WEIGHTS:
        figures[f"score{weight:g}"] = mrr((1 - weight) * top + weight * span, targets)
    return figures


def make_case(
    name: str, shards: list[Path], vocabulary: Vocabulary, sizes: tuple[int, int]
) -> Case:
    """Load the shards as one set: at most ``sizes`` passages and queries, chosen by a seed."""
    pairs = load_pairs(shards, vocabulary, keep_all=True)
    rng = np.random.default_rng(5)
    documented = np.flatnonzero(pairs.query_kinds == DOCUMENTATION)
    pairs.counts[:, ENCLOSING] = 0
    queries = np.sort(rng.permutation(documented)[: sizes[1]])
    needed = np.unique(pairs.query_passages[queries])
    others = np.setdiff1d(np.arange(len(pairs.languages)), needed)
    extra = rng.permutation(others)[: max(0, sizes[0] - len(needed))]
    return Case(name, pairs, np.sort(np.concatenate([needed, extra])), queries)


def all_cases(work: Path, vocabulary: Vocabulary, only: list[str]) -> list[Case]:
    """Load every set that is wanted and whose shards exist."""
    django = [work / "eval-pairs" / "pypi-Django.npz"]
    wanted: dict[str, tuple[list[Path], tuple[int, int]]] = {
        "django": (django, (8452, 1000)),
        "django-small": (django, (2000, 300)),
        "django-first": ([work / "eval-pairs" / "pypi-Django-first.npz"], (8452, 1000)),
    }
    for language, packages in holdouts().items():
        paths = [work / "eval-pairs" / f"{package}.npz" for package in packages]
        wanted[language] = ([path for path in paths if path.exists()], (8452, 1000))
    return [
        make_case(name, shards, vocabulary, sizes)
        for name, (shards, sizes) in wanted.items()
        if shards and shards[0].exists() and (not only or name in only)
    ]


def table_of(figures: dict[str, dict[str, float]]) -> str:
    """Return the figures as a Markdown table."""
    keys = list(next(iter(figures.values())))
    lines = ["| set | " + " | ".join(keys) + " |", "|---|" + "---|" * len(keys)]
    lines += [
        f"| {name} | " + " | ".join(f"{row[key]:.3f}" for key in keys) + " |"
        for name, row in figures.items()
    ]
    return "\n".join(lines)


def exact_vocabulary(shards: list[Path]) -> Vocabulary:
    """Return a vocabulary of every term in some shards: BM25 must not see buckets."""
    return build_vocabulary(shards, 10_000_000, 1)


def lexical_scores(work: Path, case: Case, names: list[str]) -> NDArray[np.float32]:
    """Return BM25 over exact terms for the case, kept in a file for the next run."""
    kept = work / "bm25" / f"{case.name}-{len(case.passages)}-{len(case.queries)}.npy"
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        shards = [next(work.glob(f"*pairs/{name}.npz")) for name in names]
        vocabulary = exact_vocabulary(shards)
        exact = Case(
            case.name, load_pairs(shards, vocabulary, keep_all=True), case.passages, case.queries
        )
        np.save(kept, bm25_scores(exact, vocabulary.n_rows))
    return np.load(kept)


def judge_all(
    model: Model, work: Path, only: list[str], dim: int = 256
) -> dict[str, dict[str, float]]:
    """Return the figures of every wanted set."""
    return {
        case.name: judge(model, case, dim, lexical_scores(work, case, case.pairs.names))
        for case in all_cases(work, model.vocabulary, only)
    }


def main() -> None:
    """Print the figures of one model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--set", nargs="*", default=[])
    parser.add_argument("--dim", type=int, default=256)
    options = parser.parse_args()
    model = Model.load(options.model)
    print(table_of(judge_all(model, options.work, options.set, options.dim)))


if __name__ == "__main__":
    main()
