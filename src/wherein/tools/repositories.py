"""Finds the repositories a caller means: folders, files, git URLs, or where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wherein.configuration import find_root
from wherein.errors import PathError, UsageError
from wherein.tools.context import ToolContext

__all__ = ["Repository", "find_repositories", "is_git_url"]

_URL_STARTS = ("https://", "http://", "ssh://", "git://", "file://")
_MAX_PARENTS = 40


@dataclass(frozen=True, slots=True)
class Repository:
    """One repository to search, and the part of it that counts."""

    root: Path
    """Real path of the workspace root."""
    scope: str
    """Folder or file below the root that answers are limited to; empty for all."""
    name: str
    """What answers call it: as the caller named it."""
    base: str
    """Folder below the root that shown paths are relative to; empty for the root itself."""


def is_git_url(name: str) -> bool:
    """Return True when ``name`` is an address that git clones, not a path."""
    if name.startswith(_URL_STARTS):
        return True
    user_host, colon, path = name.partition(":")
    return bool(colon and path and "@" in user_host and "/" not in user_host and name[0] != "-")


def find_repositories(context: ToolContext, names: Sequence[str]) -> tuple[Repository, ...]:
    """Return what ``names`` mean, without repetition; where the caller stands for none.

    A folder is its own root unless an index of a folder above it (in the same repository) exists:
    then that one answers, limited to the folder. A git URL is cloned into the cache first.

    Raises:
        PathError: A path does not exist or may not be read.
        UsageError: A git URL was given where only local folders are allowed.
    """
    found = [_named(context, name) for name in names] or [_standing(context)]
    return tuple(dict.fromkeys(found))


def _standing(context: ToolContext) -> Repository:
    standing = context.standing or context.root
    if standing == context.root or not standing.is_relative_to(context.root):
        return Repository(context.root, "", ".", "")
    base = standing.relative_to(context.root).as_posix()
    return Repository(context.root, base, ".", base)


def _named(context: ToolContext, name: str) -> Repository:
    if is_git_url(name):
        return Repository(_clone(context, name), "", name, "")
    real = context.resolve_folder(name)
    if real.is_dir():
        root = _indexed_above(context, real) or real
        base = "" if root == real else real.relative_to(root).as_posix()
        return Repository(root, base, name, base)
    if real.is_file():
        parent = find_root(real.parent)
        root = context.root if real.is_relative_to(context.root) else parent
        is_here = root == (context.standing or context.root)
        name = "." if is_here else str(root)
        return Repository(root, real.relative_to(root).as_posix(), name, "")
    message = f"{name!r} is neither a folder nor a regular file"
    raise PathError(message, hint="name a folder, a file or a git URL")


def _indexed_above(context: ToolContext, folder: Path) -> Path | None:
    """Return the nearest indexed folder at or above ``folder`` within its repository."""
    from wherein.store.layout import path_id

    families = context.settings.home / "families"
    if not families.is_dir():
        return None
    known = sorted(families.iterdir())
    for candidate in (folder, *folder.parents[:_MAX_PARENTS]):
        tree = path_id(candidate)
        is_allowed = context.may_name_roots or context.allows(candidate)
        if is_allowed and any((family / "trees" / tree / "manifest").exists() for family in known):
            return candidate
        if (candidate / ".git").exists():
            return None
    return None


def _clone(context: ToolContext, url: str) -> Path:
    if not context.may_name_roots:
        message = f"{url!r} is not in this workspace"
        hint = "clone it first, or search it on the command line: wherein search QUERY URL"
        raise UsageError(message, hint=hint)
    from wherein.external.clone import clone

    return clone(url, context.settings.home / "clones")
