"""Signals of the path: what the file is called, and where it lies."""

from __future__ import annotations

from collections.abc import Mapping, Set

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


_WHOLE_KINDS = (TermKind.WHOLE, TermKind.JOINED)


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
    wholes = {term.term for term in matches.terms if term.kind in _WHOLE_KINDS}
    rows = [
        _row(matches.index.path(file), query, words, wholes, weights, largest)
        for file in matches.files.tolist()
    ]
    matrix = np.array(rows, np.float32).reshape(len(rows), len(SIGNALS))
    return {name: matrix[:, place] for place, name in enumerate(SIGNALS)}


def _row(
    path: str,
    query: Query,
    words: set[str],
    wholes: set[str],
    weights: Mapping[str, float],
    largest: float,
) -> tuple[float, ...]:
    """Return one file's values in the order of `SIGNALS`."""
    facts = path_facts(path)
    stem, folder = facts.stem_terms & words, facts.folder_terms & words
    rarest = max((weights[term] for term in stem), default=0.0)
    return (
        _share(stem, weights),
        rarest / largest if largest > 0 else 0.0,
        len(stem) / max(len(facts.stem_terms), 1),
        bool(stem) and len(stem) == len(facts.stem_terms),
        facts.n_stem_words > 1 and facts.stem_whole in wholes,
        _share(stem | folder, weights),
        _share(folder, weights),
        bool(facts.last_folder_terms) and facts.last_folder_terms <= words,
        max((path_agreement(asked, path) for asked in query.paths), default=0.0),
    )


def _share(terms: Set[str], weights: Mapping[str, float]) -> float:
    # Sorted: the order of a set's strings differs from run to run, and so would the last bit.
    return sum(sorted(weights[term] for term in terms)) if terms else 0.0
