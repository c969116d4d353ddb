"""Loads the pair arrays of many packages over one vocabulary, and makes batches of them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from wherein.embed.pieces import piece_buckets

N_COLUMNS = 6
BODY, SIGNATURE, COMMENTS, NAMES, ENCLOSING, REST = range(N_COLUMNS)
FEWEST_TERMS = 4
"""A passage of fewer terms is a stub that any query could ask for."""
KINDS = ("documentation", "name", "test", "error", "heading", "change")
DOCUMENTATION, NAME, TEST, ERROR, HEADING, CHANGE = range(len(KINDS))


@dataclass
class Ragged:
    """Rows of different lengths: ``values[offsets[i]:offsets[i + 1]]``."""

    offsets: NDArray[np.int64]
    values: NDArray[np.int32]

    def take(self, wanted: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the wanted rows' values stand, and the new offsets."""
        starts, lengths = self.offsets[wanted], np.diff(self.offsets)[wanted]
        offsets = np.zeros(len(wanted) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        places = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - starts, lengths)
        return places, offsets


@dataclass
class Vocabulary:
    """Terms that have a row of their own; every other term is the mean of its pieces' buckets."""

    terms: list[str]
    n_buckets: int

    def __post_init__(self) -> None:
        self.numbers = {term: number for number, term in enumerate(self.terms)}

    @property
    def n_rows(self) -> int:
        """Rows of the table: the terms, then the buckets."""
        return len(self.terms) + self.n_buckets

    def rows_of(self, term: str) -> tuple[int, ...]:
        """Return the row of a term, or the rows of its pieces when the vocabulary lacks it."""
        known = self.numbers.get(term)
        if known is not None:
            return (known,)
        n = len(self.terms)
        return tuple(n + bucket for bucket in piece_buckets(term, self.n_buckets))

    def rows(self, strings: Sequence[str]) -> Ragged:
        """Return the rows of many terms."""
        found = [self.rows_of(term) for term in strings]
        offsets = np.concatenate([[0], np.cumsum([len(rows) for rows in found])]).astype(np.int64)
        return Ragged(offsets, np.array([row for rows in found for row in rows], np.int32))


@dataclass
class Pairs:
    """Passages and the queries that point at them, of all packages together."""

    passages: Ragged
    shares: NDArray[np.float32]
    """For each value of ``passages``: 1, or one over the number of pieces of its term."""
    counts: NDArray[np.uint8]
    languages: NDArray[np.uint8]
    packages: NDArray[np.int32]
    queries: Ragged
    query_shares: NDArray[np.float32]
    joined: NDArray[np.bool_]
    query_passages: NDArray[np.int64]
    query_kinds: NDArray[np.uint8]
    names: list[str]


def load_strings(arrays: Mapping[str, NDArray]) -> list[str]:
    """Return a shard's own terms in the order of their numbers."""
    return msgspec.msgpack.decode(zlib.decompress(arrays["strings"].tobytes()), type=list[str])


def build_vocabulary(shards: Sequence[Path], n_terms: int, n_buckets: int) -> Vocabulary:
    """Return the terms that count most, each package's counts under a square root.

    So a term of many packages comes before one that a single package repeats.
    """
    scores: dict[str, float] = {}
    for path in shards:
        with np.load(path) as arrays:
            strings = load_strings(arrays)
            found = np.bincount(arrays["terms"], minlength=len(strings))
            plain = arrays["query_terms"][~arrays["query_joined"]]
            found = found + np.bincount(plain, minlength=len(strings))
        for term, score in zip(strings, np.sqrt(found).tolist(), strict=True):
            scores[term] = scores.get(term, 0.0) + score
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:n_terms]
    return Vocabulary([term for term, _ in best], n_buckets)


def load_pairs(
    shards: Sequence[Path],
    vocabulary: Vocabulary,
    barred: NDArray[np.uint64] | None = None,
    most_alike: int = 3,
    *,
    keep_all: bool = False,
) -> Pairs:
    """Load shards over one vocabulary.

    Args:
        shards: Files that `pairs` wrote.
        vocabulary: Which terms have rows.
        barred: Hashes of passages that are left out (of evaluation sets).
        most_alike: A query's wording is kept at most this often.
        keep_all: Leave out nothing: alike passages and those without a query stay.
    """
    parts: list[dict[str, NDArray]] = []
    seen: dict[int, int] = {int(value): 1 for value in (() if barred is None else barred)}
    asked: dict[int, int] = {}
    for number, path in enumerate(shards):
        with np.load(path) as arrays:
            chosen = _chosen(arrays, seen, asked, most_alike, keep_all=keep_all)
            parts.append(_part(arrays, vocabulary, number, *chosen))
    joined = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    p_offsets = np.concatenate([[0], np.cumsum(joined["lengths"])])
    q_offsets = np.concatenate([[0], np.cumsum(joined["query_lengths"])])
    sizes = [len(part["lengths"]) for part in parts]
    shifts = np.repeat(np.cumsum([0, *sizes[:-1]]), [len(p["query_passages"]) for p in parts])
    return Pairs(
        Ragged(p_offsets, joined["rows"]), joined["shares"], joined["counts"],
        joined["languages"], joined["packages"], Ragged(q_offsets, joined["query_rows"]),
        joined["query_shares"], joined["query_joined"],
        joined["query_passages"] + shifts, joined["query_kinds"], [path.stem for path in shards],
    )  # fmt: skip


def _chosen(
    arrays: Mapping[str, NDArray],
    seen: dict[int, int],
    asked: dict[int, int],
    most_alike: int,
    *,
    keep_all: bool,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which passages and which queries of a shard are kept."""
    hashes, lengths = arrays["hashes"], np.diff(arrays["offsets"])
    target = arrays["query_passages"]
    if keep_all:
        return np.ones(len(hashes), bool), np.ones(len(target), bool)
    keep = np.ones(len(lengths), bool)
    for place, value in enumerate(hashes.tolist()):
        keep[place] = seen.setdefault(value, 0) == 0 and lengths[place] >= FEWEST_TERMS
        seen[value] = 1
    query_keep = keep[target]
    for place, value in enumerate(arrays["query_hashes"].tolist()):
        if query_keep[place]:
            asked[value] = asked.get(value, 0) + 1
            query_keep[place] = asked[value] <= most_alike
    useful = np.zeros(len(keep), bool)
    useful[target[query_keep]] = True
    return keep & useful, query_keep


def _part(
    arrays: Mapping[str, NDArray],
    vocabulary: Vocabulary,
    number: int,
    keep: NDArray[np.bool_],
    query_keep: NDArray[np.bool_],
) -> dict[str, NDArray]:
    """Return a shard's arrays over the vocabulary, without what is not kept."""
    rows_of = vocabulary.rows(load_strings(arrays))
    target, renumber = arrays["query_passages"], np.cumsum(keep) - 1
    term_keep = np.repeat(keep, np.diff(arrays["offsets"]))
    rows, lengths, entries, shares = _widened(
        rows_of, arrays["terms"], arrays["offsets"], term_keep
    )
    # A joined term counts only where the vocabulary knows the identifier.
    first = rows_of.values[rows_of.offsets[:-1]][arrays["query_terms"]]
    asked_keep = np.repeat(query_keep, np.diff(arrays["query_offsets"]))
    asked_keep &= ~arrays["query_joined"] | (first < len(vocabulary.terms))
    query_rows, q_lengths, asked, query_shares = _widened(
        rows_of, arrays["query_terms"], arrays["query_offsets"], asked_keep
    )
    return {
        "rows": rows,
        "shares": shares,
        "counts": arrays["counts"][entries],
        "lengths": lengths[keep],
        "languages": arrays["languages"][keep],
        "packages": np.full(int(keep.sum()), number, np.int32),
        "query_rows": query_rows,
        "query_shares": query_shares,
        "query_joined": arrays["query_joined"][asked],
        "query_lengths": q_lengths[query_keep],
        "query_passages": renumber[target][query_keep].astype(np.int64),
        "query_kinds": arrays["query_kinds"][query_keep],
    }


def _widened(
    rows_of: Ragged, terms: NDArray, offsets: NDArray, kept: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Return the rows of the kept terms, an unknown one as its pieces.

    Returns:
        The rows; how many each owner has, those that lost all of their terms included; the place
        in ``terms`` that each row is of; and its share of it.
    """
    entries = np.flatnonzero(kept)
    places, bounds = rows_of.take(terms[entries].astype(np.int64))
    sizes = np.diff(bounds)
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[entries]
    lengths = np.bincount(owners, sizes, minlength=len(offsets) - 1).astype(np.int64)
    shares = (1 / np.repeat(sizes, sizes)).astype(np.float32)
    return rows_of.values[places], lengths, np.repeat(entries, sizes), shares


_ARRAYS = (
    "shares", "counts", "languages", "packages", "query_shares", "joined", "query_passages",
    "query_kinds",
)  # fmt: skip


def save_pairs(pairs: Pairs, vocabulary: Vocabulary, folder: Path) -> None:
    """Write the loaded arrays, so that each run and each process maps the same files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in _ARRAYS:
        np.save(folder / f"{name}.npy", getattr(pairs, name))
    for name in ("passages", "queries"):
        ragged: Ragged = getattr(pairs, name)
        np.save(folder / f"{name}-offsets.npy", ragged.offsets)
        np.save(folder / f"{name}-values.npy", ragged.values)
    about = {"terms": vocabulary.terms, "n_buckets": vocabulary.n_buckets, "names": pairs.names}
    (folder / "about.json").write_text(json.dumps(about))


def open_pairs(folder: Path) -> tuple[Pairs, Vocabulary]:
    """Map what `save_pairs` wrote."""
    about = json.loads((folder / "about.json").read_text())
    arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS}
    ragged = {
        name: Ragged(
            np.load(folder / f"{name}-offsets.npy", mmap_mode="r"),
            np.load(folder / f"{name}-values.npy", mmap_mode="r"),
        )
        for name in ("passages", "queries")
    }
    vocabulary = Vocabulary(about["terms"], about["n_buckets"])
    return Pairs(**arrays, **ragged, names=about["names"]), vocabulary


def passage_features(
    counts: NDArray[np.uint8], with_name: NDArray[np.bool_], with_rest: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """Return what the model sees of each term of a passage, by field, shape ``(n_rows, 5)``.

    The last two arguments say, for each row, whether its passage shows its name and the rest of
    its documentation.
    """
    seen = counts.astype(np.float32)
    name, rest = seen[:, NAMES] * with_name, seen[:, REST] * with_rest
    body = seen[:, BODY] + name + rest
    signature = np.where(with_name | (seen[:, NAMES] == 0), seen[:, SIGNATURE], 0)
    fields = [body, signature, seen[:, COMMENTS] + rest, name, seen[:, ENCLOSING]]
    return np.log1p(np.stack(fields, axis=1))


def batches(
    pairs: Pairs,
    size: int,
    group: int,
    chances: dict[int, float],
    rng: np.random.Generator,
    part: tuple[int, int] = (0, 1),
    clusters: NDArray[np.int64] | None = None,
) -> Iterator[NDArray[np.int64]]:
    """Yield query numbers, in batches made of groups that come from one package each.

    Neighbours in a group lie near one another in the package, or are of one of the ``clusters``
    that `mine` found, so they are hard negatives.
    ``part`` (k, n) yields the k-th of n equal shares: with equal ``rng`` they do not overlap.
    """
    chance = np.array([chances.get(kind, 0.0) for kind in range(len(KINDS))])[pairs.query_kinds]
    chosen = np.flatnonzero(rng.random(len(chance)) < chance)
    passage = pairs.query_passages[chosen]
    # Near in the package: by passage number in blocks, blocks shuffled.
    block = passage // (2 * group) if clusters is None else clusters[passage]
    shuffled = rng.permutation(int(block.max()) + 1)[block]
    order = np.lexsort((rng.random(len(chosen)), shuffled, pairs.packages[passage]))
    chosen = chosen[order]
    n_groups = len(chosen) // group
    places = rng.permutation(n_groups)
    per_batch = size // group
    share = n_groups // (per_batch * part[1]) * per_batch
    for start in range(part[0] * share, (part[0] + 1) * share, per_batch):
        picked = places[start : start + per_batch]
        yield np.concatenate([chosen[i * group : (i + 1) * group] for i in picked])
