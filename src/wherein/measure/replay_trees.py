"""Holds the trees that are replayed: contents from git's objects, never from the working tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from wherein.errors import ExternalError
from wherein.external.git import Git
from wherein.history.source import tree_paths
from wherein.measure.requests import is_pool_path

__all__ = ["MAX_FILE_BYTES", "Contents", "TextTree", "read_tree"]

MAX_FILE_BYTES = 1_000_000
"""A larger source file is data or a product; it is left out of every arm alike."""

_TIMEOUT_S = 600.0


class Contents:
    """The bytes of blobs, each read from git once whatever trees it is in.

    Args:
        git: Where the objects are.
    """

    def __init__(self, git: Git) -> None:
        self._git = git
        self._data: dict[str, bytes] = {}
        self._lower: dict[str, bytes] = {}

    def load(self, blob_ids: Iterable[str]) -> None:
        """Read the blobs that are not here yet.

        Raises:
            ExternalError: Git's answer does not fit the question.
        """
        missing = [blob for blob in dict.fromkeys(blob_ids) if blob not in self._data]
        if not missing:
            return
        stdin = "".join(f"{blob}\n" for blob in missing).encode()
        data = self._git.output("cat-file", "--batch", stdin=stdin, timeout_s=_TIMEOUT_S)
        at = 0
        for blob in missing:
            end = data.find(b"\n", at)
            head = data[at:end].split()
            if end < 0 or len(head) < 2:
                message = "git cat-file broke off"
                raise ExternalError(message)
            if head[1] == b"missing":  # a partial clone lacks it, and nothing may be fetched
                self._data[blob] = b""
                at = end + 1
                continue
            size = int(head[2])
            self._data[blob] = data[end + 1 : end + 1 + size]
            at = end + 1 + size + 1

    def bytes_of(self, blob_id: str) -> bytes:
        """Return a blob's bytes."""
        return self._data[blob_id]

    def lower(self, blob_id: str) -> bytes:
        """Return a blob's bytes with ASCII letters in lower case."""
        if blob_id not in self._lower:
            self._lower[blob_id] = self._data[blob_id].lower()
        return self._lower[blob_id]


@dataclass(frozen=True)
class TextTree:
    """The source files of one commit that searchers can answer with.

    Args:
        commit: Whose tree it is.
        files: Path to blob id, sorted by path.
        contents: Holds the blobs.
    """

    commit: str
    files: Mapping[str, str]
    contents: Contents

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """All paths, sorted."""
        return tuple(self.files)

    def text(self, path: str) -> str:
        """Return a file's text; bytes that are not UTF-8 are replaced."""
        return self.contents.bytes_of(self.files[path]).decode("utf-8", "replace")

    def counts(self, word: str) -> dict[str, int]:
        """Return the files that hold ``word`` in any case and anywhere, with how often."""
        needle = word.lower().encode()
        found: dict[str, int] = {}
        for path, blob in self.files.items():
            n = self.contents.lower(blob).count(needle)
            if n:
                found[path] = n
        return found

    def has_identifier(self, name: str) -> bool:
        """Return whether ``name`` stands in a file as a word of its own, in this case."""
        needle = name.encode()
        pattern = re.compile(rb"(?<!\w)" + re.escape(needle) + rb"(?!\w)")
        for blob in self.files.values():
            data = self.contents.bytes_of(blob)
            if needle in data and pattern.search(data):
                return True
        return False

    def part(self, paths: Sequence[str]) -> TextTree:
        """Return the tree with only ``paths``."""
        kept = set(paths)
        files = {path: blob for path, blob in self.files.items() if path in kept}
        return TextTree(self.commit, files, self.contents)


def read_tree(
    git: Git,
    commit: str,
    contents: Contents,
    admits: Callable[[str], bool] = is_pool_path,
) -> TextTree:
    """Return the searchable files of a commit, their contents read.

    Args:
        git: Where the objects are.
        commit: Whose tree.
        contents: Takes up the files' bytes.
        admits: Whether a path is in the tree; by default the source files that can be targets.

    Raises:
        ExternalError: Git cannot read the tree.
    """
    files = {
        path: blob
        for path, blob, size in tree_paths(git, commit)
        if size <= MAX_FILE_BYTES and admits(path)
    }
    contents.load(files.values())
    binary = {blob for blob in set(files.values()) if b"\0" in contents.bytes_of(blob)[:8000]}
    kept = {path: blob for path, blob in files.items() if blob not in binary}
    return TextTree(commit, kept, contents)
