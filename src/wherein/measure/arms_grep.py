"""The control arm: searches by words as an agent without an index does, by a fixed script."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from wherein.budget import count_tokens
from wherein.glossary import expand
from wherein.history.votes import query_terms
from wherein.measure.arms import Found, Opened
from wherein.measure.replay_trees import TextTree
from wherein.measure.requests import Request, code_tokens

__all__ = ["MAX_ROUNDS", "GrepArm", "GrepRound", "search_words"]

MAX_ROUNDS = 6
MAX_OPENED = 10
"""Files looked at in one round: more are not opened, the search is narrowed instead."""

_MAX_LISTED = 250
_SHOWN_LINES = 8
"""Matching lines read of an opened file, each with a line around it: a skilled searcher reads
ranges, not whole files."""

_WORD = re.compile(r"[A-Za-z_][\w-]*")
_MIN_CHARS = 3


@dataclass(frozen=True, slots=True)
class GrepRound:
    """One search of the script."""

    number: int
    """From 1."""
    asked: str
    words: tuple[str, ...]
    """The words that the files found hold."""
    found: Mapping[str, int]
    """Path to matches."""
    opened: tuple[str, ...]
    """Files looked at now, most matches first; none when the next round narrows."""


class GrepArm:
    """Longest and most code-like word first; another word narrows when too many files match.

    Each round is one search. Up to ten matching files are opened, most matches first; when more
    match, the next round asks for files that hold the next word as well, and when no more words
    are left the ten with the most matches are opened.

    Args:
        name: What the report calls it.
        glossary: What people say to what the code says, tried before the request's plain words.
        taught_by: Commits that the glossary may have been learned from: requests made of them are
            answered without it, as it may hold their answers.
    """

    def __init__(
        self,
        name: str = "grep",
        glossary: Mapping[str, Sequence[str]] | None = None,
        taught_by: Set[str] = frozenset(),
    ) -> None:
        self._name = name
        self._glossary = dict(glossary or {})
        self._taught_by = taught_by
        self._tree: TextTree | None = None
        self._counts: dict[str, dict[str, int]] = {}

    @property
    def name(self) -> str:
        """What the report calls it."""
        return self._name

    def prepare(self, tree: TextTree) -> None:
        """Take another tree."""
        if self._tree is not tree:
            self._counts.clear()
        self._tree = tree

    def close(self) -> None:
        """Nothing is kept outside memory."""
        self._tree = None
        self._counts.clear()

    def search(self, request: Request) -> Found:
        """Answer one request by at most `MAX_ROUNDS` searches."""
        started = time.process_time()
        tree = self._tree
        assert tree is not None  # noqa: S101 - prepare comes first
        opened: list[Opened] = []
        overhead: list[int] = []
        asked: list[str] = []
        glossary = self._glossary if request.sha not in self._taught_by else None
        for step in self.rounds(search_words(request.text, glossary)):
            asked.append(step.asked)
            overhead.append(_listing_tokens(step.found))
            opened.extend(
                Opened(path, _reading_tokens(tree.text(path), step.words), step.number)
                for path in step.opened
            )
        return Found(
            opened=tuple(opened),
            overhead_tokens=tuple(overhead),
            n_rounds=max(len(asked), 1),
            seconds=time.process_time() - started,
            words=tuple(asked),
        )

    def rounds(self, words: Sequence[str]) -> Iterator[GrepRound]:
        """Yield the searches for ``words`` in the tree prepared last, without reading a file."""
        tree = self._tree
        assert tree is not None  # noqa: S101 - prepare comes first
        known: set[str] = set()
        held: dict[str, int] | None = None
        held_words: list[str] = []
        for number, word in enumerate(words[:MAX_ROUNDS], start=1):
            found = self._grep(tree, word)
            asked = word if held is None else f"{' + '.join(held_words)} + {word}"
            if held is not None:
                both = {path: n + found[path] for path, n in held.items() if path in found}
                found = both or found
                held_words = [*held_words, word] if both else [word]
            else:
                held_words = [word]
            opened: tuple[str, ...] = ()
            is_last = number == min(len(words), MAX_ROUNDS)
            if len(found) <= MAX_OPENED or is_last:
                ordered = sorted(found, key=lambda path: (-found[path], path))[:MAX_OPENED]
                opened = tuple(path for path in ordered if path not in known)
                known.update(opened)
                held = None
            else:
                held = found
            yield GrepRound(number, asked, tuple(held_words), found, opened)

    def _grep(self, tree: TextTree, word: str) -> dict[str, int]:
        if word not in self._counts:
            self._counts[word] = tree.counts(word)
        return self._counts[word]


def search_words(text: str, glossary: Mapping[str, Sequence[str]] | None = None) -> list[str]:
    """Return what is searched for, in order: code names, glossary's words, then longest first.

    A request that names code needs no glossary: its own names come first.
    """
    terms = set(query_terms(text))
    known = expand(text, glossary or {})
    code = sorted(code_tokens(text), key=lambda word: (-len(word), word))
    plain = [word for word in _WORD.findall(text) if len(word) >= _MIN_CHARS]
    plain = [word for word in plain if set(query_terms(word)) & terms]
    plain.sort(key=lambda word: (-len(word), word.lower()))
    return list(dict.fromkeys([*code, *known, *plain]))


def _listing_tokens(found: Mapping[str, int]) -> int:
    shown = sorted(found)[:_MAX_LISTED]
    return count_tokens("\n".join(shown)) if shown else 4


def _reading_tokens(text: str, words: Sequence[str]) -> int:
    """Return the tokens of the first matching lines with a line around each."""
    needles = [word.lower() for word in words]
    lines = text.split("\n")
    shown: set[int] = set()
    n_matches = 0
    for number, line in enumerate(lines):
        low = line.lower()
        if any(needle in low for needle in needles):
            shown.update((number - 1, number, number + 1))
            n_matches += 1
            if n_matches == _SHOWN_LINES:
                break
    kept = [lines[number][:300] for number in sorted(shown) if 0 <= number < len(lines)]
    return count_tokens("\n".join(kept))
