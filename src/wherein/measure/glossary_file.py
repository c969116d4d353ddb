"""The file for agents that holds a repository's glossary."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.errors import PathError

if TYPE_CHECKING:
    from wherein.glossary_block import Block

__all__ = ["glossary_file", "read_bytes", "read_glossary", "write_bytes"]


def read_glossary(top: Path) -> Block | None:
    """Return the glossary in a repository's file for agents, None when there is none.

    Raises:
        PathError: The file cannot be read.
        UsageError: Its markers are broken.
    """
    from wherein.glossary_block import read_block

    return read_block(read_bytes(glossary_file(top, None)))


def glossary_file(top: Path, name: str | None) -> Path:
    """Return the file that holds or is to hold the lines.

    Raises:
        PathError: It lies outside the repository, through a link, too.
    """
    from wherein.glossary_block import GLOSSARY_FILES, read_block

    if name is not None:
        target = top / name
    else:
        there = [top / item for item in GLOSSARY_FILES if (top / item).is_file()]
        with_one = [path for path in there if read_block(read_bytes(path)) is not None]
        target = (*with_one, *there, top / GLOSSARY_FILES[0])[0]
    real = target.resolve()
    if not real.is_relative_to(top):
        message = f"{name or target.name!r} is outside the repository"
        raise PathError(message, hint=f"name a file below {top}")
    return real


def read_bytes(path: Path) -> bytes:
    """Return what a file holds, nothing when there is none.

    Raises:
        PathError: It cannot be read.
    """
    try:
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "not a regular file")
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        message = f"{path.name!r} cannot be read: {error.strerror}"
        raise PathError(message, hint="name a file with --file") from error


def write_bytes(path: Path, data: bytes) -> None:
    """Put ``data`` in place of the file, whole or not at all, with the file's mode.

    Raises:
        PathError: It cannot be written.
    """
    temporary = path.with_name(f".{path.name}.wherein-{os.getpid()}")
    try:
        temporary.write_bytes(data)
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o7777)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        message = f"{path.name!r} cannot be written: {error.strerror}"
        raise PathError(message, hint="name a file with --file") from error
