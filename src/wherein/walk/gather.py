"""Gathers the paths of a tree: git's list, or what the ignore rules leave where git is silent."""

from __future__ import annotations

import os
from pathlib import Path

from wherein.errors import ExternalError
from wherein.external.git import Git
from wherein.external.git_folder import GitFolder, find_git_folder, is_repository
from wherein.types import Skipped
from wherein.walk.gathered import (
    RULE_FILES,
    Candidate,
    Gathered,
    Repository,
    add_parents,
    add_tracked,
    note_rules,
    watch_repository,
)
from wherein.walk.hidden import HidingRules
from wherein.walk.ignore import IgnoreRules
from wherein.walk.included import decides_for, may_match_below
from wherein.walk.plain_walk import PlainWalk

__all__ = ["gather", "gather_plain", "gather_repository"]

MAX_DEPTH = 100
"""Repositories nested deeper than this are a loop, not source."""


def gather(root: Path, hiding: HidingRules, include: IgnoreRules | None = None) -> Gathered:
    """Return the paths of the file set under ``root`` (a real path).

    Args:
        root: The folder to look at.
        hiding: Rules that hide paths, tracked or not.
        include: Rules for paths that are wanted though git ignores them.
    """
    found = Gathered(hiding)
    outer = find_git_folder(root)
    found.watched.add(str(root / ".git"))
    git = None
    if outer is not None:
        probe = Git.probe(root)
        git = probe.git
        if git is None:
            found.notes.append(f"{probe.reason}; files are listed by the ignore rules alone")
        elif git.prefix and git.at_top().ignored_among([git.prefix[:-1]]):
            found.notes.append("git ignores this folder; it is listed by its own ignore rules")
            git = None
    if git is None or not _gather_with_git(git, "", found, include, 0):
        gather_plain(root, "", outer, found, include, 0)
    if outer is not None:
        found.head = outer.head() or (git.head() if git is not None else None)
    return found


def _gather_with_git(
    git: Git, prefix: str, found: Gathered, include: IgnoreRules | None, depth: int
) -> bool:
    """Add the files of one working tree as git lists them; return False when git fails."""
    try:
        gather_repository(git, prefix, found, include, depth)
    except ExternalError as error:  # a damaged index, or a pipe called .gitignore
        found.notes.append(f"{error.message}; files are listed by the ignore rules alone")
        return False
    return True


def gather_repository(
    git: Git, prefix: str, found: Gathered, include: IgnoreRules | None, depth: int
) -> None:
    """Add the files of one working tree as git lists them."""
    folder = git.folder
    watch_repository(folder, git.root, found)
    index = git.index()
    repository = Repository(folder, prefix, index.written_ns, git)
    nested = add_tracked(index.entries, git.prefix, repository, found)
    for path in git.untracked():
        if path.endswith("/"):
            nested.append(prefix + path[:-1])
        else:
            found.candidates[prefix + path] = Candidate(prefix + path)
    for path in _scan_folders(git, prefix, found):
        if path not in nested:
            nested.append(path)
    for path in sorted(nested):
        _gather_nested(git.root / path[len(prefix) :], path, folder, found, include, depth + 1)
    if include is not None:
        for path in git.ignored():
            _gather_included(git.root, prefix, prefix + path, folder, found, include, depth + 1)


def _gather_nested(
    place: Path,
    path: str,
    outer: GitFolder | None,
    found: Gathered,
    include: IgnoreRules | None,
    depth: int,
) -> None:
    """Add a submodule's or nested clone's files: it has an index and rules of its own."""
    found.watched.add(str(place / ".git"))
    if depth > MAX_DEPTH or place.is_symlink() or found.hiding.hides_folder(path):
        return
    folder = find_git_folder(place) if is_repository(place) else None
    if folder is None:
        return  # a submodule that is not checked out
    if outer is not None and folder.common_dir == outer.common_dir:
        found.skipped.append(Skipped(path, "linked worktree"))
        return
    inner = Git.find(place)
    if inner is not None and inner.prefix:
        inner = None  # git takes it for a part of the tree around it
    if inner is not None and _gather_with_git(inner, f"{path}/", found, include, depth):
        return
    gather_plain(place, f"{path}/", folder, found, include, depth)


def _scan_folders(git: Git, prefix: str, found: Gathered) -> list[str]:
    """Find every folder that could gain a file, also empty ones, which git does not list.

    Returns:
        Nested repositories that git lists nothing of.
    """
    known = {prefix[:-1] if prefix else ""}
    for path in found.candidates:
        if path.startswith(prefix):
            add_parents(path, known)
    known = {folder for folder in known if not found.hiding.sets_aside(folder)}
    nested: list[str] = []
    pending = sorted(known)
    while pending:
        unknown: list[str] = []
        for folder in pending:
            scanned = _scan(git.root, prefix, folder, found)
            unknown.extend(
                path for path in scanned if path not in known and not found.hiding.sets_aside(path)
            )
        cut = len(prefix)
        ignored = _ignored(git, [path[cut:] for path in unknown])
        pending = []
        for path in unknown:
            if path[cut:] in ignored:
                continue
            if is_repository(git.root / path[cut:]):
                nested.append(path)
            else:
                pending.append(path)
                known.add(path)
    return nested


def _ignored(git: Git, folders: list[str]) -> set[str]:
    """Return those of ``folders`` that git ignores, or that it will not judge."""
    try:
        return set(git.ignored_among(folders))
    except ExternalError:
        if len(folders) == 1:
            return set(folders)
        # One odd path ends the whole answer: find it by halves.
        half = len(folders) // 2
        return _ignored(git, folders[:half]) | _ignored(git, folders[half:])


def _scan(root: Path, prefix: str, folder: str, found: Gathered) -> list[str]:
    """Return the subfolders of ``folder``; note rule files and what is no file at all."""
    subfolders: list[str] = []
    start = f"{folder}/" if folder else ""
    try:
        with os.scandir(root / folder[len(prefix) :]) as entries:
            for entry in entries:
                name = entry.name
                if entry.is_dir(follow_symlinks=False):
                    if name != ".git":
                        subfolders.append(start + name)
                elif name in RULE_FILES:
                    note_rules(entry.path, start, name, found)
                elif not entry.is_file(follow_symlinks=False) and not entry.is_symlink():
                    found.skipped.append(Skipped(start + name, "not a regular file"))
    except FileNotFoundError:
        return []  # tracked files whose folder was deleted: the one above tells when it is back
    except OSError as error:
        found.skipped.append(Skipped(folder, "unreadable", error.strerror or ""))
    found.folders.add(folder)
    return sorted(subfolders)


def _gather_included(
    root: Path,
    prefix: str,
    path: str,
    repository: GitFolder | None,
    found: Gathered,
    include: IgnoreRules,
    depth: int,
) -> None:
    """Add from one ignored path what ``include`` names; nested clones keep their own rules."""
    if not path.endswith("/"):
        if decides_for(include, path, is_folder=False):
            found.candidates.setdefault(path, Candidate(path))
        return
    folder = path[:-1]
    place = root / folder[len(prefix) :]
    if depth > MAX_DEPTH or found.hiding.hides_folder(folder):
        return
    if decides_for(include, folder, is_folder=True):
        if is_repository(place):
            _gather_nested(place, folder, repository, found, None, depth)
        else:
            gather_plain(place, path, None, found, None, depth)
    elif may_match_below(include, folder):
        found.folders.add(folder)
        for name, is_folder in _names(place):
            below = f"{path}{name}/" if is_folder else path + name
            _gather_included(root, prefix, below, repository, found, include, depth + 1)


def _names(place: Path) -> list[tuple[str, bool]]:
    try:
        with os.scandir(place) as entries:
            return sorted(
                (entry.name, entry.is_dir(follow_symlinks=False))
                for entry in entries
                if entry.name != ".git"
            )
    except OSError:
        return []


def gather_plain(
    root: Path,
    prefix: str,
    folder: GitFolder | None,
    found: Gathered,
    include: IgnoreRules | None,
    depth: int,
) -> None:
    """Walk ``root`` ourselves under the rules git would apply.

    Args:
        root: Where the walk starts.
        prefix: Path of ``root`` from the walk's first root, empty or ending in ``/``.
        folder: The repository ``root`` lies in, when there is one git does not list for us.
        found: Where everything goes.
        include: Rules for ignored paths that are wanted.
        depth: How many repositories surround this one.
    """

    def nested(path: str) -> None:
        place = root / path[len(prefix) :]
        _gather_nested(place, path, folder, found, include, depth + 1)

    def ignored(path: str) -> None:
        if include is not None:
            _gather_included(root, prefix, f"{path}/", folder, found, include, depth + 1)

    PlainWalk(root, prefix, folder, found, include, nested, ignored).run()
