"""Turns harvested packages into training pairs, as arrays of term numbers.

    python training/pairs.py --work /path/outside/the/repository [--only NAME …]

For each ``harvest/<package>.msgpack`` it writes ``pairs/<package>.npz``; a package whose arrays
exist is skipped, so an interrupted run goes on where it stopped.

A passage is a definition without its documentation; its term counts stand in six columns
(`COLUMNS`), so that training can show it with and without its name, its comments and the rest of
its documentation. Queries point at passages, each of a kind (`KINDS`).
"""

from __future__ import annotations

import argparse
import json
import random
import re
import zlib
from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

import msgspec
import numpy as np
from changes import Change, changes
from dataset import KINDS
from extract import (
    GENERATED,
    Passage,
    code_blocks,
    error_text,
    is_prose,
    passages,
    split_documentation,
)
from files import write_arrays
from filters import LANGUAGES, is_changelog, language_of

from wherein.embed.words import query_features
from wherein.tokens import count_terms, identifier_terms, scan_words

COLUMNS = ("body", "signature", "comments", "names", "enclosing", "rest")
MAX_DOCUMENTED = 40_000
"""Documented passages of one package: more would outweigh other packages of the language."""
MAX_SOURCE_BYTES = 25_000_000
"""Of one package, in an order that its name seeds: the largest would take most of the time."""
UNDOCUMENTED_SHARE = 0.6
SAMPLE_EVERY = 97
MOST_NAMESAKES = 3
"""A name with more definitions does not tell which one a changelog means."""
MOST_CHANGES = 4
"""Changelog entries that ask for one name; the newest come first in a file."""


class Table:
    """Numbers strings in the order first seen."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, term: str) -> int:
        """Return the number of ``term``."""
        return self.numbers.setdefault(term, len(self.numbers))


class Shard:
    """The arrays of one package while they grow."""

    def __init__(self) -> None:
        self.table = Table()
        self.rows: list[tuple[int, list[int]]] = []
        self.offsets = [0]
        self.languages: list[int] = []
        self.files: list[int] = []
        self.hashes: list[int] = []
        self.query_terms: list[int] = []
        self.query_joined: list[bool] = []
        self.query_offsets = [0]
        self.query_passages: list[int] = []
        self.query_kinds: list[int] = []
        self.query_hashes: list[int] = []

    def add_passage(self, columns: list[dict[str, int]], language: int, file: int) -> int:
        """Append a passage and return its number."""
        terms: dict[str, list[int]] = {}
        for place, counts in enumerate(columns):
            for term, count in counts.items():
                terms.setdefault(term, [0] * len(COLUMNS))[place] = min(count, 255)
        self.rows.extend((self.table.number(term), counts) for term, counts in terms.items())
        self.offsets.append(len(self.rows))
        self.languages.append(language)
        self.files.append(file)
        self.hashes.append(_hash(" ".join(sorted(columns[0]))))
        return len(self.offsets) - 2

    def add_query(self, text: str, passage: int, kind: str) -> None:
        """Append a query that ``passage`` answers."""
        plain, joined = query_features(text)
        plain, joined = plain[:80], joined[:80]
        self.query_terms.extend(self.table.number(term) for term in plain + joined)
        self.query_joined.extend([False] * len(plain) + [True] * len(joined))
        self.query_offsets.append(len(self.query_terms))
        self.query_passages.append(passage)
        self.query_kinds.append(KINDS.index(kind))
        self.query_hashes.append(_hash(" ".join(plain)))

    def save(self, path: Path) -> None:
        """Write the arrays."""
        blob = zlib.compress(msgspec.msgpack.encode(list(self.table.numbers)), 1)
        counts = np.array([row[1] for row in self.rows], np.uint8)
        arrays = {
            "strings": np.frombuffer(blob, np.uint8),
            "terms": np.array([row[0] for row in self.rows], np.uint32),
            "counts": counts.reshape(-1, len(COLUMNS)),
            "offsets": np.array(self.offsets, np.int64),
            "languages": np.array(self.languages, np.uint8),
            "files": np.array(self.files, np.int32),
            "hashes": np.array(self.hashes, np.uint64),
            "query_terms": np.array(self.query_terms, np.uint32),
            "query_joined": np.array(self.query_joined, bool),
            "query_offsets": np.array(self.query_offsets, np.int64),
            "query_passages": np.array(self.query_passages, np.int32),
            "query_kinds": np.array(self.query_kinds, np.uint8),
            "query_hashes": np.array(self.query_hashes, np.uint64),
        }
        write_arrays(path, arrays)


def _hash(text: str) -> int:
    digest = blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


LANGUAGE_NAMES = sorted({name for name in LANGUAGES.values() if name})


def _counts(text: str) -> dict[str, int]:
    return count_terms(scan_words(text))


def columns_of(found: Passage, rest: str) -> list[dict[str, int]]:
    """Return the passage's term counts by column."""
    names = dict.fromkeys(identifier_terms(found.name), 1)
    body = Counter(_counts(found.text))
    body.subtract(names)
    return [
        {term: count for term, count in body.items() if count > 0},
        _counts(found.signature),
        _counts(found.comments),
        names,
        _counts(" ".join(found.enclosing)),
        _counts(rest),
    ]


def spoken(name: str) -> str:
    """Return an identifier as words."""
    return " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name))


class PackagePairs:
    """Collects the pairs of one package.

    Args:
        package: Name that seeds every choice, so that the same package gives the same pairs.
        every: Keep every function, tests too, and no class: for sets that models are judged on.
    """

    def __init__(self, package: str, *, every: bool = False) -> None:
        self.package, self.every = package, every
        self.shard = Shard()
        self.samples: list[dict[str, str]] = []
        self._random = random.Random(package)
        self._documented = 0
        self._by_name: dict[str, list[int]] = {}
        self._tests: list[tuple[str, str, frozenset[str]]] = []
        self._changes: dict[str, list[Change]] = {}
        self._changed: dict[str, list[tuple[int, tuple[str, ...]]]] = {}

    def add_changes(self, text: str) -> None:
        """Take a changelog; all of them come before the source files whose names they say."""
        for change in changes(text):
            self._changes.setdefault(change.name, []).append(change)

    def add_source(self, path: str, data: bytes, language: str, file: int) -> None:
        """Take the definitions of a source file."""
        for found in passages(path, data, language):
            if found.is_test and not self.every:
                self._see_test(found)
            else:
                self._see_definition(found, file)

    def _see_definition(self, found: Passage, file: int) -> None:
        query, rest = split_documentation(found.documentation, found.name)
        error = error_text(found.text)
        if self.every and found.text.lstrip().startswith("class "):
            return
        is_kept = self._is_kept(query, error)
        is_changed = not self.every and self._is_changed(found.name)
        if not (is_kept or is_changed):
            return
        language = LANGUAGE_NAMES.index(found.language)
        passage = self.shard.add_passage(columns_of(found, rest), language, file)
        if is_changed:
            self._changed.setdefault(found.name, []).append((passage, found.enclosing))
        if not is_kept:
            return
        self._by_name.setdefault(found.name, []).append(passage)
        if query:
            self._documented += 1
            self.shard.add_query(query, passage, "documentation")
            if self._documented % SAMPLE_EVERY == 0:
                self.samples.append({"query": query, "text": found.text, "rest": rest})
        words = spoken(found.name)
        if len(words) >= 6 and " " in words:
            self.shard.add_query(words, passage, "name")
        if error:
            self.shard.add_query(error, passage, "error")

    def _is_kept(self, query: str, error: str) -> bool:
        """Whether a definition takes part whatever names it: a share of the undocumented does."""
        if query:
            return self._documented < MAX_DOCUMENTED
        share = UNDOCUMENTED_SHARE * (0.9 if error else 0.5)
        return self.every or self._random.random() <= share

    def _is_changed(self, name: str) -> bool:
        return name in self._changes and len(self._changed.get(name, ())) <= MOST_NAMESAKES

    def _see_test(self, found: Passage) -> None:
        words = spoken(re.sub(r"^[tT]est_?|_?[tT]est$", "", found.name))
        if " " in words and len(self._tests) < MAX_DOCUMENTED // 2:
            query, _ = split_documentation(found.documentation, found.name)
            self._tests.append((found.name, f"{words}. {query}", frozenset(scan_words(found.text))))

    def add_prose(self, text: str, language: str, file: int) -> None:
        """Take the code blocks of a document, with the heading and paragraph before each."""
        for query, code, tag in code_blocks(text):
            named = tag.lower() if tag.lower() in LANGUAGE_NAMES else language
            columns: list[dict[str, int]] = [{} for _ in COLUMNS]
            columns[0] = _counts(code[:2400])
            passage = self.shard.add_passage(columns, LANGUAGE_NAMES.index(named), file)
            self.shard.add_query(query, passage, "heading")

    def link_tests(self) -> None:
        """Point each test at the function it calls whose name its own name contains."""
        parts = {name: set(identifier_terms(name)) for name in self._by_name if len(name) > 3}
        for test, query, words in self._tests:
            have = set(identifier_terms(test))
            near = [name for name in words if name in parts and self._is_named(name, parts, have)]
            if near:
                best = max(near, key=lambda name: (len(parts[name]), len(name), name))
                if len(self._by_name[best]) <= 2:
                    self.shard.add_query(query, self._by_name[best][0], "test")

    def link_changes(self) -> None:
        """Point each changelog entry at the definition it names, half of them without the name."""
        # A generator of its own: a changelog changes no other choice.
        chance = random.Random(f"{self.package} changes")
        for name, namesakes in self._changed.items():
            if len(namesakes) > MOST_NAMESAKES:
                continue
            for change in self._changes[name][:MOST_CHANGES]:
                meant = [number for number, above in namesakes if change.may_mean(above)]
                query = change.query(masked=chance.random() < 0.5)
                # What says nothing but the name is no query.
                if meant and is_prose(query) and is_prose(change.query(masked=True)):
                    self.shard.add_query(query, chance.choice(meant), "change")

    @staticmethod
    def _is_named(name: str, parts: dict[str, set[str]], have: set[str]) -> bool:
        whole = {"".join(parts[name])} if len(parts[name]) == 1 else set()
        return len((parts[name] - whole) & have) >= max(1, len(parts[name]) - 1)


def make_pairs(
    package: Path, output: Path, samples: Path, *, every: bool, most_bytes: int = MAX_SOURCE_BYTES
) -> Counter[str]:
    """Write the arrays of one package; return how many queries of each kind it gave."""
    pairs = PackagePairs(package.stem, every=every)
    files: list[tuple[str, bytes]] = msgspec.msgpack.decode(package.read_bytes())
    random.Random(package.stem).shuffle(files)
    main = _main_language(path for path, _ in files)
    for path, data in files:
        if is_changelog(path):
            pairs.add_changes(data.decode("utf-8", "replace"))
    read = 0
    for number, (path, data) in enumerate(files):
        read += len(data)
        if read > most_bytes and not every:
            break
        language = language_of(path)
        if language == "plain" or GENERATED.search(data[:1200]):
            continue
        try:
            if language in {"markdown", "rst"}:
                pairs.add_prose(data.decode("utf-8", "replace"), main, number)
            else:
                pairs.add_source(path, data, language, number)
        except RecursionError:
            continue
    pairs.link_tests()
    pairs.link_changes()
    pairs.shard.save(output)
    with samples.open("a") as stream:
        for sample in pairs.samples:
            stream.write(json.dumps({"package": package.stem, **sample}) + "\n")
    return Counter(KINDS[kind] for kind in pairs.shard.query_kinds)


def _main_language(paths: Iterable[str]) -> str:
    languages = Counter(map(language_of, paths))
    named = [
        name for name, _ in languages.most_common() if name not in {"markdown", "rst", "plain"}
    ]
    return named[0] if named else "markdown"


def main() -> None:
    """Make the pairs of every harvested package that has none yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--reverse", action="store_true", help="from the last package on")
    parser.add_argument("--every", action="store_true", help="keep every function")
    parser.add_argument("--source", default="harvest")
    parser.add_argument("--output", default="pairs")
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), metavar=("K", "N"))
    parser.add_argument(
        "--most-bytes", type=int, default=MAX_SOURCE_BYTES, help="of source read of one package"
    )
    options = parser.parse_args()
    output = options.work / options.output
    output.mkdir(parents=True, exist_ok=True)
    packages = sorted(
        (options.work / options.source).glob("*.msgpack"),
        key=lambda path: (path.stat().st_size, path.name),
    )
    if options.reverse:
        packages.reverse()
    for place, package in enumerate(packages):
        target = output / f"{package.stem}.npz"
        if target.exists() or place % options.part[1] != options.part[0]:
            continue
        if options.only and package.stem not in options.only:
            continue
        kinds = make_pairs(
            package, target, options.work / "samples.jsonl",
            every=options.every, most_bytes=options.most_bytes,
        )  # fmt: skip
        print(package.stem, dict(kinds), flush=True)


if __name__ == "__main__":
    main()
