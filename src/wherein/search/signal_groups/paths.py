"""Signals of the path: what the file is called, and where it lies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from wherein.search.matches import Matches
from wherein.search.path_facts import path_facts
from wherein.search.query import Query, TermKind
from wherein.search.retrievers import path_agreement

__all__ = ["SIGNALS", "columns"]

SIGNALS: Mapping[str, str] = {
    "stem": "0..1: share of the query's idf in the telling name (of index files: the folder's)",
    "stem_rare": "0..1: largest idf of a query word in the telling name, over the query's largest",
    "stem_in_q": "0..1: share of the telling name's words that are in the query",
    "stem_full": "0 or 1: every word of the telling name is in the query",
    "stem_joined": "0 or 1: the telling name is one identifier of the query, or its words joined",
    "path_share": "0..1: share of the query's idf anywhere in the path",
    "folder": "0..1: share of the query's idf in the folders",
    "folder_full": "0 or 1: every word of the last folder is in the query",
    "path_literal": "0..1: how far a path written in the query agrees with this one from its end",
}


def columns(matches: Matches, query: Query) -> dict[str, NDArray[np.float32]]:
    """Return the group's columns, each of shape ``(F,)``."""
    idf = matches.of_kind(TermKind.WORD)
    total = float(idf.sum())
    weights = {
        term.term: float(weight) / total if total > 0 else 0.0
        for term, weight in zip(matches.terms, idf, strict=True)
    }
    largest = max(weights.values(), default=0.0)
    words = {term.term for term in matches.terms if term.kind == TermKind.WORD}
    wholes = {term.term for term in matches.terms if term.kind != TermKind.WORD}
    found = {name: np.zeros(len(matches.files), np.float32) for name in SIGNALS}
    for row, file in enumerate(matches.files.tolist()):
        path = matches.index.path(file)
        facts = path_facts(path)
        in_query = len(facts.stem_terms & words)
        found["stem"][row] = _share(facts.stem_terms, weights)
        rarest = max((weights.get(term, 0.0) for term in facts.stem_terms), default=0.0)
        found["stem_rare"][row] = rarest / largest if largest > 0 else 0.0
        found["stem_in_q"][row] = in_query / max(len(facts.stem_terms), 1)
        found["stem_full"][row] = bool(in_query) and in_query == len(facts.stem_terms)
        found["stem_joined"][row] = facts.n_stem_words > 1 and facts.stem_whole in wholes
        found["path_share"][row] = _share(facts.stem_terms | facts.folder_terms, weights)
        found["folder"][row] = _share(facts.folder_terms, weights)
        found["folder_full"][row] = bool(facts.last_folder_terms) and (
            facts.last_folder_terms <= words
        )
        found["path_literal"][row] = max(
            (path_agreement(asked, path) for asked in query.paths), default=0.0
        )
    return found


def _share(terms: Iterable[str], weights: Mapping[str, float]) -> float:
    # Sorted: the order of a set's strings differs from run to run, and so would the last bit.
    return sum(sorted(weights.get(term, 0.0) for term in terms))
