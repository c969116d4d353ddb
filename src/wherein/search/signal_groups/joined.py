"""Signals of words that stand joined in code, and of words that only begin alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from wherein.search.matches import BODY, NAMES, Matches
from wherein.search.path_facts import PathFacts, path_facts
from wherein.search.query import TermKind

__all__ = ["SIGNALS", "columns"]

SIGNALS: Mapping[str, str] = {
    "join_body": "0..1: share of the joined neighbours' idf in one chunk's body",
    "join_names": "0..1: the same in the names a chunk defines",
    "whole_body": "0..1: share of the written identifiers' idf in one chunk's body",
    "whole_names": "0..1: the same in the names a chunk defines",
    "soft_stem": "0..1: how much of the telling name begins like words of the query",
}

MIN_PREFIX = 4
"""Shorter common beginnings mean nothing (``con``, ``str``)."""


def columns(matches: Matches) -> dict[str, NDArray[np.float32]]:
    """Return the group's columns, each of shape ``(F,)``."""
    joined = matches.of_kind(TermKind.JOINED)
    whole = matches.of_kind(TermKind.WHOLE)
    body, names = matches.counts[BODY] > 0, matches.counts[NAMES] > 0
    facts = [path_facts(matches.index.path(file)) for file in matches.files.tolist()]
    return {
        "join_body": matches.best(matches.share(body, joined)),
        "join_names": matches.best(matches.share(names, joined)),
        "whole_body": matches.best(matches.share(body, whole)),
        "whole_names": matches.best(matches.share(names, whole)),
        "soft_stem": _soft_stems(facts, [t.term for t in matches.terms if t.kind == TermKind.WORD]),
    }


def _soft_stems(facts: Sequence[PathFacts], words: Sequence[str]) -> NDArray[np.float32]:
    known: dict[str, float] = {}
    column = np.zeros(len(facts), np.float32)
    for row, fact in enumerate(facts):
        total = 0.0
        for part in fact.stem_terms:
            if part not in known:
                known[part] = max((_likeness(part, word) for word in words), default=0.0)
            total += known[part]
        column[row] = total / max(len(fact.stem_terms), 1)
    return column


def _likeness(a: str, b: str) -> float:
    """Return the common beginning over the longer word, 0 when it is short."""
    if a == b:
        return 1.0
    if a[:MIN_PREFIX] != b[:MIN_PREFIX]:
        return 0.0
    n = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        n += 1
    return n / max(len(a), len(b)) if n >= MIN_PREFIX else 0.0
