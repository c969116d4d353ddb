"""Brings a tree's index from one manifest to the next: plan, fold, digest, publish."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Set
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from wherein.embed.protocol import Embedder, text_embedder
from wherein.errors import ProviderError
from wherein.indexing.build import Builder
from wherein.indexing.coverage import Coverage
from wherein.indexing.digesters import Digesters, Journal
from wherein.indexing.draft import Draft, TreeName
from wherein.indexing.look import TreeLook
from wherein.indexing.plan import SEGMENT_BYTES, choose_merge, settle
from wherein.indexing.progress import Clock
from wherein.indexing.seen import Seen
from wherein.indexing.text_vectors import TextVectors
from wherein.store.layout import Layout
from wherein.store.lock import FileLock
from wherein.store.manifest import Manifest, write_manifest
from wherein.store.records import RecordStore
from wherein.store.vector_cache import VectorCache
from wherein.walk.changes import Changes
from wherein.walk.collector import paused_collector

__all__ = ["Updater", "today"]

_LARGE_FILES = 500
_LARGE_BYTES = 10_000_000
"""A build from here on holds the family's build lock: a sibling worktree started at the same time
waits and then finds the records."""

_QUICK_MERGE_BYTES = 2_000_000
"""While somebody waits for an answer, larger segments are left for a refresh without a limit."""

_PUBLISH_EVERY_S = 5.0
"""A first build publishes what is covered so far for others to search."""


class Updater:
    """Updates the index of one tree.

    Args:
        look: Looks at the tree.
        home: Where the tree's index lies, in the home.
        anchor: The folder that names the tree's family.
        embedder: Makes the vectors, None for none.
        is_isolated: True parses nothing in this process.
    """

    def __init__(
        self,
        look: TreeLook,
        home: Layout,
        anchor: Path,
        embedder: Embedder | None,
        *,
        is_isolated: bool,
    ) -> None:
        self._look = look
        self._home = home
        self._anchor = anchor
        self._embedder = embedder
        self._is_isolated = is_isolated

    def update(
        self,
        layout: Layout,
        base: Manifest | None,
        clock: Clock,
        doubted: Set[str],
        changes: Changes | None,
    ) -> Coverage:
        """Publish in ``layout`` what the tree is now, as far as time and the model allow.

        Args:
            layout: The home, or a folder on top of it.
            base: The manifest to start from.
            clock: Progress and time limit.
            doubted: Paths to read again whatever their stat says.
            changes: What differs from ``base``, where that is known.

        Raises:
            CorruptIndexError: A part of ``base`` or a record is damaged.
            OSError: The layout cannot be written.
        """
        seen = self._look.see(base, changes, doubted, is_own=self._is_own(base))
        n_read = 0
        if seen.plan.unknown and (len(seen.planned) or self._home.records.exists()):
            contents = self._look.read(seen.plan.unknown, clock)
            seen = replace(seen, plan=settle(seen.plan, seen.planned, contents))
            n_read = len(contents)
        draft = Draft(base, seen)
        publisher = _Publisher(draft, layout, self._tree_name(seen), seen)
        n_wanted = len(draft.wanted)
        failure: ProviderError | None = None
        if n_wanted:
            if layout is self._home:
                _fold(draft, clock)
            failure = self._fill(draft, layout, publisher, clock)
        manifest = publisher.publish()
        n_indexed = max(0, n_wanted - manifest.head.n_pending)
        return Coverage(
            manifest,
            (layout,) if layout is self._home else (layout, self._home),
            manifest.pending,
            seen.notes,
            n_read + n_indexed,
            n_indexed,
            failure,
        )

    def covered_by(self, base: Manifest | None) -> Coverage:
        """Return what ``base`` covers of the tree as it is now; nothing is written."""
        seen = self._look.see(base, is_own=self._is_own(base))
        draft = Draft(base, seen)
        name = TreeName(b"", b"", self._look.recipe, self._look.listing_key, today())
        manifest = draft.manifest(self._home.manifest, name, seen.commit, b"")
        return Coverage(manifest, (self._home,), manifest.pending, seen.notes)

    def _is_own(self, base: Manifest | None) -> bool:
        return base is not None and base.path.parent.name == self._home.tree.name

    def _tree_name(self, seen: Seen) -> TreeName:
        return TreeName(
            root=os.fsencode(self._look.root),
            anchor=os.fsencode(self._anchor),
            recipe=self._look.recipe,
            listing_key=self._look.listing_key,
            day=today(),
            notes=seen.notes,
        )

    def _fill(
        self, draft: Draft, layout: Layout, publisher: _Publisher, clock: Clock
    ) -> ProviderError | None:
        """Digest what is wanted, as far as time and the model allow; return the model's failure."""
        settings = self._look.settings
        n_bytes = sum(item.file.stat.size for item in draft.wanted)
        is_large = len(draft.wanted) >= _LARGE_FILES or n_bytes >= _LARGE_BYTES
        is_overlay = layout is not self._home
        # Else a tree so large that listing it takes all the time would never get on.
        clock.allow(settings.refresh_seconds / 2)
        build_lock = FileLock(layout.build_lock)
        if is_large and not build_lock.acquire(clock.seconds_left, clock.wait):
            return None
        try:
            # Records are acyclic; looking through thousands of them for cycles costs 5 %.
            with (
                RecordStore.open(layout.records, self._look.recipe) as records,
                self._text_vectors(layout, clock) as text_vectors,
                paused_collector(),
            ):
                digesters = Digesters(
                    self._look.root,
                    settings,
                    self._embedder,
                    Journal(layout.journal),
                    is_isolated=self._is_isolated or is_overlay,
                    text_vectors=text_vectors,
                )
                Builder(
                    draft, layout, records, digesters, clock, today(), publisher.on_segment
                ).run()
        except ProviderError as error:
            return error  # what was embedded before is kept, and published like the rest
        finally:
            build_lock.release()
        return None

    @contextmanager
    def _text_vectors(self, layout: Layout, clock: Clock) -> Generator[TextVectors | None]:
        """Give what embeds texts, None when the model is one that reads terms."""
        model = text_embedder(self._embedder)
        if model is None:
            yield None
            return
        with VectorCache.open(layout.vectors, model.fingerprint, today()) as cache:
            yield TextVectors(model, cache, clock)


def _fold(draft: Draft, clock: Clock) -> None:
    live_bytes, live_files = draft.live_counts()
    new_bytes = sum(item.file.stat.size for item in draft.wanted)
    limit = SEGMENT_BYTES // 2 if clock.deadline is None else _QUICK_MERGE_BYTES
    sizes = [use.n_files for use in draft.uses]
    draft.fold(choose_merge(live_bytes, sizes, live_files, new_bytes, limit))


class _Publisher:
    """Writes the manifest of a draft: now and then while it grows, and when it is done."""

    def __init__(self, draft: Draft, layout: Layout, name: TreeName, seen: Seen) -> None:
        self._draft = draft
        self._layout = layout
        self._name = name
        self._seen = seen
        self._published = time.monotonic()

    def on_segment(self) -> None:
        """Publish if the last time was long ago."""
        if time.monotonic() - self._published >= _PUBLISH_EVERY_S:
            self.publish()

    def publish(self) -> Manifest:
        """Publish what is covered now."""
        manifest = self._draft.manifest(
            self._layout.manifest, self._name, self._seen.commit, self._seen.signature
        )
        write_manifest(manifest)
        self._published = time.monotonic()
        return manifest


def today() -> int:
    """Return the day, in days since 1970."""
    return int(time.time() // 86_400)
