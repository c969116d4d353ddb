"""Keeps an n-gram index for each large workspace a server has open, and asks it on a grep."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import blake2b
from threading import Lock, Thread
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from wherein.errors import WhereinError
from wherein.external.ripgrep_options import SearchOptions
from wherein.tools.grep_run import Narrow, Narrowed

if TYPE_CHECKING:
    from wherein.store.manifest import Manifest
    from wherein.tools.context import ToolContext
    from wherein.tools.grep_index import GrepIndex
    from wherein.workspace import Workspace

__all__ = ["MIN_TREE_BYTES", "narrow_by_workspace", "tree_files", "update_index"]

MIN_TREE_BYTES = 30_000_000
"""Below, ripgrep reads the whole tree in the time that the look into the index takes."""

MAX_UNCOVERED = 500
"""Files searched each time before they are indexed in the background."""

_NOT_SEARCHED = frozenset(
    {
        "secret-like name",
        "denied",
        "not a regular file",
        "broken link",
        "link leaves the root",
        "link",
        "unreadable",
        "linked worktree",
    }
)
"""Reasons of the walk for which ripgrep does not search a file either."""


class _Kept:
    """The index of one workspace and the thread that builds it."""

    def __init__(self, index: GrepIndex) -> None:
        self.index = index
        self.manifest: Manifest | None = None
        """What the index was last told of; the same one needs no look at its long signature."""
        self.builder: Thread | None = None


_lock = Lock()
_kept: WeakKeyDictionary[Workspace, _Kept] = WeakKeyDictionary()


def narrow_by_workspace(call: ToolContext) -> Narrow | None:
    """Return how a grep may leave out files, None where no server keeps workspaces open."""
    open_workspace = call.open_workspace
    if open_workspace is None:
        return None

    def narrow(options: SearchOptions) -> Narrowed | None:
        from wherein.tools.grep_index import can_narrow

        if not can_narrow(options):
            return None
        workspace = open_workspace(call.root)
        with suppress(WhereinError, OSError):
            index = update_index(workspace)
            return index.narrow(options) if index is not None else None
        return None

    return narrow


def update_index(workspace: Workspace, *, waits: bool = False) -> GrepIndex | None:
    """Return the workspace's n-gram index with the files as they are now.

    None where the tree is too small for it, or has changed since it was indexed. What is not
    covered yet is indexed in the background, unless ``waits`` asks for it now.

    Raises:
        WhereinError: The workspace cannot say what its files are.
        OSError: With ``waits``: the index cannot be written.
    """
    manifest = workspace.fresh_manifest()
    if manifest is None or int(manifest.entries.stats[:, 0].sum()) < MIN_TREE_BYTES:
        return None
    kept = _kept_for(workspace)
    if kept.manifest is not manifest:
        key = blake2b(manifest.signature, digest_size=16).hexdigest() + manifest.head.snapshot_id
        kept.index.take(tree_files(manifest), key)
        kept.manifest = manifest
    if waits:
        kept.index.build()
    elif kept.index.n_uncovered > MAX_UNCOVERED or not kept.index.is_built:
        _build_in_background(kept)
    return kept.index


def tree_files(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield path and blob id (empty when not known) of every file that a grep goes through."""
    entries = manifest.entries
    yield from zip(entries.paths, entries.blob_ids(), strict=True)
    for item in manifest.skipped:
        if item.reason not in _NOT_SEARCHED:
            yield item.path, ""


def _kept_for(workspace: Workspace) -> _Kept:
    from wherein.tools.grep_index import GrepIndex

    with _lock:
        kept = _kept.get(workspace)
        if kept is None:
            folder = workspace.layout.tree / "ngrams"
            kept = _Kept(GrepIndex(workspace.root, folder, folder / "state"))
            _kept[workspace] = kept
        return kept


def _build_in_background(kept: _Kept) -> None:
    with _lock:
        if kept.builder is None or not kept.builder.is_alive():
            kept.builder = Thread(target=_quietly(kept.index.build), daemon=True)
            kept.builder.start()


def _quietly(build: Callable[[], int]) -> Callable[[], None]:
    def run() -> None:
        with suppress(WhereinError, OSError):
            build()

    return run
