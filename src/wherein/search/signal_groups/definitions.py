"""Signals of definitions: the file defines what the query names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wherein.search.matches import NAMES, Matches
from wherein.search.path_facts import plain_terms
from wherein.search.query import Query, TermKind
from wherein.store.path_terms import path_stem

__all__ = ["SIGNALS", "TYPE_KINDS", "columns"]

SIGNALS: Mapping[str, str] = {
    "ex_cs": "0..1: defines a code name of the query as written, over the root of their number",
    "ex_alone": "0..1: as ex_cs, where the query asks for that name and nothing else",
    "ex_ci": "0..1: the same in any case, for every word of the query",
    "qualified": "0..1: defines a qualified name of the query inside what it is qualified by",
    "ex_home": "0 or 1: the file is called by a name of the query that it also defines",
    "name_f1": "0..1: best F1 of a defined name's words against the query's, by idf",
    "name_f1_type": "0..1: the same over chunks of types",
    "cov_def": "0..1: share of the query's words that are a definition's whole name here",
}

TYPE_KINDS = frozenset(
    [
        "class",
        "interface",
        "struct",
        "enum",
        "trait",
        "type",
        "protocol",
        "record",
        "union",
        "module",
    ]
)
KIND_WORDS = frozenset(
    [
        *TYPE_KINDS,
        "function",
        "method",
        "macro",
        "constant",
        "variable",
        "field",
        "definition",
        "defined",
        "declaration",
        "declared",
        "implementation",
        "implemented",
    ]
)
"""Words beside a name that say what is wanted of it, and name nothing themselves."""

MAX_NAMES = 16
"""Names compared of one chunk: a table of constants has hundreds."""

CHUNKS_COMPARED = 2
"""Chunks of a file whose names are compared word by word: those with most idf in their names."""


def columns(matches: Matches, query: Query) -> dict[str, NDArray[np.float32]]:
    """Return the group's columns, each of shape ``(F,)``."""
    exact = _defined(matches, query.symbols, ignore_case=False)
    by_word = [_defined(matches, [name], ignore_case=True) for name in query.names]
    any_case = np.maximum.reduce([*by_word, np.zeros(len(matches.files), np.float32)])
    best, best_type = _name_likeness(matches)
    return {
        "ex_cs": exact,
        "ex_alone": exact if _asks_one_name(query) else np.zeros_like(exact),
        "ex_ci": any_case,
        "ex_home": _at_home(matches, query),
        "qualified": _qualified(matches, query),
        "name_f1": best,
        "name_f1_type": best_type,
        "cov_def": (
            np.sum([column > 0 for column in by_word], axis=0) / len(by_word)
            if by_word
            else np.zeros(len(matches.files))
        ).astype(np.float32),
    }


def _asks_one_name(query: Query) -> bool:
    """Return whether the query is one code name, perhaps with words like ``function``."""
    named = [word for word in query.words if word.lower() not in KIND_WORDS]
    return len(named) == 1 and named[0] in query.symbols


def _defined(matches: Matches, names: Iterable[str], *, ignore_case: bool) -> NDArray[np.float32]:
    """Return 1 / sqrt(number of files that define it) for the best of ``names`` a file defines."""
    column = np.zeros(len(matches.files), np.float32)
    for name in names:
        files = matches.index.defining_files(name, ignore_case=ignore_case)
        rows = matches.rows_of(files)
        if len(rows):
            column[rows] = np.maximum(column[rows], np.float32(len(files) ** -0.5))
    return column


def _qualified(matches: Matches, query: Query) -> NDArray[np.float32]:
    """``Cart.total``: a definition of ``total`` whose nearest enclosing name is ``Cart``."""
    column = np.zeros(len(matches.files), np.float32)
    for *outer, name in query.qualified:
        found = matches.index.defining_files(name)
        for row in matches.rows_of(found).tolist():
            file = int(matches.files[row])
            for item in matches.index.definitions_of(file, name):
                inside = item.definition.enclosing[-len(outer) :]
                if [part.lower() for part in inside] == [part.lower() for part in outer]:
                    column[row] = 1.0
    return column


def _at_home(matches: Matches, query: Query) -> NDArray[np.float32]:
    """Return whether the file is called by a name of the query, in any case, and defines it."""
    column = np.zeros(len(matches.files), np.float32)
    names = {name.lower() for name in query.names}
    for row, file in enumerate(matches.files.tolist()):
        telling = path_stem(matches.index.path(file))
        if telling.lower() in names:
            column[row] = bool(matches.index.definitions_of(file, telling, ignore_case=True))
    return column


def _name_likeness(matches: Matches) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the best F1 of a name's words against the query's: of all names, and of types."""
    n = len(matches.files)
    best, best_type = [0.0] * n, [0.0] * n
    idf = matches.of_kind(TermKind.WORD)
    weights = {term.term: float(w) for term, w in zip(matches.terms, idf, strict=True) if w > 0}
    total = sum(weights.values())
    for row, ordinal in _chunks_by_names(matches, idf):
        head = matches.index.chunk_head(ordinal)
        value = _best_f1(_parts_of(head.names), weights, total)
        best[row] = max(best[row], value)
        if head.kind in TYPE_KINDS:
            best_type[row] = max(best_type[row], value)
    return np.array(best, np.float32), np.array(best_type, np.float32)


def _chunks_by_names(matches: Matches, idf: NDArray[np.float32]) -> Iterable[tuple[int, int]]:
    """Return row and chunk of each file's few chunks with most of ``idf`` in their names."""
    in_names = matches.share(matches.counts[NAMES] > 0, idf)
    places = np.flatnonzero(in_names > 0)
    places = places[np.lexsort((-in_names[places], matches.owners[places]))]
    owners = matches.owners[places]
    # The third and later of a run of equal owners are those whose second neighbour before is equal.
    kept = np.ones(len(places), np.bool_)
    kept[CHUNKS_COMPARED:] = owners[CHUNKS_COMPARED:] != owners[:-CHUNKS_COMPARED]
    return zip(owners[kept].tolist(), matches.rows[places[kept]].tolist(), strict=True)


@lru_cache(maxsize=1 << 13)
def _parts_of(names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the words of each name, of the first `MAX_NAMES`."""
    return tuple(plain_terms(name) for name in names[:MAX_NAMES])


def _best_f1(names: Sequence[tuple[str, ...]], weights: Mapping[str, float], total: float) -> float:
    """Return the best F1 of a name's words against the query's, by idf."""
    best = 0.0
    for parts in names:
        if not weights.keys().isdisjoint(parts):
            found = dict.fromkeys(part for part in parts if part in weights)
            recall = sum(weights[part] for part in found) / total
            precision = len(found) / len(parts)
            best = max(best, 2 * precision * recall / (precision + recall))
    return best
