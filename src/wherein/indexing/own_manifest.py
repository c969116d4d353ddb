"""Keeps the manifest of one tree at hand, and finds the one that a build starts from."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from wherein.errors import CorruptIndexError, StoreError
from wherein.indexing.build import is_sound
from wherein.store.cache_table import discard_database
from wherein.store.layout import Layout
from wherein.store.manifest import Head, Manifest, read_head, read_manifest

__all__ = ["OwnManifest"]


class OwnManifest:
    """The manifest that is published in the home.

    Args:
        layout: Where the tree's index lies.
        recipe: What makes the records: only a manifest made alike can be started from.
    """

    def __init__(self, layout: Layout, recipe: str) -> None:
        self._layout = layout
        self._recipe = recipe
        self._loaded: tuple[tuple[int, int, int], Manifest] | None = None
        self._is_home_damaged = False

    def read(self) -> Manifest | None:
        """Return the manifest on the disk, None when there is none or it is damaged.

        Raises:
            NewerIndexError: A newer version wrote it.
        """
        self._layout.check_version()
        if self._is_home_damaged:
            return None
        stamp = self._stamp()
        if stamp is None:
            self._loaded = None
            return None
        if self._loaded is not None and self._loaded[0] == stamp:
            return self._loaded[1]
        try:
            manifest = read_manifest(self._layout.manifest)
        except CorruptIndexError:
            return None
        self._loaded = (stamp, manifest) if manifest is not None else None
        return manifest

    def remember(self, manifest: Manifest) -> None:
        """Take note of what was just published."""
        stamp = self._stamp()
        if stamp is not None:
            self._loaded = (stamp, manifest)

    def _stamp(self) -> tuple[int, int, int] | None:
        """Return what changes with the file, None where there is none."""
        try:
            found = self._layout.manifest.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def base(self) -> Manifest | None:
        """Return the manifest to start from: our own, else the sibling's written last."""
        own = self.read()
        if own is not None and own.head.recipe == self._recipe:
            return own
        siblings: list[tuple[float, Path]] = []
        for folder in self._layout.tree_folders():
            with suppress(OSError):
                if folder != self._layout.tree:
                    siblings.append(((folder / "manifest").stat().st_mtime, folder / "manifest"))
        for _, path in sorted(siblings, reverse=True):
            with suppress(StoreError):
                head = read_head(path)
                if head is not None and self._can_start_from(head):
                    return read_manifest(path)
        return None

    def _can_start_from(self, head: Head) -> bool:
        """Return True when a sibling's index is whole and made as ours would be."""
        folders = [self._layout.segment(use.segment_id) for use in head.segments]
        is_alike = head.recipe == self._recipe and head.is_complete
        return is_alike and all(folder.is_dir() for folder in folders)

    def heal(self) -> None:
        """Remove the manifest and its damaged segments, so that they are built from the records.

        Where the home cannot be written, it is left alone and not looked at any more.
        """
        damaged = self._damaged_segments()
        self._loaded = None
        try:
            for folder in damaged:
                # Siblings that share it find it missing and do the same.
                shutil.rmtree(folder, ignore_errors=True)
            self._layout.manifest.unlink(missing_ok=True)
        except OSError:
            self._is_home_damaged = True

    def _damaged_segments(self) -> list[Path]:
        manifest = self.read()
        uses = manifest.head.segments if manifest else ()
        folders = [self._layout.segment(use.segment_id) for use in uses]
        return [folder for folder in folders if not is_sound(folder)]

    def discard(self) -> None:
        """Forget the manifest and the records: one of them turned out damaged while in use."""
        self.heal()
        with suppress(OSError):
            discard_database(self._layout.records)
