"""Says what is indexed, brings it up to date, or removes it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.errors import UsageError
from wherein.tools.context import ToolContext
from wherein.tools.repositories import find_repositories, is_git_url
from wherein.types import Skipped

if TYPE_CHECKING:
    from wherein.indexing.status import Status
    from wherein.workspace import Workspace

__all__ = ["ClearResult", "StatusResult", "WorkspaceStatus", "clear", "index", "status"]


@dataclass(frozen=True, slots=True)
class WorkspaceStatus:
    """What the index of one workspace holds."""

    root: str
    is_indexed: bool
    is_fresh: bool
    """True when the files are as they were when they were indexed."""
    is_indexing: bool
    """True while another process writes this index."""
    n_files: int
    n_chunks: int
    n_bytes_on_disk: int
    languages: Mapping[str, int]
    """Language to its number of files."""
    model: str
    ranking: str
    """Which weights rank the answers: ``shipped``, or those fitted for the repository."""
    snapshot_id: str
    head: str | None
    skipped_by_reason: Mapping[str, int]
    skipped: tuple[Skipped, ...]
    """With ``--skipped``: every file that is not indexed."""
    not_covered: tuple[str, ...]
    """Files that an unfinished build has not come to."""
    why_empty: str = ""
    """Why no file is indexed, where none is."""
    reranker: str = "none"
    is_outdated: bool = False
    """True when another model, or another version, made it: the next search makes it anew."""
    n_indexed_now: int = 0
    """Files read and indexed by this call."""
    is_kept: bool = True
    """False when this call could not write what it indexed; a note says why."""


@dataclass(frozen=True, slots=True)
class StatusResult:
    """The workspaces asked about."""

    workspaces: tuple[WorkspaceStatus, ...]
    home: str
    notes: tuple[str, ...] = ()

    @property
    def is_failed(self) -> bool:
        """True when an index could not be written."""
        return not all(workspace.is_kept for workspace in self.workspaces)


@dataclass(frozen=True, slots=True)
class ClearResult:
    """What was removed."""

    roots: tuple[str, ...]
    n_bytes: int
    what: str = "index"
    """``index``, or ``fitted weights``."""


def status(
    context: ToolContext, repositories: Sequence[str] = (), *, skipped: bool = False
) -> StatusResult:
    """Say what the index holds without changing it.

    Shows files, chunks, languages, size on disk, whether the files have changed since, and how many
    files are not indexed for which reason.

    Raises:
        PathError: A folder does not exist or may not be read.
    """
    roots = _roots(context, repositories)
    found = tuple(_status(context.workspace(root), with_skipped=skipped) for root in roots)
    return StatusResult(found, str(context.settings.home))


def index(context: ToolContext, repositories: Sequence[str] = ()) -> StatusResult:
    """Bring the index of folders or git URLs up to date now, and read their earlier commits.

    Searching does the same by itself; this is for doing it beforehand. Interrupted, it goes on
    where it stopped. A git URL that was cloned before is fetched again.

    Raises:
        PathError: A folder does not exist or may not be read.
        ExternalError: A git URL cannot be fetched.
    """
    from wherein.external.clone import update

    for name in repositories:
        if context.may_name_roots and is_git_url(name):
            update(name, context.settings.home / "clones")
    pairs = [_index(context, root) for root in _roots(context, repositories)]
    notes = dict.fromkeys(note for _, notes in pairs for note in notes)
    return StatusResult(
        tuple(found for found, _ in pairs), str(context.settings.home), tuple(notes)
    )


def clear(
    context: ToolContext,
    repositories: Sequence[str] = (),
    *,
    all: bool = False,  # noqa: A002 - the option's name
    weights: bool = False,
) -> ClearResult:
    """Remove indexes from the cache; the files themselves are not touched.

    Without a folder it is the one you stand in. Nothing is lost but time: the next search builds
    the index again. Ranking weights fitted for a repository go with the last index of it; with
    weights they alone go, and searches are ranked with those that ship.

    Raises:
        PathError: A folder does not exist or may not be read.
        UsageError: ``all`` and ``weights`` are both given.
        StoreError: The weights cannot be removed.
    """
    if weights:
        return _clear_weights(context, repositories, all_too=all)
    home = context.settings.home
    if all:
        n_bytes = 0
        for folder in (home / "families", home / "clones"):
            n_bytes += sum(path.lstat().st_size for path in folder.rglob("*"))
            shutil.rmtree(folder, ignore_errors=True)
        return ClearResult((str(home),), n_bytes)
    roots: list[str] = []
    n_bytes = 0
    for root in _roots(context, repositories):
        n_bytes += context.workspace(root).clear()
        roots.append(str(root))
    return ClearResult(tuple(roots), n_bytes)


def _clear_weights(
    context: ToolContext, repositories: Sequence[str], *, all_too: bool
) -> ClearResult:
    from wherein.search.own_weights import drop_own_weights

    if all_too:
        message = "--all removes every index, --weights keeps them"
        raise UsageError(message, hint="give one of the two")
    roots = _roots(context, repositories)
    families = dict.fromkeys(context.workspace(root).layout.family for root in roots)
    n_bytes = sum(drop_own_weights(family) for family in families)
    return ClearResult(tuple(str(root) for root in roots), n_bytes, "fitted weights")


def _roots(context: ToolContext, names: Sequence[str]) -> list[Path]:
    """Return the workspace roots meant, each once."""
    return list(dict.fromkeys(item.root for item in find_repositories(context, names)))


def _status(workspace: Workspace, *, with_skipped: bool) -> WorkspaceStatus:
    found = workspace.status()
    return WorkspaceStatus(
        root=str(found.root),
        is_indexed=found.is_indexed,
        is_fresh=found.is_fresh,
        is_indexing=found.is_indexing,
        n_files=found.n_files,
        n_chunks=found.n_chunks,
        n_bytes_on_disk=found.n_bytes,
        languages=dict(found.languages),
        model=found.model,
        ranking=workspace.ranking().name,
        snapshot_id=found.snapshot_id,
        head=found.head,
        skipped_by_reason=dict(found.skipped_by_reason),
        skipped=found.skipped if with_skipped else (),
        not_covered=found.not_covered,
        reranker=found.reranker,
        is_outdated=found.is_outdated,
        why_empty=_why_empty(found),
    )


def _why_empty(found: Status) -> str:
    """Return why an index holds no file, empty when it holds some."""
    if not found.is_indexed or found.n_files or found.not_covered:
        return ""
    if found.skipped:
        return "all files here are skipped"
    try:
        is_bare = all(path.name == ".git" for path in found.root.iterdir())
    except OSError:
        is_bare = False
    if is_bare:
        return "the folder is empty"
    return (
        "ignore files such as .gitignore leave out all files here"
        " (the setting include takes ignored files in)"
    )


def _index(context: ToolContext, root: Path) -> tuple[WorkspaceStatus, tuple[str, ...]]:
    """Return what is indexed now, and what the asker should know of it."""
    workspace = context.workspace(root)
    coverage = workspace.refresh(progress=context.report)
    workspace.read_history(progress=context.report)
    found = _status(workspace, with_skipped=False)
    is_kept = coverage.layouts[0] == workspace.layout
    return replace(found, n_indexed_now=coverage.files_indexed, is_kept=is_kept), coverage.notes
