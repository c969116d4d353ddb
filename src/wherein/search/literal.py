"""Finds a quoted text, or the longest part of a message, in the text of the likeliest files.

The index holds terms, not text; these few files are read through a function that is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wherein.search.query import Query
from wherein.store.tree_index import TreeIndex
from wherein.tokens import identifier_terms, scan_words

__all__ = [
    "LITERAL_FILES",
    "PHRASE_FILES",
    "QUOTED_FILES",
    "LiteralMatch",
    "TextReader",
    "files_with_all_terms",
    "find_literals",
    "find_phrase",
]

TextReader = Callable[[str], str | None]
"""Path to the file's text as it was indexed, or None when it cannot be read."""

LITERAL_FILES = 40
"""Candidates read for a quoted text or a message: 40 of 20 kB take 2 ms."""

PHRASE_FILES = 10
"""Candidates read for a query without quotes because they have all its words together, some 0.08 ms
each; 20 made the median warm query of pydantic 0.5 ms slower."""

_QUESTIONS = frozenset({"find", "how", "show", "what", "when", "where", "which", "who", "why"})
"""Nobody asks with a sentence that stands in the code."""

QUOTED_FILES = 200
"""Files read for one quoted text because they have all its words together. Words such as "not
found" stand in hundreds of files, and whoever quotes them wants the one that has them in a row."""

MIN_RUN = 3
"""Words in a row that make part of a message a match."""

MAX_MESSAGE_WORDS = 40
ANCHORS = 3
MAX_OCCURRENCES = 20
MAX_LINE_CHARS = 400
"""Bounds on the search for a run in one file."""

_MAX_TEXT = 2_000_000
_WORD = re.compile(r"[^\W\d_][\w'-]*")


@dataclass(frozen=True, slots=True)
class LiteralMatch:
    """Where a text of the query stands in a file."""

    line: int
    share: float
    """How much of the text stands there, 0..1; 1 is all of it."""
    n_words: int = 0
    """Words of the text that stands there whole, 0 when only a part does."""
    is_phrase: bool = False
    """The text is the query as a whole, which nobody put in quotes."""


def files_with_all_terms(index: TreeIndex, text: str, limit: int) -> NDArray[np.int64]:
    """Return the live files that have every term of ``text`` in one chunk, by ordinal, cut."""
    wanted = dict.fromkeys(t for word in scan_words(text) for t in identifier_terms(word))
    lists = sorted((index.postings(term).chunks for term in wanted), key=len)
    if not lists or not len(lists[0]):
        return np.zeros(0, np.int64)
    common = lists[0]
    for chunks in lists[1:]:
        places = np.minimum(np.searchsorted(chunks, common), len(chunks) - 1)
        common = common[chunks[places] == common]
    return np.unique(index.file_of_chunk[common]).astype(np.int64)[:limit]


def find_literals(
    query: Query, paths: Mapping[int, str], read_text: TextReader
) -> dict[int, LiteralMatch]:
    """Return the best match of a quoted text or of the message in each of some files.

    Args:
        query: Its quoted texts are looked for as they are; a message by its longest run of words.
        paths: File ordinal to path of the files to read.
        read_text: Reads one of them.
    """
    whole = [*query.quoted, *([query.subject.strip()] if query.is_message else [])]
    whole.sort(key=lambda text: -len(_WORD.findall(text)))
    words = [word.lower() for word in _WORD.findall(query.subject)][:MAX_MESSAGE_WORDS]
    found: dict[int, LiteralMatch] = {}
    for file, path in paths.items():
        text = read_text(path)
        if text is None:
            continue
        match = _whole_match(text[:_MAX_TEXT], whole)
        if match is None and query.is_message:
            match = _longest_run(text[:_MAX_TEXT], words)
        if match is not None:
            found[file] = match
    return found


def find_phrase(
    query: Query, paths: Mapping[int, str], read_text: TextReader
) -> dict[int, LiteralMatch]:
    """Return where the words of a query without quotes stand in a row, in any case.

    Args:
        query: Of three words or more; a shorter one is found nowhere, for it stands everywhere.
        paths: File ordinal to path of the files that have all its words together.
        read_text: Reads one of them.
    """
    phrase = query.subject.strip().lower()
    words = _WORD.findall(phrase)
    found: dict[int, LiteralMatch] = {}
    if len(words) < MIN_RUN or words[0] in _QUESTIONS or query.quoted or query.is_message:
        return found
    for file, path in paths.items():
        text = (read_text(path) or "")[:_MAX_TEXT].lower()
        place = text.find(phrase)
        if place >= 0:
            line = text.count("\n", 0, place) + 1
            found[file] = LiteralMatch(line, 1.0, len(words), is_phrase=True)
    return found


def _whole_match(text: str, wanted: Sequence[str]) -> LiteralMatch | None:
    for literal in wanted:
        place = text.find(literal)
        if place >= 0:
            return LiteralMatch(text.count("\n", 0, place) + 1, 1.0, len(_WORD.findall(literal)))
    return None


def _longest_run(text: str, words: Sequence[str]) -> LiteralMatch | None:
    """Return the line with the longest run of the message's words, when it is long enough.

    Values filled in break a message into runs, so a line of the source has a part of it. Only lines
    with one of the longest words are looked at.
    """
    best, best_line = MIN_RUN - 1, -1
    lower = text.lower()
    known = frozenset(words)
    for anchor in sorted(dict.fromkeys(words), key=lambda word: (-len(word), word))[:ANCHORS]:
        place = lower.find(anchor)
        for _ in range(MAX_OCCURRENCES):
            if place < 0:
                break
            start = lower.rfind("\n", 0, place) + 1
            end = lower.find("\n", place)
            line = lower[start : end if end >= 0 else len(lower)]
            found = _WORD.findall(line[:MAX_LINE_CHARS])
            if sum(word in known for word in found) > best:  # a run is no longer than that
                length = _run_length(found, words)
                if length > best:
                    best, best_line = length, start
            place = lower.find(anchor, start + len(line))
    if best_line < 0:
        return None
    return LiteralMatch(text.count("\n", 0, best_line) + 1, 0.9 * best / len(words))


def _run_length(line: Sequence[str], words: Sequence[str]) -> int:
    """Return the length of the longest run of words that both have."""
    best = 0
    lengths = [0] * (len(words) + 1)
    for word in line:
        previous = 0
        for place, other in enumerate(words, start=1):
            before, lengths[place] = lengths[place], previous + 1 if word == other else 0
            previous = before
            best = max(best, lengths[place])
    return best
