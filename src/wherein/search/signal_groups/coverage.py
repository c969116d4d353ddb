"""Signals of coverage: how much of the query, by rarity, stands together in one place."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from wherein.search.matches import ENCLOSING, NAMES, SIGNATURE, Matches
from wherein.search.query import TermKind

__all__ = ["SIGNALS", "columns", "files_with_words_together"]

SIGNALS: Mapping[str, str] = {
    "cov_chunk": "0..1: largest share of the query's idf in one chunk: the words stand together",
    "cov_place": "0..1: the same, the path's words counted in: the place answers",
    "cov_file": "0..1: share of the query's idf anywhere in the file",
    "cov_rare2_head": "0..1: the two rarest terms' share in signature, names and enclosing names",
    "cov_rarest": "0 or 1: the rarest term that exists at all stands in the file",
    "cov_all": "0 or 1: one chunk with its path has every term that exists at all",
}

_ALL = np.float32(0.9999)


def columns(matches: Matches) -> dict[str, NDArray[np.float32]]:
    """Return the group's columns, each of shape ``(F,)``."""
    idf = matches.of_kind(TermKind.WORD)
    present = matches.present & matches.allowed
    in_path = np.repeat(matches.path_counts > 0, matches.sizes, axis=1)
    in_file = (matches.total(present.astype(np.float32)) > 0) | (matches.path_counts > 0)
    place = matches.best(matches.share(present | (in_path & matches.allowed), idf))
    return {
        "cov_chunk": matches.best(matches.share(present, idf)),
        "cov_place": place,
        "cov_file": matches.share(in_file, idf),
        "cov_rare2_head": matches.best(matches.share(_in_head(matches), _rarest(idf, 2))),
        "cov_rarest": matches.share(in_file, _rarest(idf, 1)),
        "cov_all": (place >= _ALL).astype(np.float32),
    }


def files_with_words_together(matches: Matches) -> NDArray[np.int64]:
    """Return the candidates that have all words of the query in one chunk, best first."""
    present = matches.present & matches.allowed
    share = matches.best(matches.share(present, matches.of_kind(TermKind.WORD)))
    return matches.files[share >= _ALL]


def _in_head(matches: Matches) -> NDArray[np.bool_]:
    counts = matches.counts
    return (counts[SIGNATURE] > 0) | (counts[NAMES] > 0) | (counts[ENCLOSING] > 0)


def _rarest(idf: NDArray[np.float32], n: int) -> NDArray[np.float32]:
    """Return ``idf`` with all but the ``n`` highest values set to 0; equal ones by place."""
    kept = np.zeros_like(idf)
    places = np.argsort(-idf, kind="stable")[:n]
    kept[places] = idf[places]
    return kept
