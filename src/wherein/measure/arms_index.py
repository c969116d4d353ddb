"""Wherein's own searchers as arms of a replay, each with less or more of the evidence."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from wherein.budget import count_tokens
from wherein.embed.protocol import Embedder
from wherein.errors import QueryError
from wherein.history.open import History
from wherein.measure.arms import Found, Opened
from wherein.measure.replay_index import ReplayIndexer
from wherein.measure.replay_trees import TextTree
from wherein.measure.requests import Request
from wherein.search.equipment import Equipment
from wherein.search.history_source import HistorySource
from wherein.search.pipeline import search
from wherein.search.query import understand
from wherein.search.retrievers import SignalSource, best_files
from wherein.store.tree_index import TreeIndex

__all__ = ["INDEX_ARMS", "IndexArm", "Shared"]

INDEX_ARMS = ("lexical", "semantic", "history", "hybrid")

_WITH_HISTORY = frozenset({"history", "hybrid"})
_LIMIT = 20
_PAGE = 10
_SHOWN_LINES = 3
"""Lines of a hit that an answer shows by default, besides its heading."""


class Shared:
    """What all arms of one replay use together."""

    def __init__(
        self,
        indexer: ReplayIndexer,
        embedder: Embedder | None,
        history: History,
        own_names: Sequence[str] = (),
    ) -> None:
        self.indexer = indexer
        self.embedder = embedder
        self.history = history
        self.own_names = tuple(own_names)
        self._source: tuple[TreeIndex, str, HistorySource | None] | None = None

    def source_of(self, index: TreeIndex, commit: str) -> HistorySource | None:
        """Return the history of ``index``'s files up to ``commit``, None when it is unknown."""
        last = self._source
        if last is None or last[0] is not index or last[1] != commit:
            source = HistorySource(self.history, commit)
            last = (index, commit, source if source.is_known(index) else None)
            self._source = last
        return last[2]


class IndexArm:
    """One of `INDEX_ARMS`, over the index of the tree prepared last.

    Args:
        name: Which one.
        shared: Index, embedder and history.
    """

    def __init__(self, name: str, shared: Shared) -> None:
        self._name = name
        self._shared = shared
        self._tree: TextTree | None = None
        self._index: TreeIndex | None = None
        self._source: HistorySource | None = None

    @property
    def name(self) -> str:
        """What the report calls it."""
        return self._name

    def prepare(self, tree: TextTree) -> None:
        """Index ``tree``; its history ends at its own commit."""
        self.use(tree, self._shared.indexer.index_of(tree))

    def use(self, tree: TextTree, index: TreeIndex) -> None:
        """Search ``index``, which is of ``tree`` or of a part of it."""
        self._tree, self._index = tree, index
        if self._name in _WITH_HISTORY:
            self._source = self._shared.source_of(index, tree.commit)

    def close(self) -> None:
        """Let the index go."""
        self._index = self._source = self._tree = None

    def search(self, request: Request) -> Found:
        """Answer one request."""
        started = time.process_time()
        index, tree = self._index, self._tree
        assert index is not None  # noqa: S101 - prepare comes first
        assert tree is not None  # noqa: S101 - prepare comes first
        try:
            opened = self._answer(index, tree, request.text)
        except QueryError as error:
            return Found((), note=error.message)
        rounds = max((item.round for item in opened), default=1)
        return Found(opened, n_rounds=rounds, seconds=time.process_time() - started)

    def _answer(self, index: TreeIndex, tree: TextTree, text: str) -> tuple[Opened, ...]:
        if self._name == "history":
            return self._by_history(index, text)
        if self._name == "semantic":
            return self._by_meaning(index, tree, text)
        is_hybrid = self._name == "hybrid"
        sources: tuple[SignalSource, ...] = ()
        if is_hybrid and self._source is not None:
            sources = (self._source,)
        answer = search(
            index,
            text,
            Equipment(
                embedder=self._shared.embedder if is_hybrid else None,
                sources=sources,
                own_names=self._shared.own_names,
                read_text=tree.text,
            ),
            limit=_LIMIT,
        )
        return tuple(
            Opened(
                hit.path,
                _shown_tokens(tree, hit.path, hit.start_line, hit.end_line, hit.matched_lines),
                _page_of(hit.rank),
            )
            for hit in answer.hits
        )

    def _by_history(self, index: TreeIndex, text: str) -> tuple[Opened, ...]:
        if self._source is None:
            return ()
        files = self._source.retrieve(index, understand(text)).files.tolist()[:_LIMIT]
        paths = [index.path(file) for file in files]
        return tuple(
            Opened(path, count_tokens(path) + 1, _page_of(rank))
            for rank, path in enumerate(paths, start=1)
        )

    def _by_meaning(self, index: TreeIndex, tree: TextTree, text: str) -> tuple[Opened, ...]:
        embedder = self._shared.embedder
        if embedder is None or not index.n_chunks:
            return ()
        similarities = index.similarity(embedder.embed_query(text))
        scores = np.full(index.n_files, -1.0, np.float32)
        np.maximum.at(scores, index.file_of_chunk, similarities)
        opened: list[Opened] = []
        for file in best_files(index, scores, _LIMIT).files.tolist():
            first, end = index.chunk_offsets[file : file + 2].tolist()
            chunk = index.chunk(first + int(np.argmax(similarities[first:end])))
            path = index.path(file)
            tokens = _shown_tokens(tree, path, chunk.start_line, chunk.end_line, ())
            opened.append(Opened(path, tokens, _page_of(len(opened) + 1)))
        return tuple(opened)


def _page_of(rank: int) -> int:
    """Return the round that shows a hit: to see more than ten, the asker asks again."""
    return 1 + (rank - 1) // _PAGE


def _shown_tokens(tree: TextTree, path: str, start: int, end: int, matched: Sequence[int]) -> int:
    """Return the tokens of a hit's heading and of the lines it shows."""
    numbers = sorted(matched[:_SHOWN_LINES]) or list(range(start, min(end, start + 2) + 1))
    lines = tree.text(path).split("\n")
    shown = [lines[n - 1][:300] for n in numbers if 0 < n <= len(lines)]
    return count_tokens("\n".join((f"{path}:{start}-{end}", *shown)))
