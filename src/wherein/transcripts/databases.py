"""Opens the SQLite databases of agents for reading only, and reads them row by row."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from wherein.transcripts.rows import Json, as_dict, check_regular, parse_json

__all__ = ["json_value", "query"]


def query(path: Path, statement: str, values: tuple[str, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of ``statement``; a database without such a table yields nothing.

    The database is opened read-only: an agent may be writing it.

    Raises:
        OSError: It cannot be read, or is no database.
    """
    check_regular(path)
    try:
        with closing(sqlite3.connect(_address(path), uri=True)) as database:
            yield from database.execute(statement, values)
    except sqlite3.Error as error:
        if str(error).startswith("no such "):  # a table or column of another version
            return
        raise OSError(errno.EIO, str(error)) from error


def _address(path: Path) -> str:
    """Return how SQLite is to open the file, so that it makes no file beside it.

    In write-ahead mode a reader makes the log and its index where they are missing. Without a log
    no agent has the database open, so it can be read as one that nobody changes.
    """
    log = path.with_name(f"{path.name}-wal")
    return f"file:{quote(str(path))}?{'mode=ro' if log.exists() else 'immutable=1'}"


def json_value(value: object) -> Json:
    """Return the object a text or blob holds, an empty one when it holds none."""
    if isinstance(value, str | bytes):
        try:
            return as_dict(parse_json(value))
        except ValueError:
            return {}
    return {}
