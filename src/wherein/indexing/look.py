"""Looks at the files of one tree: are they as a manifest says, and if not, what changed."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence, Set
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

from wherein.errors import CorruptIndexError, PathError
from wherein.indexing.plan import Content, Wanted
from wherein.indexing.progress import Clock
from wherein.indexing.seen import Seen, seen_changes, seen_listing
from wherein.settings import Settings
from wherein.store.entries import Entries
from wherein.store.manifest import Manifest
from wherein.walk.blob import blob_id
from wherein.walk.changes import Changes, list_changes
from wherein.walk.reading import TreeReader
from wherein.walk.walker import Listing, is_racy, list_files, look_unchanged

__all__ = ["TreeLook", "Watch"]


class Watch(Protocol):
    """Knows whether anything happened to the tree and to what decides its listing."""

    def mark(self) -> int | None:
        """Return a point in time, before which all events are accounted for; None when blind."""
        ...

    def is_quiet(self, mark: int) -> bool:
        """Return True only when nothing happened since ``mark`` and no event can have been lost."""
        ...


class TreeLook:
    """Looks at one tree.

    Args:
        root: Real path of the tree.
        settings: What is listed.
        recipe: What makes the records; another one's manifest says nothing.
    """

    def __init__(self, root: Path, settings: Settings, recipe: str) -> None:
        self.root = root
        self.settings = settings
        self.recipe = recipe
        self.listing_key = _listing_key(settings)
        """Of the settings that decide what is listed."""
        self.watch: Watch | None = None
        """Lets a look be skipped while nothing has happened since the last one."""
        self._same: tuple[Manifest, int] | None = None  # what the tree agreed with, and when

    def is_made_alike(self, manifest: Manifest) -> bool:
        """Return True when the same model and version made what ``manifest`` names."""
        return manifest.head.recipe == self.recipe

    def compare(self, manifest: Manifest) -> tuple[bool, Changes | None]:
        """Return whether the tree is as ``manifest`` says, and else what changed if that is known.

        Both come from the same pass of stats over the tree.
        """
        head = manifest.head
        is_ours = self.is_made_alike(manifest) and head.listing_key == self.listing_key
        if not head.is_complete or not is_ours:
            return False, None
        watch, same = self.watch, self._same
        if (
            watch is not None
            and same is not None
            and same[0] is manifest
            and watch.is_quiet(same[1])
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
        self._same = (manifest, mark) if is_same and mark is not None else None
        return is_same, changes

    def see(
        self,
        base: Manifest | None,
        changes: Changes | None = None,
        doubted: Set[str] = frozenset(),
        *,
        is_own: bool,
    ) -> Seen:
        """Return what there is to do: from the changes where they are known, else from a listing.

        Args:
            base: The manifest to start from.
            changes: What `compare` found.
            doubted: Paths to read again whatever their stat says.
            is_own: ``base`` is of this tree, not of a sibling: its stats can be trusted.

        Raises:
            PathError: The tree cannot be listed.
        """
        kinds = frozenset(self.settings.index_kinds)
        if base is not None and is_own and changes is not None:
            return seen_changes(base, changes, kinds, doubted)
        stored = base.entries if base else Entries.empty()
        return seen_listing(self._list(), stored, kinds, trusts_stat=is_own, doubted=doubted)

    def _list(self) -> Listing:
        try:
            return list_files(self.root, self.settings)
        except OSError as error:  # of the tree, not of the index: it must not be taken for one
            message = f"{str(self.root)!r} cannot be listed: {error.strerror or error}"
            raise PathError(message, hint="check the folder's permissions") from error

    def read(self, unknown: Sequence[Wanted], clock: Clock) -> dict[str, Content | None]:
        """Hash files that nothing vouches for, as far as the clock allows.

        Returns:
            Path to content, None for one that is gone; without those that cannot be read.
        """
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
        return contents


def _listing_key(settings: Settings) -> str:
    parts = (settings.ignore, settings.deny, settings.include, settings.index_kinds)
    return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
