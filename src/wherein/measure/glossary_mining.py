"""Finds what people say for what the code says, in a repository's commits up to one of them.

A word of a message is tied to the files of the commits that say it: to those that are changed far
more often by these commits than by others (lift, Brin et al. 1997). Of the names these files define
the one is taken whose search would open most of what those commits changed, names on changed lines
first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from wherein.glossary import GlossaryLine, said_terms
from wherein.history.messages import CommitFlag, clean_subject
from wherein.history.view import HistoryView
from wherein.history.votes import query_terms
from wherein.measure.arms_grep import MAX_OPENED
from wherein.measure.glossary_names import NameIndex
from wherein.measure.replay_trees import TextTree
from wherein.tokens import scan_words

__all__ = ["MinedPair", "is_found_by_grep", "keys_of", "mine_commits", "usable_rows"]

Key = tuple[str, ...]

_LEFT_OUT = (
    CommitFlag.MERGE
    | CommitFlag.BOT
    | CommitFlag.REVERT
    | CommitFlag.RELEASE
    | CommitFlag.TRIVIAL
    | CommitFlag.DOCS
    | CommitFlag.BOUNDARY
)
_MAX_FILES = 10
"""A commit that changes more files ties its words to none of them."""

_MIN_SAID = 3
"""Commits that must say a word: two are chance."""

_MAX_SAID_SHARE = 0.1
"""A word in more of the commits (`support`, `class`) says nothing about the place."""

_ALWAYS_ADMITTED = 10
"""In a short history a tenth is too few; a word that so few commits say, of at least twice as many,
is admitted."""

_MIN_HITS = 3
"""Of these, commits whose files the name must lead to."""

_MIN_SHARE = 0.15
_MIN_LIFT = 2.0
_MAX_PAIRS_FOR_KEY = 3
_MAX_NAMED_FILES = 6
"""Files, those with most commits first, whose names are tried for one word."""

_ON_CHANGED_LINES = 0.5
"""How much a name that stands on the lines changed by the word's commits counts more."""


@dataclass(frozen=True, slots=True)
class MinedPair:
    """One line that may be worth keeping."""

    line: GlossaryLine
    terms: frozenset[str]
    n_said: int
    """Commits, sections or sessions that say it."""
    n_hits: int
    """Of these, those whose files a search for the name opens."""
    origin: str
    """``commits``, ``docs`` or ``sessions``."""
    known_from: int = 0
    """Seconds since 1970; only requests after it can prove the line."""

    @property
    def weight(self) -> float:
        """How promising it is: hits, times how surely they follow."""
        return self.n_hits * self.n_hits / (self.n_said + 1)


def usable_rows(view: HistoryView) -> list[int]:
    """Return the rows whose message and files belong together, oldest first."""
    rows = [
        row
        for row in range(view.n_rows)
        if view.reachable[row]
        and not int(view.flags[row]) & int(_LEFT_OUT)
        and 0 < int(view.change_offsets[row + 1] - view.change_offsets[row]) <= _MAX_FILES
    ]
    return sorted(rows, key=lambda row: (int(view.order[row]), row))


def mine_commits(
    view: HistoryView,
    tree: TextTree,
    names: NameIndex,
    changed_names: Mapping[str, frozenset[str]] | None = None,
) -> list[MinedPair]:
    """Return the pairs of the commits of ``view``, most promising first.

    Args:
        view: The history up to the commit whose tree it is; its paths are the tree's.
        tree: What a search would look through.
        names: The names of ``tree``.
        changed_names: Commit to the names on the lines it changed.
    """
    table = _count(view)
    pairs: list[MinedPair] = []
    for key in sorted(table.commits):
        said = table.said(key)
        if said:
            pairs.extend(_pairs_for(key, said, table, tree, names, changed_names or {}))
    pairs.sort(key=lambda pair: (-pair.weight, pair.line.said, pair.line.name))
    return pairs


@dataclass(frozen=True, slots=True)
class _Table:
    """Words of messages against files, over some commits."""

    shas: tuple[str, ...]
    files: tuple[tuple[str, ...], ...]
    """Paths by commit."""
    commits: Mapping[Key, tuple[int, ...]]
    """Commits that say each key, within the bounds."""
    by_file: Mapping[str, int]
    """Path to the commits that change it, as bits."""
    surfaces: Mapping[str, Counter[str]]
    """Term to the words as people wrote it."""

    def said(self, key: Key) -> str:
        """Return how people write ``key``; empty when only as a part of longer names."""
        if any(term not in self.surfaces for term in key):
            return ""
        words = [
            min(self.surfaces[term].items(), key=lambda item: (-item[1], item[0]))[0]
            for term in key
        ]
        return " ".join(words)


def _count(view: HistoryView) -> _Table:
    rows = usable_rows(view)
    shas: list[str] = []
    files: list[tuple[str, ...]] = []
    commits: dict[Key, list[int]] = defaultdict(list)
    by_file: dict[str, int] = defaultdict(int)
    surfaces: dict[str, Counter[str]] = defaultdict(Counter)
    for at, (row, line) in enumerate(zip(rows, view.lines(rows), strict=True)):
        paths = tuple(view.paths[int(file)] for file in view.files_of(row))
        shas.append(line.sha)
        files.append(paths)
        for path in paths:
            by_file[path] |= 1 << at
        text = clean_subject(line.subject)
        for word in scan_words(text):
            terms = said_terms(word)
            if len(terms) == 1:
                surfaces[next(iter(terms))][word.lower()] += 1
        for key in keys_of(text):
            commits[key].append(at)
    most = max(int(len(rows) * _MAX_SAID_SHARE), min(len(rows) // 2, _ALWAYS_ADMITTED))
    kept = {key: tuple(at) for key, at in commits.items() if _MIN_SAID <= len(at) <= most}
    return _Table(tuple(shas), tuple(files), kept, by_file, surfaces)


def keys_of(text: str) -> list[Key]:
    """Return the words of a message and its neighbouring pairs, each once."""
    terms = [term for term in query_terms(text) if len(term) > 1 and not term.isdigit()]
    pairs = [(a, b) for a, b in pairwise(terms) if a not in b and b not in a]
    return list(dict.fromkeys([*((term,) for term in terms), *pairs]))


def _pairs_for(
    key: Key,
    said: str,
    table: _Table,
    tree: TextTree,
    names: NameIndex,
    changed_names: Mapping[str, frozenset[str]],
) -> Iterator[MinedPair]:
    """Yield the best names for one key, each for commits that those before it do not reach."""
    commits = table.commits[key]
    masks: dict[str, int] = defaultdict(int)
    for bit, commit in enumerate(commits):
        for path in table.files[commit]:
            masks[path] |= 1 << bit
    trial = _Tied(_tied(masks, len(commits), table), masks, len(commits), table, names)
    on_lines: Counter[str] = Counter()
    for commit in commits:
        on_lines.update(changed_names.get(table.shas[commit], ()))
    reached = 0
    for _ in range(_MAX_PAIRS_FOR_KEY):
        best = _best_name(trial, reached, on_lines)
        if best is None:
            return
        path, name, mask = best
        n_hits = mask.bit_count()
        if n_hits < _MIN_HITS or n_hits < _MIN_SHARE * len(commits):
            return
        reached |= mask
        line = GlossaryLine(said, name, path)
        if not is_found_by_grep(line, tree):
            yield MinedPair(line, frozenset(key), len(commits), n_hits, "commits")


@dataclass(frozen=True, slots=True)
class _Tied:
    """The files tied to one key."""

    paths: Sequence[str]
    masks: Mapping[str, int]
    """Path to the key's commits that change it, as bits."""
    n_said: int
    table: _Table
    names: NameIndex


def _tied(masks: Mapping[str, int], n_said: int, table: _Table) -> list[str]:
    """Return the files that the commits of a key change far more often than others do."""
    found: list[tuple[int, str]] = []
    for path, mask in masks.items():
        n = mask.bit_count()
        usual = table.by_file[path].bit_count() / len(table.files)
        if n >= _MIN_HITS and n >= _MIN_LIFT * usual * n_said and _is_plain(path):
            found.append((-n, path))
    return [path for _, path in sorted(found)[:_MAX_NAMED_FILES]]


def _is_plain(path: str) -> bool:
    """Return whether a path can stand on a line of the glossary as it is."""
    return path.isprintable() and "`" not in path and path == path.strip()


def _best_name(
    tied: _Tied, reached: int, on_lines: Mapping[str, int]
) -> tuple[str, str, int] | None:
    """Return file, name and commits reached of the name that beats chance by most commits."""
    best: tuple[tuple[float, int, int, str], str, int] | None = None
    for path in tied.paths:
        for name in tied.names.defined.get(path, ()):
            mask = usual = 0
            for file in tied.names.files[name]:
                mask |= tied.masks.get(file, 0)
                usual |= tied.table.by_file.get(file, 0)
            n = (mask & ~reached).bit_count()
            by_chance = tied.n_said * usual.bit_count() / len(tied.table.files)
            if not n or mask.bit_count() < _MIN_LIFT * by_chance:
                continue
            bonus = min(on_lines.get(name, 0), n) * _ON_CHANGED_LINES
            order = (by_chance - n - bonus, len(tied.names.files[name]), len(name), name)
            if best is None or order < best[0]:
                best = (order, path, mask & ~reached)
    return (best[1], best[0][3], best[2]) if best is not None else None


def is_found_by_grep(line: GlossaryLine, tree: TextTree) -> bool:
    """Return whether searching for what is said opens the line's file at once."""
    for word in scan_words(line.said):
        found = tree.counts(word)
        if line.path in found and len(found) <= MAX_OPENED:
            return True
    return False
