"""Opens the SQLite databases of agents for reading only, and reads them row by row."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from wherein.transcripts.rows import Json, as_dict

__all__ = ["json_value", "query"]


def query(path: Path, statement: str, values: tuple[str, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of ``statement``; a file that is no such database yields nothing.

    The database is opened read-only: an agent may be writing it.
    """
    try:
        database = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)
    except sqlite3.Error:
        return
    try:
        yield from database.execute(statement, values)
    except sqlite3.Error:
        return
    finally:
        database.close()


def json_value(value: object) -> Json:
    """Return the object a text or blob holds, an empty one when it holds none."""
    if isinstance(value, str | bytes):
        try:
            return as_dict(json.loads(value))
        except ValueError:
            return {}
    return {}
