"""Drops from the pairs what is a copy of a barred project, by content.

    python training/decontaminate.py --work DIR --never-train FILE

`filters` refuses copies by folder and file name. Some carry another name: a class adapted from
another library, a bundle that a bundler made of many packages. This step reads the harvested files
again beside their pairs and leaves out

* bundles (a bundler's marks in the file) and every script file of a Python wheel;
* files that say they were copied or adapted from a barred project;
* passages with the same set of terms as one of a repository to be judged on (``barred-pairs``,
  made by `pairs --every` of what `checkouts` packed), and the whole file when it holds two or more
  of them.

It writes ``clean/<package>.npz``; training reads those.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
from dataset import Ragged
from files import write_arrays
from filters import language_of
from numpy.typing import NDArray

FEWEST_TERMS = 8
"""A passage of fewer terms is the same in many projects by chance."""
TELLING_TERMS = 15
"""Two passages of so many terms in common make a file a copy."""

_SCRIPTS = {"javascript", "typescript", "tsx"}
_BUNDLE = re.compile(rb"__webpack_require__|node_modules/")
_ORDINARY = {"core", "framework", "json", "cli", "rack", "plug", "cats", "chi", "gin", "express",
             "requests", "click", "circe", "exposed", "tracing"}  # fmt: skip


def copied_from(never_train: Path) -> re.Pattern[bytes]:
    """Return a pattern of what a file says when it is copied from a barred project."""
    pairs = [line.split("/") for line in never_train.read_text().lower().split()]
    names = {name for _, name in pairs} - _ORDINARY
    names |= {f"{owner}/{name}" for owner, name in pairs} | {"commons lang", "rails", "sklearn"}
    names |= {name.replace("-", " ") for name in names}
    any_name = "|".join(sorted(map(re.escape, names)))
    verbs = "copied|adapted|borrowed|taken|derived|ported|lifted|forked|backported|vendored"
    text = rf"\b(?:{verbs})\b[^\n]{{0,30}}\bfrom\b[^\n]{{0,60}}\b(?:{any_name})\b"
    return re.compile(text.encode(), re.IGNORECASE)


def barred_files(package: Path, copied: re.Pattern[bytes]) -> set[int]:
    """Return the numbers, in the order `pairs` read them, of the files to leave out."""
    files: list[tuple[str, bytes]] = msgspec.msgpack.decode(package.read_bytes())
    random.Random(package.stem).shuffle(files)
    found: set[int] = set()
    for number, (path, data) in enumerate(files):
        is_script = language_of(path) in _SCRIPTS
        in_wheel = package.stem.startswith("pypi-")
        is_bundle = is_script and (in_wheel or bool(_BUNDLE.search(data)))
        if is_bundle or (b"from" in data and copied.search(data)):
            found.add(number)
    return found


def clean(
    arrays: dict[str, NDArray], files: set[int], hashes: NDArray[np.uint64]
) -> tuple[dict[str, NDArray], int]:
    """Return a shard without barred passages, and how many those were."""
    lengths = np.diff(arrays["offsets"])
    alike = np.isin(arrays["hashes"], hashes)
    telling = Counter(arrays["files"][alike & (lengths >= TELLING_TERMS)].tolist())
    barred = files | {number for number, count in telling.items() if count > 1}
    drop = np.isin(arrays["files"], sorted(barred)) | (alike & (lengths >= FEWEST_TERMS))
    if not drop.any():
        return arrays, 0
    kept = np.flatnonzero(~drop)
    asked = np.flatnonzero(~drop[arrays["query_passages"]])
    rows, offsets = Ragged(arrays["offsets"], arrays["terms"]).take(kept)
    words, bounds = Ragged(arrays["query_offsets"], arrays["query_terms"]).take(asked)
    number = np.cumsum(~drop) - 1
    return {
        "strings": arrays["strings"],
        "terms": arrays["terms"][rows],
        "counts": arrays["counts"][rows],
        "offsets": offsets,
        **{name: arrays[name][kept] for name in ("languages", "files", "hashes")},
        "query_terms": arrays["query_terms"][words],
        "query_joined": arrays["query_joined"][words],
        "query_offsets": bounds,
        "query_passages": number[arrays["query_passages"][asked]].astype(np.int32),
        **{name: arrays[name][asked] for name in ("query_kinds", "query_hashes")},
    }, int(drop.sum())


def main() -> None:
    """Clean every package that is not clean yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--never-train", type=Path, required=True)
    options = parser.parse_args()
    copied = copied_from(options.never_train)
    judged = sorted((options.work / "barred-pairs").glob("*.npz"))
    if not judged:
        print("no barred-pairs: copies are known by what files say and by bundlers' marks alone")
    found = [np.load(path)["hashes"] for path in judged]
    hashes = np.unique(np.concatenate([np.zeros(0, np.uint64), *found]))
    output = options.work / "clean"
    output.mkdir(exist_ok=True)
    total: Counter[str] = Counter()
    for shard in sorted((options.work / "pairs").glob("*.npz")):
        if (output / shard.name).exists():
            continue
        files = barred_files(options.work / "harvest" / f"{shard.stem}.msgpack", copied)
        with np.load(shard) as arrays:
            cleaned, dropped = clean(dict(arrays), files, hashes)
        write_arrays(output / shard.name, cleaned)
        total["passages"] += dropped
        total["files"] += len(files)
        if dropped:
            print(shard.stem, len(files), "files,", dropped, "passages", flush=True)
    print(dict(total))


if __name__ == "__main__":
    main()
