"""Keeps the index of one tree as its files are: look, list, plan, build, publish.

A refresh never waits for another process longer than it is given, and never needs to write: where
the home is read-only or the disk is full, what changed is built in a temporary folder.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Generator, Set
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

from wherein.embed.protocol import Embedder, text_embedder
from wherein.errors import CorruptIndexError, PathError, ProviderError, StoreError
from wherein.indexing.anchor import find_anchor
from wherein.indexing.build import Builder, is_sound
from wherein.indexing.digest import recipe
from wherein.indexing.digesters import Digesters, Journal
from wherein.indexing.draft import Draft, TreeName
from wherein.indexing.plan import SEGMENT_BYTES, Content, Plan, choose_merge, settle
from wherein.indexing.progress import Clock
from wherein.indexing.seen import Seen, seen_changes, seen_listing
from wherein.indexing.text_vectors import TextVectors
from wherein.settings import Settings
from wherein.store.cache_table import discard_database
from wherein.store.collect import collect, has_leftovers
from wherein.store.entries import Entries
from wherein.store.layout import Layout
from wherein.store.lock import FileLock
from wherein.store.manifest import Head, Manifest, read_head, read_manifest, write_manifest
from wherein.store.records import RecordStore
from wherein.store.vector_cache import VectorCache
from wherein.walk.blob import blob_id
from wherein.walk.changes import Changes, list_changes
from wherein.walk.collector import paused_collector
from wherein.walk.reading import TreeReader
from wherein.walk.walker import Listing, is_racy, list_files, look_unchanged

__all__ = ["Coverage", "Freshness", "Watch"]

_LARGE_FILES = 500
_LARGE_BYTES = 10_000_000
"""A build from here on holds the family's build lock: a sibling worktree started at the same time
waits and then finds the records."""

_QUICK_MERGE_BYTES = 2_000_000
"""While somebody waits for an answer, larger segments are left for a refresh without a limit."""

_PUBLISH_EVERY_S = 5.0
"""A first build publishes what is covered so far for others to search."""

_COLLECT_EVERY = 16
"""Refreshes that change something between two looks for what nothing uses."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the index covers now.

    ``manifest`` describes only files that are as they were when indexed; the rest is in
    ``not_covered``.
    """

    manifest: Manifest
    layouts: tuple[Layout, ...]
    """Where its segments lie, in the order to look."""
    not_covered: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    files_read: int = 0
    files_indexed: int = 0
    failure: ProviderError | None = None
    """Why the model gave no vectors for what is not covered."""


class Watch(Protocol):
    """Knows whether anything happened to the tree and to what decides its listing."""

    def mark(self) -> int | None:
        """Return a point in time, before which all events are accounted for; None when blind."""
        ...

    def is_quiet(self, mark: int) -> bool:
        """Return True only when nothing happened since ``mark`` and no event can have been lost."""
        ...


class Freshness:
    """The index of one tree.

    Args:
        root: Real path of the tree.
        settings: Where the index lives and what is listed.
        embedder: Makes the vectors, None for none.
        is_isolated: True parses nothing in this process.
    """

    def __init__(
        self,
        root: Path,
        settings: Settings,
        embedder: Embedder | None,
        *,
        is_isolated: bool = False,
    ) -> None:
        self.root = root
        self.settings = settings
        self.anchor = find_anchor(root)
        self.layout = Layout.of(settings.home, root, self.anchor)
        self.recipe = recipe(settings, embedder)
        self._embedder = embedder
        self._is_isolated = is_isolated
        self._listing_key = _listing_key(settings)
        self._loaded: tuple[tuple[int, int, int], Manifest] | None = None
        self._overlay: tempfile.TemporaryDirectory[str] | None = None
        self._overlaid: Manifest | None = None
        self._overlay_reason = ""
        self._is_home_damaged = False
        self.watch: Watch | None = None
        """Lets a look at the tree be skipped while nothing has happened since the last one."""
        self._seen: tuple[Manifest, int] | None = None

    def close(self) -> None:
        """Remove the temporary folder, if there is one."""
        if self._overlay is not None:
            self._overlay.cleanup()
            self._overlay = self._overlaid = None

    def stored(self) -> Manifest | None:
        """Return the manifest on the disk, None when there is none or it is damaged.

        Raises:
            NewerIndexError: A newer version wrote it.
        """
        self.layout.check_version()
        if self._is_home_damaged:
            return None
        try:
            found = self.layout.manifest.stat()
        except OSError:
            self._loaded = None
            return None
        stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
        if self._loaded is not None and self._loaded[0] == stamp:
            return self._loaded[1]
        try:
            manifest = read_manifest(self.layout.manifest)
        except CorruptIndexError:
            return None
        self._loaded = (stamp, manifest) if manifest is not None else None
        return manifest

    def is_current(self, manifest: Manifest) -> bool:
        """Return True when the tree is as ``manifest`` says, by one pass of stats."""
        return self._look_first(manifest)[0]

    def _look_first(self, manifest: Manifest) -> tuple[bool, Changes | None]:
        """Return whether the tree is as ``manifest`` says, and else what changed if that is known.

        Both come from the same pass of stats over the tree.
        """
        if not manifest.head.is_complete or not self._is_ours(manifest):
            return False, None
        watch, seen = self.watch, self._seen
        if (
            watch is not None
            and seen is not None
            and seen[0] is manifest
            and watch.is_quiet(seen[1])
        ):
            return True, None
        mark = watch.mark() if watch is not None else None
        changes: Changes | None = None
        try:
            signature = manifest.signature
            if self.settings.include:  # comparing does not handle it, looking does
                is_same = look_unchanged(self.root, self.settings, signature)
                mark = None
            else:
                changes = list_changes(self.root, self.settings, signature)
                is_same = changes is not None and changes.signature is signature
                if changes is not None and changes.has_other_names:
                    mark = None  # written through a name elsewhere, a file makes no event here
        except CorruptIndexError:
            is_same = False
        self._seen = (manifest, mark) if is_same and mark is not None else None
        return is_same, changes

    def _is_ours(self, manifest: Manifest) -> bool:
        return self.is_made_alike(manifest) and manifest.head.listing_key == self._listing_key

    def is_made_alike(self, manifest: Manifest) -> bool:
        """Return True when the same model and version made what ``manifest`` names."""
        return manifest.head.recipe == self.recipe

    def refresh(self, clock: Clock, doubted: Set[str] = frozenset()) -> Coverage:
        """Bring the index up to date, as far as the clock allows.

        Args:
            clock: Progress and time limit.
            doubted: Paths to read again whatever their stat says.

        Raises:
            NewerIndexError: A newer version wrote the index.
            StoreError: There is no place to write to, not even a temporary one.
        """
        if self._overlaid is not None:
            return self._refresh_overlay(clock, doubted)
        manifest = self.stored()
        changes: Changes | None = None
        if manifest is not None:
            is_same, changes = self._look_first(manifest)
            if is_same and not doubted:
                return _current(manifest, (self.layout,))
        try:
            self.layout.prepare()
            with self._locked(clock) as is_held:
                if is_held:
                    return self._refresh_held(clock, doubted, manifest, changes)
            return self.uncovered()
        except OSError as error:
            self._overlay_reason = error.strerror or str(error)
            return self._refresh_overlay(clock, doubted)

    @contextmanager
    def _locked(self, clock: Clock) -> Generator[bool]:
        """Hold the writer's locks; False when somebody else has them until the time is up."""
        with ExitStack() as held:
            for lock in (
                FileLock(self.layout.use_lock, is_shared=True),
                FileLock(self.layout.tree_lock),
            ):
                if not lock.acquire(clock.seconds_left, clock.wait):
                    yield False
                    return
                held.callback(lock.release)
            yield True
        self._tidy()

    def _tidy(self) -> None:
        """Collect what nothing uses, now and then, and what dead writers left, at once."""
        manifest = self.stored()
        is_due = manifest is not None and manifest.head.generation % _COLLECT_EVERY == 1
        if is_due or has_leftovers(self.layout):
            collect(self.layout, _today())

    def _refresh_held(
        self, clock: Clock, doubted: Set[str], known: Manifest | None, changes: Changes | None
    ) -> Coverage:
        """Refresh while holding the locks.

        Args:
            clock: Progress and time limit.
            doubted: Paths to read again.
            known: The manifest that was looked at before the locks were there.
            changes: What that look found.
        """
        manifest = self.stored()
        if manifest is not None and manifest is not known:  # another process was faster
            is_same, changes = self._look_first(manifest)
            if is_same and not doubted:
                return _current(manifest, (self.layout,))
        try:
            return self._build(self.layout, self._base(manifest), clock, doubted, changes)
        except CorruptIndexError:
            self._discard()
            return self._build(self.layout, None, clock, doubted, None)

    def heal(self) -> None:
        """Make the next refresh build anew from the records: a part of the index is damaged.

        Where the home cannot be written, it is left alone and not looked at any more.
        """
        damaged = self._damaged_segments()
        self._loaded = self._overlaid = None
        try:
            for folder in damaged:
                # Siblings that share it find it missing and do the same.
                shutil.rmtree(folder, ignore_errors=True)
            self.layout.manifest.unlink(missing_ok=True)
        except OSError:
            self._is_home_damaged = True

    def _damaged_segments(self) -> list[Path]:
        manifest = self.stored()
        uses = manifest.head.segments if manifest else ()
        folders = [self.layout.segment(use.segment_id) for use in uses]
        return [folder for folder in folders if not is_sound(folder)]

    def _discard(self) -> None:
        """Forget the manifest and the records: one of them turned out damaged while in use."""
        self.heal()
        with suppress(OSError):
            discard_database(self.layout.records)

    def _base(self, own: Manifest | None) -> Manifest | None:
        """Return the manifest to start from: our own, else the sibling's written last."""
        if own is not None and own.head.recipe == self.recipe:
            return own
        siblings: list[tuple[float, Path]] = []
        for folder in self.layout.tree_folders():
            with suppress(OSError):
                if folder != self.layout.tree:
                    siblings.append(((folder / "manifest").stat().st_mtime, folder / "manifest"))
        for _, path in sorted(siblings, reverse=True):
            with suppress(StoreError):
                head = read_head(path)
                if head is not None and self._can_start_from(head):
                    return read_manifest(path)
        return None

    def _list(self) -> Listing:
        try:
            return list_files(self.root, self.settings)
        except OSError as error:  # of the tree, not of the index: it must not be taken for one
            message = f"{str(self.root)!r} cannot be listed: {error.strerror or error}"
            raise PathError(message, hint="check the folder's permissions") from error

    def _can_start_from(self, head: Head) -> bool:
        """Return True when a sibling's index is whole and made as ours would be."""
        folders = [self.layout.segment(use.segment_id) for use in head.segments]
        is_alike = head.recipe == self.recipe and head.is_complete
        return is_alike and all(folder.is_dir() for folder in folders)

    def _build(
        self,
        layout: Layout,
        base: Manifest | None,
        clock: Clock,
        doubted: Set[str],
        changes: Changes | None,
    ) -> Coverage:
        """Plan, digest and publish, from the changes where they are known, else from a listing."""
        seen = self._look(base, doubted, changes)
        plan, n_read = self._read_unknown(seen.plan, seen.planned, clock)
        draft = Draft(base, plan, seen.planned, seen.rest, seen.looked_ns, seen.skipped)
        name = TreeName(
            root=os.fsencode(self.root),
            anchor=os.fsencode(self.anchor),
            recipe=self.recipe,
            listing_key=self._listing_key,
            day=_today(),
            notes=seen.notes,
        )
        publisher = _Publisher(draft, layout, name, seen)
        n_wanted = len(draft.wanted)
        failure: ProviderError | None = None
        if n_wanted:
            if layout is self.layout:
                self._fold(draft, clock)
            failure = self._fill(draft, layout, publisher, clock)
        manifest = publisher.publish()
        self._remember(layout, manifest)
        n_indexed = max(0, n_wanted - manifest.head.n_pending)
        return Coverage(
            manifest,
            self._layouts(),
            manifest.pending,
            seen.notes,
            n_read + n_indexed,
            n_indexed,
            failure,
        )

    def _look(self, base: Manifest | None, doubted: Set[str], changes: Changes | None) -> Seen:
        is_own = base is not None and base.path.parent.name == self.layout.tree.name
        kinds = frozenset(self.settings.index_kinds)
        if base is not None and is_own and changes is not None:
            return seen_changes(base, changes, kinds, doubted)
        listing = self._list()
        stored = base.entries if base else Entries.empty()
        return seen_listing(listing, stored, kinds, trusts_stat=is_own, doubted=doubted)

    def _read_unknown(self, plan: Plan, stored: Entries, clock: Clock) -> tuple[Plan, int]:
        """Hash the files that nothing vouches for, unless all must be digested anyway."""
        unknown = plan.unknown
        if not unknown or (not len(stored) and not self.layout.records.exists()):
            return plan, 0
        clock.begin("reading", len(unknown), sum(item.file.stat.size for item in unknown))
        contents: dict[str, Content | None] = {}
        with TreeReader(self.root) as reader:
            for item in unknown:
                if clock.is_over:
                    break
                path = item.file.path
                looked_ns = time.time_ns()
                try:
                    read = reader.read(path)
                except PathError:
                    if not os.path.lexists(self.root / path):
                        contents[path] = None
                    continue  # digesting it finds out why
                is_settled = read.is_settled and not is_racy(read.stat, looked_ns)
                contents[path] = Content(blob_id(read.data), read.stat, is_settled)
                clock.advance(1, read.stat.size)
        return settle(plan, stored, contents), len(contents)

    def _fold(self, draft: Draft, clock: Clock) -> None:
        live_bytes, live_files = draft.live_counts()
        new_bytes = sum(item.file.stat.size for item in draft.wanted)
        limit = SEGMENT_BYTES // 2 if clock.deadline is None else _QUICK_MERGE_BYTES
        sizes = [use.n_files for use in draft.uses]
        draft.fold(choose_merge(live_bytes, sizes, live_files, new_bytes, limit))

    def _fill(
        self, draft: Draft, layout: Layout, publisher: _Publisher, clock: Clock
    ) -> ProviderError | None:
        """Digest what is wanted, as far as time and the model allow; return the model's failure."""
        n_bytes = sum(item.file.stat.size for item in draft.wanted)
        is_large = len(draft.wanted) >= _LARGE_FILES or n_bytes >= _LARGE_BYTES
        is_overlay = layout is not self.layout
        # Else a tree so large that listing it takes all the time would never get on.
        clock.allow(self.settings.refresh_seconds / 2)
        build_lock = FileLock(layout.build_lock)
        if is_large and not build_lock.acquire(clock.seconds_left, clock.wait):
            return None
        try:
            # Records are acyclic; looking through thousands of them for cycles costs 5 %.
            with (
                RecordStore.open(layout.records, self.recipe) as records,
                self._text_vectors(layout, clock) as text_vectors,
                paused_collector(),
            ):
                digesters = Digesters(
                    self.root,
                    self.settings,
                    self._embedder,
                    Journal(layout.journal),
                    is_isolated=self._is_isolated or is_overlay,
                    text_vectors=text_vectors,
                )
                Builder(
                    draft, layout, records, digesters, clock, _today(), publisher.on_segment
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
        with VectorCache.open(layout.vectors, model.fingerprint, _today()) as cache:
            yield TextVectors(model, cache, clock)

    def _remember(self, layout: Layout, manifest: Manifest) -> None:
        if layout is not self.layout:
            self._overlaid = manifest
            return
        with suppress(OSError):
            found = self.layout.manifest.stat()
            self._loaded = ((found.st_ino, found.st_mtime_ns, found.st_size), manifest)

    def _layouts(self) -> tuple[Layout, ...]:
        if self._overlay is None:
            return (self.layout,)
        return (self.layout.at(Path(self._overlay.name)), self.layout)

    def _refresh_overlay(self, clock: Clock, doubted: Set[str]) -> Coverage:
        """Build what changed in a temporary folder, on top of what is in the home."""
        if self._overlay is None:
            try:
                self._overlay = tempfile.TemporaryDirectory(prefix="wherein-")
            except OSError as error:
                raise self._nowhere(error) from error
        base = self._overlaid
        note = f"the index in {self.settings.home} cannot be written ({self._overlay_reason})"
        note = f"{note}: changes are kept until this process ends"
        changes: Changes | None = None
        if base is not None:
            is_same, changes = self._look_first(base)
            if is_same and not doubted:
                return _current(base, self._layouts(), note)
        layout = self.layout.at(Path(self._overlay.name))
        try:
            layout.prepare()
            start = base or self._base(self.stored())
            coverage = self._build(layout, start, clock, doubted, changes)
        except OSError as error:
            raise self._nowhere(error) from error
        return replace(coverage, notes=(*coverage.notes, note))

    def _nowhere(self, error: OSError) -> StoreError:
        reason = self._overlay_reason or error.strerror or str(error)
        message = f"the index cannot be written to {str(self.settings.home)!r}: {reason}"
        return StoreError(message, hint="free some space, or set WHEREIN_HOME to another folder")

    def uncovered(self) -> Coverage:
        """Say what the published index covers while another process is writing it."""
        manifest = self.stored()
        listing = self._list()
        base = self._base(manifest)
        stored = base.entries if base else Entries.empty()
        seen = seen_listing(
            listing,
            stored,
            frozenset(self.settings.index_kinds),
            trusts_stat=base is not None and base is manifest,
        )
        draft = Draft(base, seen.plan, stored, None, seen.looked_ns, seen.skipped)
        name = TreeName(b"", b"", self.recipe, self._listing_key, _today())
        built = draft.manifest(self.layout.manifest, name, seen.commit, b"")
        note = "another process is indexing"
        return Coverage(built, (self.layout,), built.pending, (*seen.notes, note))


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


def _current(manifest: Manifest, layouts: tuple[Layout, ...], *notes: str) -> Coverage:
    return Coverage(manifest, layouts, notes=(*manifest.head.notes, *notes))


def _listing_key(settings: Settings) -> str:
    parts = (settings.ignore, settings.deny, settings.include, settings.index_kinds)
    return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


def _today() -> int:
    return int(time.time() // 86_400)
