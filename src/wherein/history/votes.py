"""Which files earlier commits speak for: named signals of every file for one query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wherein.history.messages import CommitFlag
from wherein.history.view import HistoryView
from wherein.tokens import identifier_terms, scan_words, stem

__all__ = ["SIGNALS", "FileVotes", "Votes", "commit_scores", "query_terms"]

SIGNALS = (
    "h_knn",
    "h_knn_rr",
    "h_doc_rr",
)
"""Each 0 to 1, in the tree's file order.

``h_knn``: votes of the nearest commits, as a share of the most voted file's. ``_rr``: 6 / (5 +
rank), by those votes and by BM25 of all the file's messages as one document. What does not depend
on the query (how often and how lately a file changes) and what goes beyond it (files that change
with the voted ones) made the ranking worse: see ``benchmarks/results/``.
"""

# Chosen on the nine larger public replay repositories, history alone, hit@10 named / plain:
# these values .879 / .826; each neighbour tried lay within .01.
_K1 = 1.5
_COMMIT_B = 0.6
_DOCUMENT_B = 0.2  # 0: .826 / .759, .5: .857 / .768 for the documents alone
_DOCUMENT_K1 = 3.0
_BODY_WEIGHT = 0.4
_NEAREST = 200
_VOTE_POWER = 3.0
"""A vote is the similarity cubed: of 200 commits the few that fit decide. Power 1 loses .03."""
_VOTE_HALF_LIFE = 0.5
"""Votes halve with half of the history's commits; no decay loses .012 at ten and .03 at one."""
_DOCUMENT_HALF_LIFE = 1.0
_CHURN_HALF_LIFE = 0.05
_VOTE_SPREAD = 0.3
_DOCUMENT_SPREAD = 0.5
"""A commit's voice is divided by its number of files to this power."""
_MAX_VOTING_FILES = 60
"""A commit with more files speaks for none of them."""
_RR_K = 5
_CHURN_SHARE = 0.03
_FLAG_WEIGHTS = {
    CommitFlag.TRIVIAL: 0.5,
    CommitFlag.RELEASE: 0.3,
    CommitFlag.BOT: 0.3,
    CommitFlag.REVERT: 0.5,
}

_STOP_WORDS = """
a an and are as at be but by do does for from how i if in into is it its no not of on or should so
that the their then there these this to was we what when where which who why will with you
"""
_STOP_TERMS = frozenset(stem(word) for word in _STOP_WORDS.split())


@dataclass(frozen=True, slots=True)
class Votes:
    """What a view says of every file of its tree for one query."""

    signals: Mapping[str, NDArray[np.float32]]
    """Signal name to ``(n_files,)``."""
    ranking: tuple[int, ...]
    """File ids by the fused votes, best first; files without any vote are left out."""


class FileVotes:
    """Answers queries over one view; what does not depend on the query is computed once.

    Args:
        view: The commits and files.
        eligible: Files that can be answers, ``(n_files,)``; ranks and shares count only these.
            None admits all.
    """

    def __init__(self, view: HistoryView, eligible: NDArray[np.bool_] | None = None) -> None:
        self.view = view
        n_files = len(view.paths)
        self.eligible = np.ones(n_files, dtype=np.bool_) if eligible is None else eligible
        self._spread = _spread(view, _DOCUMENT_SPREAD) * view.decay(_DOCUMENT_HALF_LIFE)
        weighted = (view.lengths[:, 0] + _BODY_WEIGHT * view.lengths[:, 1]) * self._spread
        rows, files = view.changes
        self._lengths = np.bincount(files, weighted[rows], minlength=n_files)
        self._voice = _spread(view, _VOTE_SPREAD) * view.decay(_VOTE_HALF_LIFE) * _by_flag(view)
        self._churn = _churn(view, n_files)

    def votes(self, query: str | Sequence[str]) -> Votes:
        """Return the signals of every file for ``query``: text, or terms already made."""
        terms = query_terms(query) if isinstance(query, str) else list(dict.fromkeys(query))
        scores, _ = commit_scores(self.view, terms)
        rows = np.nonzero(scores)[0]
        rows = rows[np.lexsort((rows, -scores[rows]))][:_NEAREST]
        knn = self._vote(rows, scores[rows])
        document = self._documents(terms)
        knn_rr, document_rr = self._reciprocal(knn), self._reciprocal(document)
        fused = knn_rr + document_rr
        fused = np.where(fused > 0, fused + _CHURN_SHARE * self._churn, 0.0)
        ranking = _ranked(np.where(self.eligible, fused, 0.0))
        signals = {
            "h_knn": _share(knn, self.eligible),
            "h_knn_rr": knn_rr,
            "h_doc_rr": document_rr,
        }
        return Votes(
            signals={name: signals[name].astype(np.float32) for name in SIGNALS},
            ranking=ranking,
        )

    def _vote(self, rows: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the summed votes of the commits ``rows``, best first, for every file."""
        n_files = len(self.view.paths)
        if not len(rows):
            return np.zeros(n_files)
        files, at = self.view.expand(rows)
        votes = (scores / scores[0]) ** _VOTE_POWER * self._voice[rows]
        return np.bincount(files, votes[at], minlength=n_files).astype(np.float64)

    def _documents(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """Return BM25 of every file's messages taken as one document."""
        n_files = len(self.view.paths)
        scores = np.zeros(n_files)
        has_text = self._lengths > 0
        n_documents = int(has_text.sum())
        if not n_documents:
            return scores
        average = float(self._lengths[has_text].mean())
        norm = _DOCUMENT_K1 * (1 - _DOCUMENT_B + _DOCUMENT_B * self._lengths / average)
        for term in terms:
            postings = self.view.postings(term)
            files, at = self.view.expand(postings.commits)
            counts = (postings.in_subject + _BODY_WEIGHT * postings.in_body) * self._spread[
                postings.commits
            ]
            tf = np.bincount(files, counts[at], minlength=n_files)
            scores += _idf(n_documents, int((tf > 0).sum())) * tf * (_DOCUMENT_K1 + 1) / (tf + norm)
        return scores

    def _reciprocal(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return 6 / (5 + rank) among the eligible files that have a score, else 0."""
        found = np.array(_ranked(np.where(self.eligible, scores, 0.0)), dtype=np.int64)
        out = np.zeros(len(scores))
        out[found] = (_RR_K + 1) / (_RR_K + 1 + np.arange(len(found)))
        return out


def query_terms(query: str) -> list[str]:
    """Return the distinct terms of a query without the commonest English words."""
    found = [term for word in scan_words(query) for term in identifier_terms(word)]
    kept = [term for term in found if term not in _STOP_TERMS]
    return list(dict.fromkeys(kept or found))


def commit_scores(view: HistoryView, terms: Sequence[str]) -> tuple[NDArray[np.float64], float]:
    """Return BM25 of every commit's message, and what a message of just the query would get.

    BM25 as in Robertson and Zaragoza 2009, with a subject word counting one and a body word 0.4,
    and the idf of Lucene (never negative).
    """
    scores = np.zeros(view.n_rows)
    if not view.n_commits:
        return scores, 1.0
    lengths = view.lengths[:, 0] + _BODY_WEIGHT * view.lengths[:, 1]
    average = float(lengths[view.reachable].mean()) or 1.0
    norm = _K1 * (1 - _COMMIT_B + _COMMIT_B * lengths / average)
    own_norm = _K1 * (1 - _COMMIT_B + _COMMIT_B * len(terms) / average)
    ceiling = 0.0
    for term in terms:
        postings = view.postings(term)
        idf = _idf(view.n_commits, len(postings.commits))
        ceiling += idf * (_K1 + 1) / (1 + own_norm)
        tf = postings.in_subject + _BODY_WEIGHT * postings.in_body
        scores[postings.commits] += idf * tf * (_K1 + 1) / (tf + norm[postings.commits])
    return scores, ceiling or 1.0


def _idf(n: int, df: int) -> float:
    return float(np.log1p((n - df + 0.5) / (df + 0.5)))


def _spread(view: HistoryView, power: float) -> NDArray[np.float64]:
    """Return each commit's voice for one file: less when it changed many, none when very many."""
    counts = np.maximum(view.n_files, 1).astype(np.float64)
    return np.where(view.n_files > _MAX_VOTING_FILES, 0.0, counts**-power)


def _by_flag(view: HistoryView) -> NDArray[np.float64]:
    weight = np.ones(view.n_rows)
    for flag, factor in _FLAG_WEIGHTS.items():
        weight[(view.flags & int(flag)) > 0] *= factor
    return weight


def _churn(view: HistoryView, n_files: int) -> NDArray[np.float64]:
    """Return how often (log, decayed) every file changed, 0 to 1."""
    rows, files = view.changes
    decay = view.decay(_CHURN_HALF_LIFE)
    often = np.log1p(10 * np.bincount(files, (decay * _spread(view, 0.5))[rows], minlength=n_files))
    top = float(often.max()) if n_files else 0.0
    return often / top if top > 0 else often


def _ranked(scores: NDArray[np.float64]) -> tuple[int, ...]:
    """Return the indices of positive scores, best first, ties by index."""
    found = np.nonzero(scores > 0)[0]
    return tuple(found[np.lexsort((found, -scores[found]))].tolist())


def _share(scores: NDArray[np.float64], eligible: NDArray[np.bool_]) -> NDArray[np.float64]:
    top = float(scores[eligible].max()) if eligible.any() else 0.0
    return np.minimum(scores / top, 1.0) if top > 0 else np.zeros(len(scores))
