"""Writes the page of a report to the file that was named."""

from __future__ import annotations

from pathlib import Path

from wherein.errors import PathError
from wherein.tools.context import ToolContext

__all__ = ["check_page", "write_page"]

_HINT = "name a file in a folder that exists"


def check_page(context: ToolContext, name: str) -> None:
    """Refuse a page that cannot be written before minutes are spent on it.

    Raises:
        PathError: It is a folder, or in a folder that does not exist.
    """
    target = _target(context, name)
    if target.is_dir() or not target.parent.is_dir():
        message = f"{name!r} cannot be written"
        raise PathError(message, hint=_HINT)


def write_page(context: ToolContext, name: str, html: str) -> None:
    """Write a page to the file ``name``, seen from where the person stands.

    Raises:
        PathError: It cannot be written.
    """
    try:
        _target(context, name).write_text(html, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        message = f"{name!r} cannot be written: {error.strerror}"
        raise PathError(message, hint=_HINT) from error


def _target(context: ToolContext, name: str) -> Path:
    return (context.standing or context.root) / Path(name).expanduser()
