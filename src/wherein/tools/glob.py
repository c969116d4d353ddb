"""Finds files by the pattern of their path."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wherein.errors import PatternError, UsageError
from wherein.external.ripgrep import find_ripgrep
from wherein.tools.file_filter import FileFilter
from wherein.tools.file_paths import Place, Scope, refuse_outside, resolve_place
from wherein.tools.file_set import find_extra_files, found_though_ignored, git_of, ripgrep_at
from wherein.tools.glob_nothing import why_nothing
from wherein.tools.globbing import GlobSet, anchor_globs
from wherein.tools.grep_found import path_order
from wherein.tools.grep_types import SkipCount
from wherein.walk.paths import show_path

if TYPE_CHECKING:
    from wherein.tools.context import ToolContext

__all__ = ["FoundPath", "GlobResult", "find_files", "glob"]

LIMIT = 100
TIMEOUT_S = 30.0
MAX_UNREAD = 3
"""Folders that could not be read and are named."""


@dataclass(frozen=True, slots=True)
class FoundPath:
    """One file."""

    path: str
    n_bytes: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class GlobResult:
    """The files that match, newest first or by name."""

    files: tuple[FoundPath, ...]
    n_total: int
    """All that match."""
    n_files_considered: int
    offset: int = 0
    next_offset: int = 0
    """Where to go on; 0 when this is the end."""
    is_truncated: bool = False
    skipped: tuple[SkipCount, ...] = ()
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the plain form: a path a line."""
        return [show_path(file.path) for file in self.files]


def glob(
    call: ToolContext,
    /,
    pattern: str | Sequence[str],
    path: str | None = None,
    *,
    sort: str = "newest",
    limit: int = LIMIT,
    offset: int = 0,
) -> GlobResult:
    """Give globs: ``**`` crosses folders, ``{a,b}`` alternates, a leading ``!`` takes paths out.

    A pattern without a slash matches names at any depth; one with a slash starts at ``path`` (or
    the workspace). Returns file paths, newest first, that can be handed to read as they are; a cut
    answer says at which offset to go on. Ignored files are left out, hidden ones are not.

    Raises:
        PatternError: A pattern is not valid.
        PathError: The folder does not exist or may not be read; the hint has near names.
    """
    patterns = (pattern,) if isinstance(pattern, str) else tuple(pattern)
    return find_files(
        Scope.of(call),
        patterns,
        path or "",
        by_name=sort == "name",
        limit=limit,
        offset=offset,
        is_cancelled=call.is_cancelled,
    )


def find_files(
    scope: Scope,
    patterns: Sequence[str],
    folder: str = "",
    *,
    by_name: bool = False,
    limit: int = LIMIT,
    offset: int = 0,
    is_cancelled: Callable[[], bool] | None = None,
) -> GlobResult:
    """Return the files under ``folder`` that the patterns admit.

    Args:
        scope: Where to look.
        patterns: Globs; see `tools.globbing`.
        folder: Where patterns with a slash start; empty for the root.
        by_name: In the order of the paths, instead of newest first.
        limit: Most paths.
        offset: Paths to leave out from the start.
        is_cancelled: Asked while the files are listed.

    Raises:
        PatternError: A pattern is not valid.
        PathError: The folder does not exist, or a pattern leads outside the root.
    """
    if limit < 1 or offset < 0:
        message = f"limit {limit}, offset {offset}: no page"
        raise UsageError(message, hint="limit is at least 1, offset at least 0")
    if not patterns or not all(pattern.strip() for pattern in patterns):
        message = "a pattern is empty" if patterns else "no pattern"
        raise PatternError(message, hint="'**' names every file")
    place = resolve_place(scope, folder)
    for pattern in patterns:
        refuse_outside(place.root, place.folder, pattern)
    anchor = place.path if place.is_folder else place.path.rpartition("/")[0]
    listed = _list(scope, place, is_cancelled)
    globs, notes = _with_literal_brackets(anchor_globs(patterns, anchor, place.root), listed.paths)
    chosen = _compiled(globs, patterns)
    admitted = [path for path in listed.paths if chosen.admits(path)]
    found, skipped = listed.keep(admitted, is_named=not place.is_folder)
    if not found:
        notes.extend(why_nothing(patterns, globs, listed.paths, place, listed.n_ignored))
    if listed.unread:
        named = ", ".join(show_path(place.shown(path)) for path in listed.unread[:MAX_UNREAD])
        notes.append(f"could not be read, files may be missing: {named}")
    files = _sorted(place, found, by_name=by_name)
    page = tuple(files[offset : offset + limit])
    end = offset + len(page)
    return GlobResult(
        files=page,
        n_total=len(files),
        n_files_considered=len(listed.paths),
        offset=offset,
        next_offset=end if end < len(files) else 0,
        is_truncated=end < len(files),
        skipped=skipped,
        notes=tuple(notes),
    )


def _compiled(globs: Sequence[str], patterns: Sequence[str]) -> GlobSet:
    """Compile ``globs``; what is wrong with one is said of the pattern as it was given."""
    try:
        return GlobSet.of(globs)
    except PatternError:
        GlobSet.of(patterns)
        raise


class _Listed:
    """The files under a place, before it is asked which may be shown."""

    def __init__(
        self,
        paths: Sequence[str],
        filter_: FileFilter,
        n_ignored: int = 0,
        unread: Sequence[str] = (),
    ) -> None:
        self.paths = paths
        self.unread = unread
        self._filter = filter_
        self.n_ignored = n_ignored

    def keep(
        self, paths: Iterable[str], *, is_named: bool = False
    ) -> tuple[list[str], tuple[SkipCount, ...]]:
        """Return those of ``paths`` that may be shown, and how many may not for which reason."""
        kept: list[str] = []
        counts: dict[str, int] = {"ignored": self.n_ignored} if self.n_ignored else {}
        for path in paths:
            reason = self._filter.refusal(path, is_named=is_named)
            if reason:
                counts[reason] = counts.get(reason, 0) + 1
            else:
                kept.append(path)
        return kept, tuple(SkipCount(reason, counts[reason]) for reason in sorted(counts))


def _list(scope: Scope, place: Place, is_cancelled: Callable[[], bool] | None) -> _Listed:
    """Return the files under the place."""
    keep = FileFilter(scope.settings, place.root)
    program = find_ripgrep()
    if program is None:
        return _Listed(_list_without_ripgrep(scope, place), keep)
    git = git_of(place.root)
    ripgrep = ripgrep_at(program, place.root, git)
    walked = ripgrep.walk([place.path], timeout_s=TIMEOUT_S, is_cancelled=is_cancelled)
    extra = [
        path
        for path in find_extra_files(ripgrep, git, walked, scope.settings)
        if not place.path or path.startswith(f"{place.path}/")
    ]
    keep.add_worktrees(place.root, git, [place.path])
    hidden = set(walked.ignored).difference(extra)
    misread = found_though_ignored(ripgrep, git, [*filter(None, [place.path]), *walked.paths])
    if place.path not in misread:  # a folder that is named is listed though it is ignored
        hidden |= misread
    paths = [path for path in dict.fromkeys((*walked.paths, *extra)) if path not in hidden]
    unread = [said.partition(": ")[0] for said in walked.complaints]
    return _Listed(paths, keep, len(hidden), sorted(unread))


def _list_without_ripgrep(scope: Scope, place: Place) -> list[str]:
    from wherein.walk.walker import list_files

    listing = list_files(place.root, scope.settings)
    return [
        item.file.path
        for item in listing.files
        if not place.path or item.file.path.startswith(f"{place.path}/")
    ]


def _with_literal_brackets(
    globs: Sequence[str], paths: Sequence[str]
) -> tuple[tuple[str, ...], list[str]]:
    """Take the brackets of a folder or file that is called so (``app/[id]``) for what they are."""
    if not any("[" in glob for glob in globs):
        return tuple(globs), []
    names = {part for path in paths if "[" in path for part in path.split("/")}
    changed: list[str] = []
    for glob in globs:
        parts = glob.split("/")
        changed.append("/".join(_literal_brackets(p) if p in names else p for p in parts))
    notes = ["brackets were taken as part of a name that exists"] if changed != list(globs) else []
    return tuple(changed), notes


def _literal_brackets(name: str) -> str:
    return name.replace("[", "\\[").replace("]", "\\]")


def _sorted(place: Place, paths: Sequence[str], *, by_name: bool) -> list[FoundPath]:
    files: list[FoundPath] = []
    for path in sorted(paths, key=path_order):
        try:
            status = (place.root / path).lstat()
        except OSError:
            continue  # gone since it was listed
        if stat.S_ISREG(status.st_mode):
            files.append(FoundPath(path, status.st_size, status.st_mtime_ns))
    if not by_name:
        files.sort(key=lambda file: -file.mtime_ns)
    return [replace(file, path=place.shown(file.path)) for file in files]
