"""Lets earlier commits take part in a search: a retriever and signals for the ranker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wherein.history.open import History
from wherein.history.view import HistoryView
from wherein.history.votes import SIGNALS, FileVotes, Votes
from wherein.search.query import Query, TermKind
from wherein.search.retrievers import Retrieved
from wherein.store.tree_index import TreeIndex
from wherein.types import FileFlag, FileKind

__all__ = ["HistorySource"]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What depends on the index and the commit, not on the query."""

    index: TreeIndex
    until: str
    ordinals: NDArray[np.int64]
    """View's file id to the index's ordinal."""
    file_ids: NDArray[np.int64]
    """Index's ordinal to the view's file id, -1 for dead files."""
    eligible: dict[bool, NDArray[np.bool_]]
    """By whether tests may be answers: the view's files that ranks and shares count."""
    voters: dict[bool, FileVotes]
    """Made when first asked for."""
    view: HistoryView


class HistorySource:
    """Earlier commits as evidence on files; a `retrievers.SignalSource`.

    Args:
        history: The repository's commits.
        until: The last commit that counts. Set it anew when HEAD moves; what is computed from it
            is kept until then.
    """

    name = "history"
    signal_names = SIGNALS

    def __init__(self, history: History, until: str) -> None:
        self.history = history
        self.until = until
        self._prepared: _Prepared | None = None
        self._last: tuple[TreeIndex, str, Query, Votes | None] | None = None

    def is_known(self, index: TreeIndex) -> bool:
        """Return whether the history says anything; a shallow clone's boundary alone does not."""
        return self._prepare(index) is not None

    def retrieve(self, index: TreeIndex, query: Query) -> Retrieved:
        """Return the files that commits with messages like the query changed."""
        votes = self._votes(index, query)
        prepared = self._prepare(index)
        if votes is None or prepared is None or not votes.ranking:
            return Retrieved(np.zeros(0, np.int64), np.zeros(0, np.float32))
        files = prepared.ordinals[np.array(votes.ranking, dtype=np.int64)]
        # Only ranks count from here on, so the scores just have to fall.
        scores = (1.0 / np.arange(1, len(files) + 1)).astype(np.float32)
        return Retrieved(files, scores)

    def signals(
        self, index: TreeIndex, query: Query, files: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the signals of `history.votes.SIGNALS` for ``files``."""
        votes = self._votes(index, query)
        prepared = self._prepare(index)
        out = np.zeros((len(files), len(SIGNALS)), np.float32)
        if votes is None or prepared is None:
            return out
        ids = prepared.file_ids[files]
        is_live = ids >= 0
        for column, name in enumerate(SIGNALS):
            out[is_live, column] = votes.signals[name][ids[is_live]]
        return out

    def _votes(self, index: TreeIndex, query: Query) -> Votes | None:
        last = self._last
        if last is not None and last[0] is index and last[1] == self.until and last[2] is query:
            return last[3]
        prepared = self._prepare(index)
        votes = None
        if prepared is not None:
            own = (TermKind.WORD, TermKind.WHOLE)  # messages are in the words of those who ask
            terms = [term.term for term in query.terms if term.kind in own]
            votes = _voters(prepared, with_tests=query.wants_tests).votes(terms)
        self._last = (index, self.until, query, votes)
        return votes

    def _prepare(self, index: TreeIndex) -> _Prepared | None:
        prepared = self._prepared
        if prepared is not None and prepared.index is index and prepared.until == self.until:
            return prepared
        live = np.flatnonzero(index.live_files)
        # In the order of paths, so that equal votes do not depend on how the index grew.
        paths = index.paths
        files: list[int] = sorted(live.tolist(), key=paths.__getitem__)
        ordinals = np.array(files, dtype=np.int64)
        view = self.history.view([paths[file] for file in files], self.until)
        if view is None:
            return None
        file_ids = np.full(index.n_files, -1, np.int64)
        file_ids[ordinals] = np.arange(len(ordinals))
        is_code = index.files_of_kinds(frozenset({FileKind.CODE}))[ordinals]
        left_out = int(FileFlag.TEST | FileFlag.GENERATED | FileFlag.VENDORED | FileFlag.EXAMPLE)
        is_own = (index.file_flags[ordinals] & left_out) == 0
        eligible = {False: is_code & is_own, True: is_code}
        self._prepared = _Prepared(index, self.until, ordinals, file_ids, eligible, {}, view)
        return self._prepared


def _voters(prepared: _Prepared, *, with_tests: bool) -> FileVotes:
    if with_tests not in prepared.voters:
        prepared.voters[with_tests] = FileVotes(prepared.view, prepared.eligible[with_tests])
    return prepared.voters[with_tests]
