"""One opened repository: the object every tool takes."""

from __future__ import annotations

import math
import os
import time
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.embed.departure import ModelAccess, Notice
from wherein.embed.load import load_embedder, load_reranker
from wherein.errors import CorruptIndexError
from wherein.indexing.coverage import Coverage
from wherein.indexing.live import LiveIndex
from wherein.indexing.look import Watch
from wherein.indexing.progress import ProgressCallback
from wherein.indexing.status import Status, with_index
from wherein.search.arguments import check_limit, check_line, check_text
from wherein.search.checked import Ask, checked_answer
from wherein.search.earlier_commits import Earlier, EarlierCommits
from wherein.search.filters import Filters
from wherein.search.tree_glossary import TreeGlossary
from wherein.search.verified import VerifiedTexts
from wherein.settings import Settings
from wherein.store.layout import Layout
from wherein.store.lock import FileLock
from wherein.store.manifest import Manifest
from wherein.store.tree_index import TreeIndex
from wherein.types import Answer, TreeEntry
from wherein.walk.walker import real_root

if TYPE_CHECKING:
    from wherein.search.own_weights import OwnRanking
    from wherein.search.pipeline import Features
    from wherein.search.reranking import Reranking
    from wherein.search.retrievers import SignalSource

__all__ = ["Workspace"]


def _effective_settings(root: Path) -> Settings:
    from wherein.configuration import configure

    return configure(root, os.environ).settings


class Workspace:
    """A folder whose files can be searched as they are now.

    May be used from several threads. Use as a context, or call `close`.

    Args:
        root: The folder; every spelling of it finds the same index.
        settings: The effective settings; None takes those that count in the folder: the user's
            file, the repository's, the environment.
        is_isolated: True parses nothing in this process: what a server needs, which must outlive
            every file it meets.
        access: Keys for models elsewhere, and whom to tell before text goes there; without it none
            goes.

    Raises:
        PathError: The folder does not exist or may not be read.
        SettingsError: A settings file or variable is not valid, the model or the reranker is
            unknown, or ``WHEREIN_HOME`` is not an absolute path.
        ProviderError: The model or the reranker is not there, or text would leave without notice.
    """

    def __init__(
        self,
        root: str | Path,
        settings: Settings | None = None,
        *,
        is_isolated: bool = False,
        access: ModelAccess | None = None,
    ) -> None:
        self.root = real_root(Path(root))
        self.name = str(root)
        self.settings = settings or _effective_settings(self.root)
        access = self._remembering(access or ModelAccess())
        self._embedder = load_embedder(self.settings, access)
        self._reranker = load_reranker(self.settings, access)
        self._live = LiveIndex(self.root, self.settings, self._embedder, is_isolated=is_isolated)
        self._earlier = EarlierCommits(self.root, self.layout.family)
        self._glossary = TreeGlossary()
        self._ranking: tuple[tuple[int, ...], OwnRanking] | None = None

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index; the workspace can be used again."""
        self._live.close()

    @property
    def layout(self) -> Layout:
        """Where the index lies."""
        return self._live.layout

    @property
    def reranker_name(self) -> str:
        """The reranker in use, ``none`` without one."""
        return self._reranker.name if self._reranker else "none"

    @property
    def model_name(self) -> str:
        """The embedding model in use, ``none`` without one."""
        return self._embedder.name if self._embedder else "none"

    def trust(self, watch: Watch | None) -> None:
        """Skip the look at the disk while ``watch`` is sure that nothing happened; None looks."""
        self._live.freshness.trust(watch)

    def refresh(self, progress: ProgressCallback | None = None) -> Coverage:
        """Bring the index up to date, however long it takes.

        Interrupted or killed, the next call goes on where this one stopped.

        Raises:
            StoreError: The index cannot be written anywhere, or was written by a newer version.
            ProviderError: The model gave no vectors; what it gave before is kept.
        """
        return self._live.refresh(progress)

    def read_history(self, progress: ProgressCallback | None = None) -> None:
        """Read the earlier commits that are new, however long it takes; searches do it as well.

        Interrupted or killed, the next call goes on where this one stopped.

        Args:
            progress: Told how far it is, when there are many.
        """
        manifest = self._live.freshness.stored()
        commit = manifest.head.commit if manifest is not None else None
        if commit is not None and self.settings.use_history:
            self._earlier.read(commit, progress)

    def history_aside(self) -> AbstractContextManager[None]:
        """Return a context in which the caller will read the history.

        Searches from other threads do not wait for many commits meanwhile: they answer without
        them, and say so.
        """
        return self._earlier.read_aside()

    def index(self) -> TreeIndex:
        """Return the index of the files as they are now, however long it takes.

        Raises:
            StoreError: As `refresh` does.
        """
        return self._live.healed(lambda: self._live.opened(self.refresh()))

    def entries(self) -> tuple[TreeEntry, ...]:
        """Return the files of the tree as they are now, with the ids of their contents."""
        return self.refresh().manifest.entries.tree_entries()

    def fresh_manifest(self) -> Manifest | None:
        """Return what the index holds when the files are as it says, None when they are not.

        Nothing is indexed for it: one look at the disk.
        """
        manifest = self._live.freshness.stored()
        if manifest is None or not self._live.freshness.is_current(manifest):
            return None
        return manifest

    def search(
        self,
        query: str,
        limit: int = 10,
        *,
        filters: Filters | None = None,
        with_history: bool = True,
        progress: ProgressCallback | None = None,
    ) -> Answer:
        """Answer a query from the files as they are now.

        Where bringing the index up to date would take longer than ``settings.refresh_seconds``,
        the files it does not cover are scanned for the query's words and named. Where reading
        earlier commits would, the answer is without them and says so; the next one goes on.

        Args:
            query: Words, names, paths, quoted text, a message, in any mixture.
            limit: Hits at most.
            filters: Restrictions.
            with_history: Whether earlier commits take part in the ranking, where the settings let
                them.
            progress: Told how far the index and the reading of earlier commits are, while they
                are waited for; what it raises ends the search.

        Raises:
            QueryError: The query is empty or no text, the limit is not from 1, or a filter names
                something unknown.
            PatternError: A glob does not compile.
            StoreError: The index cannot be used.
        """
        from wherein.search.equipment import Equipment
        from wherein.search.pipeline import search

        deadline = time.monotonic() + self.settings.refresh_seconds
        check_text(query)
        check_limit(limit)

        ranking = self.ranking()
        use_glossary = self.settings.use_glossary

        def ask(index: TreeIndex, manifest: Manifest, texts: VerifiedTexts) -> Answer:
            commit = manifest.head.commit if with_history else None
            earlier = self._earlier_until(commit, deadline, progress)
            equipment = Equipment(
                embedder=self._embedder,
                sources=earlier.sources,
                own_names=self._own_names(),
                read_text=texts,
                weights=ranking.weights,
                glossary=self._glossary.of(manifest, texts) if use_glossary else None,
                reranking=self._reranking(),
                repository=self.name,
                snapshot_id=manifest.head.snapshot_id,
            )
            answer = search(index, query, equipment, limit=limit, filters=filters)
            return replace(answer, notes=(*answer.notes, *earlier.notes))

        answer = self._answer(ask, query, limit, filters or Filters(), progress)
        return replace(answer, ranking=ranking.name)

    def ranking(self) -> OwnRanking:
        """Return the weights that rank the answers here: those that ship, or the repository's own.

        Own ones are fitted by `measure.fit`; a file that cannot be used is named and left aside.
        """
        from wherein.search.own_weights import own_weights_file, read_own_weights, shipped_ranking

        try:
            found = own_weights_file(self.layout.family).stat()
            state = (found.st_mtime_ns, found.st_size, found.st_ino)
        except OSError:
            state = ()
        if not state or not self.settings.use_own_weights:
            return shipped_ranking(is_off=bool(state))
        if self._ranking is None or self._ranking[0] != state:
            self._ranking = (state, read_own_weights(self.layout.family, self.model_name))
        return self._ranking[1]

    def features(self, query: str) -> Features:
        """Return the signals of a query's candidates, as `search` weighs them; for fitting weights.

        Raises:
            QueryError: The query is empty.
            StoreError: The index cannot be used.
        """
        from wherein.search.equipment import Equipment
        from wherein.search.pipeline import explain_features

        def ask() -> Features:
            coverage = self.refresh()
            with closing(VerifiedTexts(self.root, coverage.manifest)) as texts:
                equipment = Equipment(
                    embedder=self._embedder,
                    sources=self._history(coverage.manifest.head.commit),
                    own_names=self._own_names(),
                    read_text=texts,
                )
                return explain_features(self._live.opened(coverage), query, equipment)

        return self._live.healed(ask)

    def similar(
        self,
        path: str,
        line: int,
        limit: int = 10,
        *,
        filters: Filters | None = None,
        progress: ProgressCallback | None = None,
    ) -> Answer:
        """Return places with code like that at ``path:line``.

        Args:
            path: Relative to the root, with ``/``.
            line: 1-based.
            limit: Hits at most.
            filters: Restrictions on the hits.
            progress: Told how far the index is, while it is waited for; what it raises ends the
                search.

        Raises:
            PathError: The index has no such file.
            QueryError: The file has no such line, the limit is not from 1, or a filter names
                something unknown.
            StoreError: The index cannot be used.
        """
        from wherein.search.similar import similar

        check_line(line)
        check_limit(limit)

        def ask(index: TreeIndex, manifest: Manifest, texts: VerifiedTexts) -> Answer:
            return similar(
                index,
                path,
                line,
                limit=limit,
                filters=filters,
                read_text=texts,
                repository=self.name,
                snapshot_id=manifest.head.snapshot_id,
            )

        return self._answer(ask, "", limit, filters or Filters(), progress)

    def status(self) -> Status:
        """Say what the index holds, without changing it.

        Raises:
            NewerIndexError: A newer version wrote it.
        """
        manifest = self._live.freshness.stored()
        status = Status(
            root=self.root,
            model=self.model_name,
            reranker=self.reranker_name,
            is_indexing=FileLock(self.layout.tree_lock).is_taken(),
            n_bytes=self.layout.size(),
        )
        if manifest is None:
            return status
        try:
            index = self._live.opened(Coverage(manifest, (self.layout,)))
            status = with_index(status, manifest, index)
        except CorruptIndexError:
            return status
        return replace(
            status,
            is_fresh=self._live.freshness.is_current(manifest),
            is_outdated=not self._live.freshness.is_made_alike(manifest),
        )

    def clear(self) -> int:
        """Remove the index of this tree, and the family's records when no other tree has one.

        Returns:
            Bytes freed.

        Raises:
            LockedError: Another process is writing it and did not finish in time.
        """
        return self._live.clear()

    def _remembering(self, access: ModelAccess) -> ModelAccess:
        """Return ``access`` with an announcement that remembers what this repository's user knows.

        The place to remember it is the index's, which the model has a say in: it is asked for late.
        """
        if access.announce is None:
            return access
        return replace(access, announce=Notice(access.announce, lambda: self.layout.departures))

    def _reranking(self) -> Reranking | None:
        """Return who reads the first files again, None when nobody does."""
        if self._reranker is None or not self.settings.rerank_files:
            return None
        from wherein.search.reranking import Reranking

        return Reranking(self._reranker, self.settings.rerank_files, self.settings.rerank_weight)

    def _answer(
        self,
        ask: Ask,
        query: str,
        limit: int,
        filters: Filters,
        progress: ProgressCallback | None,
    ) -> Answer:
        """Answer from the index, then add what it does not cover."""
        answer = checked_answer(self._live, ask, progress)
        if not answer.not_covered:
            return answer
        from wherein.search.scan import with_scan

        return with_scan(
            answer,
            query,
            limit,
            filters,
            root=self.root,
            max_file_bytes=self.settings.max_file_bytes,
            repository=self.name,
        )

    def _history(self, commit: str | None) -> tuple[SignalSource, ...]:
        """Return the earlier commits as evidence, however long reading them takes."""
        return self._earlier_until(commit, math.inf).sources

    def _earlier_until(
        self, commit: str | None, deadline: float, progress: ProgressCallback | None = None
    ) -> Earlier:
        if commit is None or not self.settings.use_history:
            return Earlier()
        return self._earlier.until(commit, deadline, progress)

    def _own_names(self) -> tuple[str, ...]:
        """Return what the project is called: its folder, and its repository's."""
        anchor = self._live.freshness.anchor
        names = {self.root.name, anchor.parent.name if anchor.name == ".git" else anchor.name}
        return tuple(sorted(names - {""}))
