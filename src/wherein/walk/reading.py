"""Reads files of a tree: regular files only, never through a symbolic link.

A path is opened component by component without following links, so that a link swapped in between
a check and the opening leads nowhere.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from wherein.errors import PathError
from wherein.types import FileStat
from wherein.walk.paths import show_path

__all__ = ["FileRead", "TreeReader", "file_stat", "read_file"]

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a pipe waits for a writer.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
READ_ATTEMPTS = 3
"""A file that changes under three reads is being written steadily; look at it again later."""


@dataclass(frozen=True, slots=True)
class FileRead:
    """The bytes of a file with the stat they belong to."""

    data: bytes
    stat: FileStat
    is_settled: bool
    """False when the file kept changing while it was read: it must be looked at again."""
    is_whole: bool = True
    """False when it was cut at the limit."""


def file_stat(result: os.stat_result) -> FileStat:
    """Return the fields of a stat that decide whether a file changed."""
    return FileStat(
        result.st_size, result.st_mtime_ns, result.st_ctime_ns, result.st_ino, result.st_mode
    )


class TreeReader:
    """Reads files under one root; neighbours share the opened folder. Use as a context."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folder = ""
        self._descriptor = -1

    def __enter__(self) -> TreeReader:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the folder."""
        self.close()

    def close(self) -> None:
        """Close the opened folder."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def read(self, path: str, max_bytes: int | None = None) -> FileRead:
        """Read the regular file ``path`` (relative to the root), at most ``max_bytes`` of it.

        Raises:
            PathError: It is gone, no regular file, behind a link, or unreadable.
        """
        folder, _, name = path.rpartition("/")
        try:
            descriptor = os.open(name, _FILE_FLAGS, dir_fd=self._open_folder(folder))
        except OSError as error:
            raise _path_error(path, error) from None
        try:
            return _read_open(descriptor, path, max_bytes)
        finally:
            os.close(descriptor)

    def _open_folder(self, folder: str) -> int:
        if self._descriptor >= 0 and folder == self._folder:
            return self._descriptor
        self.close()
        descriptor = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for part in folder.split("/") if folder else ():
            if part in {"", ".", ".."}:
                os.close(descriptor)
                raise NotADirectoryError
            try:
                below = os.open(part, _FOLDER_FLAGS, dir_fd=descriptor)
            finally:
                os.close(descriptor)
            descriptor = below
        self._descriptor, self._folder = descriptor, folder
        return descriptor


def read_file(root: Path, path: str, max_bytes: int | None = None) -> FileRead:
    """Read one regular file under ``root``; see `TreeReader.read`."""
    with TreeReader(root) as reader:
        return reader.read(path, max_bytes)


def _read_open(descriptor: int, path: str, max_bytes: int | None) -> FileRead:
    before = os.fstat(descriptor)
    if not stat.S_ISREG(before.st_mode):
        message = f"{show_path(path)!r} is not a regular file"
        raise PathError(message)
    data, after = b"", before
    for _ in range(READ_ATTEMPTS):
        os.lseek(descriptor, 0, os.SEEK_SET)
        data = _read_all(descriptor, before.st_size, max_bytes)
        after = os.fstat(descriptor)
        if _same(before, after) and (max_bytes is not None or len(data) == after.st_size):
            return FileRead(data, file_stat(after), True, len(data) == after.st_size)
        before = after
    return FileRead(data, file_stat(after), False, len(data) == after.st_size)


def _same(a: os.stat_result, b: os.stat_result) -> bool:
    return (a.st_size, a.st_mtime_ns, a.st_ctime_ns) == (b.st_size, b.st_mtime_ns, b.st_ctime_ns)


def _read_all(descriptor: int, n_bytes: int, max_bytes: int | None) -> bytes:
    """Read to the end or to the limit; the size is a hint, since files grow."""
    limit = max_bytes if max_bytes is not None else -1
    parts: list[bytes] = []
    size = 0
    while limit < 0 or size < limit:
        want = max(n_bytes - size + 1, 1 << 12)
        block = os.read(descriptor, want if limit < 0 else min(want, limit - size))
        if not block:
            break
        parts.append(block)
        size += len(block)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _path_error(path: str, error: OSError) -> PathError:
    shown = show_path(path)
    if isinstance(error, FileNotFoundError):
        return PathError(f"no file {shown!r}")
    if isinstance(error, PermissionError):
        return PathError(f"{shown!r} is not readable", hint="check its permissions")
    return PathError(f"{shown!r} is not a regular file inside the root")
