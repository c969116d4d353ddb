"""Reads and replaces the files of agents as a whole, behind links, with their permissions."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from wherein.errors import PathError

__all__ = ["check_writable", "read_text", "remove_empty", "remove_file", "write_text"]


def read_text(path: Path) -> str | None:
    """Return the text, its line ends untouched; None when there is no file."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None


def check_writable(path: Path) -> None:
    """Refuse a file that its owner made read-only; replacing it would get round that.

    Raises:
        PathError: The file is there and nobody, or not we, may write to it.
    """
    real = Path(os.path.realpath(path))
    if real.exists() and not (real.stat().st_mode & 0o222 and os.access(real, os.W_OK)):
        message = "the file is read-only"
        raise PathError(message, hint=f"make it writable first: chmod u+w {str(real)!r}")


def write_text(path: Path, text: str) -> tuple[str, ...]:
    """Replace the file as a whole; return the folders that were made, outermost first."""
    real = Path(os.path.realpath(path))
    made: list[str] = []
    for folder in reversed([real.parent, *real.parent.parents]):
        if not folder.exists():
            folder.mkdir()
            made.append(str(folder))
    mode = real.stat().st_mode & 0o7777 if real.exists() else 0o644
    temporary = real.with_name(f".{real.name}.wherein-{os.getpid()}")
    try:
        temporary.write_bytes(text.encode("utf-8"))
        temporary.chmod(mode)
        temporary.replace(real)
    finally:
        temporary.unlink(missing_ok=True)
    return tuple(made)


def remove_file(path: Path) -> None:
    """Remove what a name leads to; a link that led nowhere before stays."""
    Path(os.path.realpath(path)).unlink()


def remove_empty(folders: Iterable[str]) -> None:
    """Remove the folders that install made and that hold nothing now, innermost first."""
    for folder in sorted(folders, key=len, reverse=True):
        with suppress(OSError):
            Path(folder).rmdir()
