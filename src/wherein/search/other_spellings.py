"""Other ways to write a query's word that stands nowhere in the code.

``printlogger`` where the code says ``print_logger``, ``colour`` where it says ``color``. Words that
stand somewhere are left as they are: what is written is what is meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from wherein.search.query import STOP_WORDS, Query, QueryTerm, TermKind
from wherein.store.lexical import LexicalScores
from wherein.store.tree_index import TreeIndex
from wherein.store.tree_postings import Postings
from wherein.tokens import identifier_terms

__all__ = ["with_other_spellings"]

MAX_UNKNOWN_WORDS = 4
"""Words of one query that other spellings are looked for: a pasted log has hundreds of them."""

_MIN_WORD, _MAX_WORD, _MIN_PART = 6, 40, 3
_ENGLISH_PAIRS = (
    ("our", "or"),
    ("is", "iz"),
    ("ys", "yz"),
    ("tre", "ter"),
    ("ence", "ense"),
    ("ogue", "og"),
)
"""British and American: colour, serialise, analyse, centre, licence, catalogue. A doubled letter
(cancelled) has the same stem."""


def with_other_spellings(
    index: TreeIndex, query: Query, found: LexicalScores
) -> tuple[Query, tuple[str, ...]]:
    """Add the terms of other spellings for words that stand in no live file.

    A word is first looked up in the other English spelling, then as two words that stand together
    in a chunk. What is added counts as a word of the query. 119 of 9,324 public requests have such
    a word: MRR .618 without, .677 with (benchmarks/results/ranking-2026-12-01.md).

    Args:
        index: The tree's index.
        query: What was asked.
        found: What its terms found.

    Returns:
        The query, itself when nothing was added, and a note on each word looked up otherwise.
    """
    terms = {term.term: term for term in query.terms}
    missing = (terms[match.term] for match in found.terms if not _n_places(match.postings))
    unknown = [term for term in missing if _is_plain(query, term)]
    notes: list[str] = []
    for term in unknown[:MAX_UNKNOWN_WORDS]:
        written = query.words[term.word]
        others = _other_english(index, written.lower()) or _two_words(index, written.lower())
        for other in others:
            for part in identifier_terms(other):
                terms.setdefault(part, replace(term, term=part))
        if others:
            notes.append(f"{written!r} is in no indexed file: looked up as {' '.join(others)!r}")
    return (replace(query, terms=tuple(terms.values())) if notes else query), tuple(notes)


def _is_plain(query: Query, term: QueryTerm) -> bool:
    """Return whether the term is a whole word of letters, long enough to be told from others."""
    if term.kind is not TermKind.WORD or term.word < 0:
        return False
    word = query.words[term.word]
    return (
        _MIN_WORD <= len(word) <= _MAX_WORD
        and word.isascii()
        and word.isalpha()
        and identifier_terms(word.lower()) == (term.term,)
    )


def _n_places(postings: Postings) -> int:
    return len(postings.chunks) + len(postings.files)


def _other_english(index: TreeIndex, word: str) -> tuple[str, ...]:
    """Return the word's other English spelling, nothing when that stands nowhere as well."""
    counts = {
        other: _n_places(index.postings(*identifier_terms(other))) for other in _respelled(word)
    }
    best = max(counts, key=counts.__getitem__, default="")
    return (best,) if counts.get(best) else ()


def _respelled(word: str) -> Iterator[str]:
    for pair in _ENGLISH_PAIRS:
        for here, there in (pair, pair[::-1]):
            start, _, end = word.rpartition(here)
            if start:
                yield start + there + end


def _two_words(index: TreeIndex, word: str) -> tuple[str, ...]:
    """Return the two words in it that most often stand together, nothing when none do."""
    best, found = 0, tuple[str, ...]()
    for place in range(_MIN_PART, len(word) - _MIN_PART + 1):
        words = word[:place], word[place:]
        if STOP_WORDS.issuperset(words):  # "with" and "out" say nothing of "without"
            continue
        left, right = (index.postings(*identifier_terms(part)).chunks for part in words)
        together = len(np.intersect1d(left, right, assume_unique=True))
        if together > best:
            best, found = together, words
    return found
