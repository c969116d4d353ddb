"""One opened repository: the object every tool takes."""

from __future__ import annotations

import math
import os
import shutil
import threading
import time
from collections.abc import Callable, Generator, Set
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from wherein.embed.departure import ModelAccess, Notice
from wherein.embed.load import load_embedder, load_reranker
from wherein.errors import CorruptIndexError, LockedError, StoreError
from wherein.indexing.freshness import Coverage, Freshness, Watch
from wherein.indexing.opened import OpenedIndex
from wherein.indexing.progress import Clock, Progress, ProgressCallback
from wherein.indexing.status import Status, with_index
from wherein.search.arguments import check_limit, check_line, check_text
from wherein.search.earlier_commits import Earlier, EarlierCommits
from wherein.search.filters import Filters
from wherein.search.tree_glossary import TreeGlossary
from wherein.search.verified import VerifiedTexts
from wherein.settings import Settings, default_home
from wherein.store.layout import Layout
from wherein.store.lock import FileLock
from wherein.store.manifest import Manifest
from wherein.store.tree_index import TreeIndex
from wherein.types import Answer, TreeEntry
from wherein.walk.walker import real_root, with_links_now

if TYPE_CHECKING:
    from wherein.search.own_weights import OwnRanking
    from wherein.search.pipeline import Features
    from wherein.search.reranking import Reranking
    from wherein.search.retrievers import SignalSource

__all__ = ["Progress", "Workspace"]

_T = TypeVar("_T")

_TRIES = 3
"""A file that changes between three answers and their verification is named as not covered."""

_CLEAR_SECONDS = 10.0


class Workspace:
    """A folder whose files can be searched as they are now.

    May be used from several threads. Use as a context, or call `close`.

    Args:
        root: The folder; every spelling of it finds the same index.
        settings: The effective settings; None takes the defaults and ``WHEREIN_HOME``.
        is_isolated: True parses nothing in this process: what a server needs, which must outlive
            every file it meets.
        access: Keys for models elsewhere, and whom to tell before text goes there; without it none
            goes.

    Raises:
        PathError: The folder does not exist or may not be read.
        SettingsError: The model or the reranker is unknown, or ``WHEREIN_HOME`` is not
            an absolute path.
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
        self.settings = settings or Settings(home=default_home(os.environ))
        access = self._remembering(access or ModelAccess())
        self._embedder = load_embedder(self.settings, access)
        self._reranker = load_reranker(self.settings, access)
        self._freshness = Freshness(
            self.root, self.settings, self._embedder, is_isolated=is_isolated
        )
        self._lock = threading.Lock()
        self._progress: Progress | None = None
        self._opened = OpenedIndex()
        self._earlier = EarlierCommits(self.root, self.layout.family)
        self._glossary = TreeGlossary()
        self._ranking: tuple[tuple[int, ...], OwnRanking] | None = None

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index; the workspace can be used again."""
        self._opened.close()
        self._freshness.close()

    @property
    def layout(self) -> Layout:
        """Where the index lies."""
        return self._freshness.layout

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
        self._freshness.watch = watch

    def refresh(self, progress: ProgressCallback | None = None) -> Coverage:
        """Bring the index up to date, however long it takes.

        Interrupted or killed, the next call goes on where this one stopped.

        Raises:
            StoreError: The index cannot be written anywhere, or was written by a newer version.
            ProviderError: The model gave no vectors; what it gave before is kept.
        """
        with self._lock:

            def note(step: Progress) -> None:
                self._progress = step
                if progress is not None:
                    progress(step)

            try:
                coverage = self._healed(lambda: self._freshness.refresh(Clock(note)))
            finally:
                self._progress = None
        if coverage.failure is not None:
            raise coverage.failure
        return coverage

    def read_history(self, progress: ProgressCallback | None = None) -> None:
        """Read the earlier commits that are new, however long it takes; searches do it as well.

        Interrupted or killed, the next call goes on where this one stopped.

        Args:
            progress: Told how far it is, when there are many.
        """
        manifest = self._freshness.stored()
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
        return self._healed(lambda: self._opened.of(self.refresh()))

    def entries(self) -> tuple[TreeEntry, ...]:
        """Return the files of the tree as they are now, with the ids of their contents."""
        return self.refresh().manifest.entries.tree_entries()

    def fresh_manifest(self) -> Manifest | None:
        """Return what the index holds when the files are as it says, None when they are not.

        Nothing is indexed for it: one look at the disk.
        """
        manifest = self._freshness.stored()
        if manifest is None or not self._freshness.is_current(manifest):
            return None
        return manifest

    def search(
        self,
        query: str,
        limit: int = 10,
        *,
        filters: Filters | None = None,
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
            progress: Told how far the index and the reading of earlier commits are, while they
                are waited for; what it raises ends the search.

        Raises:
            QueryError: The query is empty or no text, the limit is not from 1, or a filter names
                something unknown.
            PatternError: A glob does not compile.
            StoreError: The index cannot be used.
        """
        from wherein.search.pipeline import search

        deadline = time.monotonic() + self.settings.refresh_seconds
        check_text(query)
        check_limit(limit)

        ranking = self.ranking()
        use_glossary = self.settings.use_glossary

        def ask(index: TreeIndex, manifest: Manifest, texts: VerifiedTexts) -> Answer:
            earlier = self._earlier_until(manifest.head.commit, deadline, progress)
            answer = search(
                index,
                query,
                limit=limit,
                filters=filters,
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
        from wherein.search.pipeline import explain_features

        def ask() -> Features:
            coverage = self.refresh()
            with closing(VerifiedTexts(self.root, coverage.manifest)) as texts:
                return explain_features(
                    self._opened.of(coverage),
                    query,
                    embedder=self._embedder,
                    sources=self._history(coverage.manifest.head.commit),
                    own_names=self._own_names(),
                    read_text=texts,
                )

        return self._healed(ask)

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
        manifest = self._freshness.stored()
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
            index = self._opened.of(Coverage(manifest, (self.layout,)))
            status = with_index(status, manifest, index)
        except CorruptIndexError:
            return status
        return replace(
            status,
            is_fresh=self._freshness.is_current(manifest),
            is_outdated=not self._freshness.is_made_alike(manifest),
        )

    def clear(self) -> int:
        """Remove the index of this tree, and the family's records when no other tree has one.

        Returns:
            Bytes freed.

        Raises:
            LockedError: Another process is writing it and did not finish in time.
        """
        self.close()
        layout = self.layout
        if not layout.family.is_dir():
            return 0
        before = layout.size()
        lock = FileLock(layout.use_lock)
        try:
            if not lock.acquire(_CLEAR_SECONDS):
                message = f"another process is indexing {str(self.root)!r}"
                raise LockedError(message, hint="wait until it is done, or end it")
            shutil.rmtree(layout.tree, ignore_errors=True)
            if not any((tree / "manifest").exists() for tree in layout.tree_folders()):
                layout.wipe()
            return before - layout.size()
        except OSError as error:
            message = f"the index in {str(layout.family)!r} cannot be removed: {error.strerror}"
            raise StoreError(message, hint="check the folder's permissions") from error
        finally:
            lock.release()

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
        ask: Callable[[TreeIndex, Manifest, VerifiedTexts], Answer],
        query: str,
        limit: int,
        filters: Filters,
        progress: ProgressCallback | None,
    ) -> Answer:
        """Ask until every hit's file is as it was indexed, then add what is not covered."""
        answer, coverage, texts = self._asked(ask, frozenset(), progress)
        read, indexed = coverage.files_read + texts.n_files, coverage.files_indexed
        for _ in range(_TRIES):
            doubted = texts.doubted(hit.path for hit in answer.hits)
            if not doubted:
                break
            answer, coverage, texts = self._asked(ask, doubted, progress)
            read += coverage.files_read + texts.n_files
            indexed += coverage.files_indexed
        else:
            doubted = texts.doubted(hit.path for hit in answer.hits)
            not_covered = tuple(sorted({*coverage.not_covered, *doubted}))
            coverage = replace(coverage, not_covered=not_covered)
            hits = tuple(hit for hit in answer.hits if hit.path not in doubted)
            answer = replace(answer, hits=hits)
        counters = replace(
            answer.counters,
            files_read=read,
            files_indexed=indexed,
            bytes_read=answer.counters.bytes_read + texts.n_bytes,
        )
        answer = replace(
            answer,
            notes=_notes(answer, coverage),
            skipped=with_links_now(self.root, coverage.manifest.skipped),
            not_covered=coverage.not_covered,
            counters=counters,
        )
        if not coverage.not_covered:
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

    def _asked(
        self,
        ask: Callable[[TreeIndex, Manifest, VerifiedTexts], Answer],
        doubted: Set[str],
        progress: ProgressCallback | None,
    ) -> tuple[Answer, Coverage, VerifiedTexts]:
        def work() -> tuple[Answer, Coverage, VerifiedTexts]:
            coverage = self._covered(doubted, progress)
            texts = VerifiedTexts(self.root, coverage.manifest)
            index = self._opened.of(coverage)
            try:
                return ask(index, coverage.manifest, texts), coverage, texts
            finally:
                texts.close()

        return self._healed(work)

    def _covered(self, doubted: Set[str], progress: ProgressCallback | None) -> Coverage:
        """Refresh within the time there is; where another thread refreshes, wait as long for it."""
        deadline = time.monotonic() + self.settings.refresh_seconds
        with self._held(deadline, progress) as is_held:
            if not is_held:
                return self._freshness.uncovered()
            return self._freshness.refresh(Clock(progress, deadline), doubted)

    @contextmanager
    def _held(self, deadline: float, progress: ProgressCallback | None) -> Generator[bool]:
        """Hold the lock; False as soon as it is clear that it will not be free in time.

        While another thread has it, ``progress`` is told how far that one is.
        """
        is_held = self._lock.acquire(blocking=False)
        while not is_held:
            now = time.monotonic()
            step = self._progress
            if progress is not None:
                progress(step or Progress("waiting", 0, 0, 0, None))
            left = step.seconds_left if step is not None else None
            if now >= deadline or (left is not None and now + left > deadline):
                break
            is_held = self._lock.acquire(timeout=min(0.05, deadline - now))
        is_held = is_held or self._lock.acquire(blocking=False)
        try:
            yield is_held
        finally:
            if is_held:
                self._lock.release()

    def _healed(self, work: Callable[[], _T]) -> _T:
        """Do ``work``; where a part of the index is damaged, build it again and do it once more.

        The first time, what is missing may only have been replaced by another process meanwhile.
        """
        for repair in (self._opened.close, self._freshness.heal):
            try:
                return work()
            except CorruptIndexError:
                self._opened.close()
                repair()
        return work()

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
        anchor = self._freshness.anchor
        names = {self.root.name, anchor.parent.name if anchor.name == ".git" else anchor.name}
        return tuple(sorted(names - {""}))


def _notes(answer: Answer, coverage: Coverage) -> tuple[str, ...]:
    from wherein.search.pipeline import NOTHING_INDEXED

    notes = [*answer.notes, *coverage.notes]
    if coverage.not_covered:
        notes = [note for note in notes if note != NOTHING_INDEXED]
    if coverage.failure is not None:
        notes.append(f"the model gave no vectors for what is new: {coverage.failure.message}")
    return tuple(notes)
