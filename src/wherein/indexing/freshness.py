"""Keeps the index of one tree as its files are, in the home or, where that cannot be, beside it.

A refresh compares the tree with the manifest (`look`), finds the manifest to start from
(`own_manifest`) and publishes the next one (`update`). It never waits for another process longer
than it is given, and never needs to write: where the home is read-only or the disk is full, what
changed is built in a temporary folder.
"""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Set
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from wherein.embed.protocol import Embedder
from wherein.errors import CorruptIndexError, StoreError
from wherein.indexing.anchor import find_anchor
from wherein.indexing.coverage import Coverage, current
from wherein.indexing.digest import recipe
from wherein.indexing.look import TreeLook, Watch
from wherein.indexing.own_manifest import OwnManifest
from wherein.indexing.progress import Clock
from wherein.indexing.update import Updater, today
from wherein.settings import Settings
from wherein.store.collect import collect, has_leftovers
from wherein.store.layout import Layout
from wherein.store.lock import FileLock
from wherein.store.manifest import Manifest
from wherein.walk.changes import Changes

__all__ = ["Freshness"]

_COLLECT_EVERY = 16
"""Refreshes that change something between two looks for what nothing uses."""


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
        self.anchor = find_anchor(root)
        self.layout = Layout.of(settings.home, root, self.anchor)
        self.recipe = recipe(settings, embedder)
        self._home = settings.home
        self._look = TreeLook(root, settings, self.recipe)
        self._own = OwnManifest(self.layout, self.recipe)
        self._updater = Updater(
            self._look, self.layout, self.anchor, embedder, is_isolated=is_isolated
        )
        self._overlay: tempfile.TemporaryDirectory[str] | None = None
        self._overlaid: Manifest | None = None
        self._overlay_reason = ""

    def close(self) -> None:
        """Remove the temporary folder, if there is one."""
        if self._overlay is not None:
            self._overlay.cleanup()
            self._overlay = self._overlaid = None

    def trust(self, watch: Watch | None) -> None:
        """Let a look at the tree be skipped while nothing has happened since the last one."""
        self._look.watch = watch

    def stored(self) -> Manifest | None:
        """Return the manifest on the disk, None when there is none or it is damaged.

        Raises:
            NewerIndexError: A newer version wrote it.
        """
        return self._own.read()

    def is_current(self, manifest: Manifest) -> bool:
        """Return True when the tree is as ``manifest`` says, by one pass of stats."""
        return self._look.compare(manifest)[0]

    def is_made_alike(self, manifest: Manifest) -> bool:
        """Return True when the same model and version made what ``manifest`` names."""
        return self._look.is_made_alike(manifest)

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
            is_same, changes = self._look.compare(manifest)
            if is_same and not doubted:
                return current(manifest, (self.layout,))
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
            collect(self.layout, today())

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
            is_same, changes = self._look.compare(manifest)
            if is_same and not doubted:
                return current(manifest, (self.layout,))
        try:
            coverage = self._updater.update(self.layout, self._own.base(), clock, doubted, changes)
        except CorruptIndexError:
            self._overlaid = None
            self._own.discard()
            coverage = self._updater.update(self.layout, None, clock, doubted, None)
        self._own.remember(coverage.manifest)
        return coverage

    def heal(self) -> None:
        """Make the next refresh build anew from the records: a part of the index is damaged."""
        self._own.heal()
        self._overlaid = None

    def _refresh_overlay(self, clock: Clock, doubted: Set[str]) -> Coverage:
        """Build what changed in a temporary folder, on top of what is in the home."""
        if self._overlay is None:
            try:
                self._overlay = tempfile.TemporaryDirectory(prefix="wherein-")
            except OSError as error:
                raise self._nowhere(error) from error
        layout = self.layout.at(Path(self._overlay.name))
        base = self._overlaid
        note = f"the index in {self._home} cannot be written ({self._overlay_reason})"
        note = f"{note}: changes are kept until this process ends"
        changes: Changes | None = None
        if base is not None:
            is_same, changes = self._look.compare(base)
            if is_same and not doubted:
                return current(base, (layout, self.layout), note)
        try:
            layout.prepare()
            start = base or self._own.base()
            coverage = self._updater.update(layout, start, clock, doubted, changes)
        except OSError as error:
            raise self._nowhere(error) from error
        self._overlaid = coverage.manifest
        return replace(coverage, notes=(*coverage.notes, note))

    def _nowhere(self, error: OSError) -> StoreError:
        reason = self._overlay_reason or error.strerror or str(error)
        message = f"the index cannot be written to {str(self._home)!r}: {reason}"
        return StoreError(message, hint="free some space, or set WHEREIN_HOME to another folder")

    def uncovered(self) -> Coverage:
        """Say what the published index covers while another process is writing it."""
        coverage = self._updater.covered_by(self._own.base())
        return replace(coverage, notes=(*coverage.notes, "another process is indexing"))
