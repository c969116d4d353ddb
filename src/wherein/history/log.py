"""Reads commits from git's plumbing as typed values."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["LOG_ARGUMENTS", "MAX_CHANGES", "Change", "Commit", "parse_log"]

MAX_CHANGES = 400
"""Changes kept of one commit. A commit with more moves or reformats the tree: nothing can be
learned from its co-changes, but its renames are kept so that older votes find today's file."""

_RECORD = b"\x01"
_FIELDS = 6

LOG_ARGUMENTS = (
    "diff-tree",
    "--stdin",
    "--always",  # a merge and an empty commit are shown too, without changes
    "--root",
    "-r",
    "-M",
    "-l400",  # inexact rename detection costs the square of the number of files
    "--raw",
    "-z",
    "--abbrev=4",
    "--no-ext-diff",
    "--no-textconv",
    "--encoding=UTF-8",
    "--format=%x01%H%x00%P%x00%ct%x00%an%x00%ae%x00%B%x00",
)
"""What `parse_log` reads. Commit ids, oldest first, go to standard input."""


@dataclass(frozen=True, slots=True)
class Change:
    """One path a commit touched."""

    path: str
    status: str
    """Git's letter: A, M, D, R, T."""
    old_path: str = ""
    """Where a renamed file came from, else empty."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit with the paths it changed against its first parent; a merge has none."""

    sha: str
    parents: tuple[str, ...]
    time: int
    """Committer time, seconds since 1970."""
    author: str
    email: str
    message: str
    changes: tuple[Change, ...]
    n_files: int
    """Paths changed, before the cut to `MAX_CHANGES`."""
    is_boundary: bool = False
    """True where a shallow clone was cut, and for grafted and replaced commits: what they
    changed is unknown."""


def parse_log(data: bytes, boundary: frozenset[str] = frozenset()) -> Iterator[Commit]:
    """Yield the commits of the output of `LOG_ARGUMENTS`, in its order.

    Args:
        data: Git's bytes. A torn last record is left out.
        boundary: Commits whose parents are missing or exchanged (`source.boundary_commits`).
    """
    tokens = data.split(b"\0")
    at = 0
    while at + _FIELDS < len(tokens):
        if not tokens[at].startswith(_RECORD):
            at += 1
            continue
        header = tokens[at : at + _FIELDS]
        at, changes, n_files = _read_changes(tokens, at + _FIELDS)
        yield _commit(header, changes, n_files, boundary)


def _commit(
    header: Sequence[bytes], changes: list[Change], n_files: int, boundary: frozenset[str]
) -> Commit:
    sha, parents, time, author, email, message = (_text(part) for part in header)
    sha = sha[1:]
    is_boundary = sha in boundary
    return Commit(
        sha=sha,
        parents=tuple(parents.split()),
        time=int(time) if time.lstrip("-").isdigit() else 0,
        author=author,
        email=email,
        message=message,
        changes=() if is_boundary else tuple(changes),
        n_files=0 if is_boundary else n_files,
        is_boundary=is_boundary,
    )


def _read_changes(tokens: Sequence[bytes], at: int) -> tuple[int, list[Change], int]:
    """Return where the next record may start, the changes kept, and how many there were."""
    changes: list[Change] = []
    n_files = 0
    while at + 2 < len(tokens):  # a torn last entry is not read
        token = tokens[at].lstrip(b"\n")
        if not token.startswith(b":"):
            if token:
                break
            at += 1
            continue
        status = token.rsplit(b" ", 1)[-1][:1]
        is_rename = status in {b"R", b"C"}
        n_files += 1
        if n_files <= MAX_CHANGES or is_rename:
            path = _path(tokens[at + 2] if is_rename else tokens[at + 1])
            old = _path(tokens[at + 1]) if is_rename else ""
            changes.append(Change(path, status.decode(), old))
        at += 3 if is_rename else 2
    return at, changes, n_files


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _path(data: bytes) -> str:
    return os.fsdecode(data)
