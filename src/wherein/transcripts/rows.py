"""Reads JSON-lines files that a running or killed agent wrote: no row may end the reading."""

from __future__ import annotations

import errno
import json
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from wherein.transcripts.values import Note

__all__ = [
    "Json",
    "RowReader",
    "as_dict",
    "as_int",
    "as_list",
    "as_text",
    "as_time",
    "check_regular",
    "parse_json",
    "read_object",
]

Json = dict[str, Any]
_NUL = b"\0"
_END_OF_TIME = 253_402_300_800
"""The first second of the year 10000."""


@dataclass(slots=True)
class RowReader:
    """Yields the rows that are objects; what else it meets goes into ``notes``.

    ``offset`` is where the next reading begins: behind the last complete row, so that a row still
    being written is read when it is whole.
    """

    path: Path
    offset: int = 0
    line: int = 0
    """1-based number of the last row read."""
    notes: list[Note] = field(default_factory=list[Note])

    def __iter__(self) -> Iterator[tuple[int, Json]]:
        check_regular(self.path)
        with self.path.open("rb") as file:
            file.seek(self.offset)
            for raw in file:
                if not raw.endswith(b"\n"):
                    if raw.strip(_NUL + b" \t\r"):
                        self.notes.append(
                            Note(self.line + 1, "incomplete last row, left for later")
                        )
                    return
                self.offset += len(raw)
                self.line += 1
                row = self._parse(raw)
                if row is not None:
                    yield self.line, row

    def _parse(self, raw: bytes) -> Json | None:
        holes = raw.count(_NUL)
        if holes:
            self.notes.append(Note(self.line, f"{holes} NUL bytes"))
            raw = raw.replace(_NUL, b"")
        if not raw.strip():
            return None
        try:
            value = parse_json(raw)
        except ValueError:
            self.notes.append(Note(self.line, "bad row: not JSON"))
            return None
        if not isinstance(value, dict):
            self.notes.append(Note(self.line, "unknown shape: not an object"))
            return None
        return cast("Json", value)


def check_regular(path: Path) -> None:
    """Refuse what is no regular file: reading a pipe waits for a writer, for ever.

    Raises:
        OSError: It is none, or cannot be looked at.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file")


def read_object(path: Path) -> Json:
    """Return the JSON object a file holds, an empty one when it holds another value.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no JSON.
    """
    check_regular(path)
    return as_dict(parse_json(path.read_bytes()))


def parse_json(text: str | bytes) -> object:
    """Return the value a JSON text stands for.

    Raises:
        ValueError: It is no JSON, or nested deeper than Python reads.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig", "replace")  # a row with a wrong byte is a row
        value: object = json.loads(text)
    except RecursionError as error:
        message = "nested too deeply"
        raise ValueError(message) from error
    return value


def as_dict(value: object) -> Json:
    """Return ``value`` when it is an object, else an empty one."""
    return cast("Json", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return ``value`` when it is a list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_text(value: object) -> str:
    """Return text as it is, nothing as empty, and anything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)


def as_int(value: object) -> int:
    """Return a whole number, 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def as_time(value: object) -> float | None:
    """Return seconds since the epoch from ISO text, seconds or milliseconds.

    None for anything else, and for times before 1970 or after the year 9999.
    """
    seconds = 0.0
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not 0 < value < _END_OF_TIME * 1000:  # whole numbers of any size stand in JSON
            return None
        seconds = value / 1000 if value > 1e11 else float(value)
    elif isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    return seconds if 0 < seconds < _END_OF_TIME else None
