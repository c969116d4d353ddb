"""Says which files have changed since a revision, by their content."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from wherein.errors import PathError, QueryError
from wherein.external.git import Git
from wherein.walk.blob import blob_id
from wherein.walk.paths import inside

__all__ = ["changed_since"]


def changed_since(root: Path, revision: str) -> frozenset[str]:
    """Return the paths under ``root`` whose content is not that of ``revision``, new ones included.

    Git says which may have changed without reading them (that could run a filter); those are
    hashed here, so that a file that was only touched does not count.

    Raises:
        QueryError: The folder is no git repository.
        RevisionError: Git does not know the revision.
    """
    git = Git.find(root)
    if git is None:
        message = f"{str(root)!r} is no git repository, so nothing is known since {revision!r}"
        raise QueryError(message, hint="leave 'since' out")
    candidates = git.changed_since(revision)
    known = _blob_ids(git, git.resolve(revision))
    return frozenset(path for path in candidates if _blob_of(root, path) != known.get(path))


def _blob_ids(git: Git, commit: str) -> dict[str, str]:
    """Return path to blob id of a commit's files under the root."""
    listed = git.output("ls-tree", "-r", "-z", commit)
    found: dict[str, str] = {}
    for line in _entries(listed):
        head, _tab, path = line.partition(b"\t")
        found[os.fsdecode(path)] = head.split(b" ")[2].decode("ascii")
    return found


def _entries(listed: bytes) -> Iterable[bytes]:
    return (line for line in listed.split(b"\0") if line)


def _blob_of(root: Path, path: str) -> str:
    """Return the blob id of the file as it is now; empty for one that is gone or special."""
    try:
        real = inside(root, path)
        return blob_id(real.read_bytes()) if real.is_file() else ""
    except (OSError, PathError):
        return ""
