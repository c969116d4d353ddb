"""Judges a model on an annotated retrieval set, dense search alone: no ranking, no lexical list.

    python training/peer.py --bench DIR --checkouts DIR --work DIR --model FILE [FILE …]

``DIR/peer`` of the bench holds ``repos.json`` and ``annotations/``; checkouts are by repository
name. NDCG@10 with binary relevance, a target found where the first chunk of its file ranks;
results are not merged by file unless ``--by-file``. The chunks' terms are kept in ``--work``, so a
second model costs only its products. Also prints a comparison by paired bootstrap of the first
model with each other one.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from evaluate import Model
from export import quantise
from numpy.typing import NDArray

from wherein.chunk.chunker import chunk_file
from wherein.chunk.fields import chunk_terms
from wherein.embed.bundled import BundledEmbedder
from wherein.embed.hashing import HashingEmbedder
from wherein.embed.protocol import Embedder
from wherein.embed.weights import open_weights
from wherein.parse.tags import parse
from wherein.settings import Settings
from wherein.types import ChunkTerms, FileKind
from wherein.walk.encoding import decode
from wherein.walk.walker import list_files

CHUNK_CHARS = 1500
TOP = 10
RESAMPLES = 10_000


@dataclass
class Repository:
    """A repository as chunks: their terms and which file each is of."""

    name: str
    paths: list[str]
    files: NDArray[np.int32]
    terms: ChunkTerms
    strings: dict[int, str]


def read_repository(name: str, root: Path, kept: Path) -> Repository:
    """Return the repository's chunks, from ``kept`` when they are there."""
    if not kept.exists():
        _write_terms(root, kept)
    with np.load(kept) as arrays:
        terms = ChunkTerms(
            arrays["offsets"], arrays["term_ids"], arrays["counts"], arrays["lengths"]
        )
        names = arrays["names"].tobytes().decode("utf-8", "surrogatepass").split("\n")
        strings = dict(zip(arrays["named_ids"].tolist(), names, strict=True))
        return Repository(name, arrays["paths"].tolist(), arrays["files"], terms, strings)


def _write_terms(root: Path, kept: Path) -> None:
    settings = Settings(home=kept.parent)
    paths: list[str] = []
    files: list[NDArray[np.int32]] = []
    parts: list[ChunkTerms] = []
    strings: dict[int, str] = {}
    for listed in list_files(root, settings).files:
        source = listed.file
        if source.kind is not FileKind.CODE:
            continue
        decoded = decode((root / source.path).read_bytes())
        if decoded is None:
            continue
        text = decoded.text.encode("utf-8", "surrogatepass")
        parsed = parse(text, source.language)
        chunks = chunk_file(text, source.language, parsed, CHUNK_CHARS)
        terms, found = chunk_terms(text, chunks, parsed)
        strings.update(found)
        files.append(np.full(len(chunks), len(paths), np.int32))
        paths.append(source.path)
        parts.append(terms)
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    np.savez(
        kept,
        paths=np.array(paths),
        named_ids=np.array(list(strings), np.uint64),
        names=np.frombuffer("\n".join(strings.values()).encode("utf-8", "surrogatepass"), np.uint8),
        files=np.concatenate(files),
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
        term_ids=np.concatenate([part.term_ids for part in parts]),
        counts=np.concatenate([part.counts for part in parts]),
        lengths=np.concatenate([part.lengths for part in parts]),
    )


def open_model(name: str, dim: int) -> Embedder:
    """Return a trained model, an exported one, or ``hashing``."""
    if name == "hashing":
        return HashingEmbedder(dim)
    if name.endswith(".npz"):
        return BundledEmbedder(quantise(Model.load(Path(name)), Path(name).stem), dim=dim)
    return BundledEmbedder(open_weights(Path(name)), dim=dim)


def ndcg(found: Sequence[str], targets: Sequence[str]) -> float:
    """Return NDCG@10; a path matches a target when one is a suffix of the other."""
    gain, seen = 0.0, set[str]()
    for rank, path in enumerate(found[:TOP], start=1):
        for target in targets:
            if target not in seen and (path.endswith(target) or target.endswith(path)):
                seen.add(target)
                gain += 1 / np.log2(rank + 1)
    ideal = sum(1 / np.log2(rank + 1) for rank in range(1, min(len(targets), TOP) + 1))
    return gain / ideal


def judge(
    model: Embedder, repository: Repository, queries: list[dict], *, by_file: bool
) -> list[float]:
    """Return the NDCG@10 of each query."""
    vectors = model.embed_chunks(repository.terms, repository.strings, ())
    figures: list[float] = []
    for query in queries:
        scores = vectors @ model.embed_query(query["query"])
        order = np.argsort(-scores, kind="stable")[: 2_000 if by_file else TOP]
        found = [repository.paths[repository.files[i]] for i in order]
        if by_file:
            found = list(dict.fromkeys(found))
        targets = [entry["path"] if isinstance(entry, dict) else entry
                   for entry in [*query["relevant"], *query["secondary"]]]  # fmt: skip
        figures.append(ndcg(found, sorted(set(targets))))
    return figures


def interval(differences: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95 % interval of a mean by bootstrap over repositories."""
    rng = np.random.default_rng(7)
    picks = rng.integers(0, len(differences), (RESAMPLES, len(differences)))
    low, high = np.percentile(differences[picks].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def main() -> None:
    """Print one table for all models."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--model", nargs="+", required=True)
    parser.add_argument("--dim", type=int, default=256)
    parser.add_argument("--by-file", action="store_true")
    options = parser.parse_args()
    kept = options.work / "peer"
    kept.mkdir(parents=True, exist_ok=True)
    models = {name: open_model(name, options.dim) for name in options.model}
    means: dict[str, list[float]] = defaultdict(list)
    kinds: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    repositories = json.loads((options.bench / "peer" / "repos.json").read_text())
    for entry in repositories:
        name, inner = entry["name"], entry.get("benchmark_root") or "."
        root = options.checkouts / name / inner
        repository = read_repository(name, root, kept / f"{name}.npz")
        queries = json.loads((options.bench / "peer" / "annotations" / f"{name}.json").read_text())
        for label, model in models.items():
            figures = judge(model, repository, queries, by_file=options.by_file)
            means[label].append(float(np.mean(figures)))
            for query, figure in zip(queries, figures, strict=True):
                kinds[label][query["category"]].append(figure)
    first = np.array(means[options.model[0]])
    for label, values in means.items():
        parts = ", ".join(f"{kind} {np.mean(v):.3f}" for kind, v in sorted(kinds[label].items()))
        low, high = interval(first - np.array(values))
        print(f"{label}: {np.mean(values):.4f} ({parts}); first minus this {low:+.3f} {high:+.3f}")
    for label in options.model[:1]:
        print({e["name"]: round(v, 3) for e, v in zip(repositories, means[label], strict=True)})


if __name__ == "__main__":
    main()
