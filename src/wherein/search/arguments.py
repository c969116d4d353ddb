"""Checks what a caller of the library gives, which no type checker may have seen."""

from __future__ import annotations

from wherein.errors import QueryError

__all__ = ["check_limit", "check_line", "check_text"]


def check_text(query: object) -> None:
    """Raise unless ``query`` is a text.

    Raises:
        QueryError: It is something else.
    """
    if not isinstance(query, str):
        message = f"the query is {query!r}, which is no text"
        raise QueryError(message, hint="give words, a name, a message as a str")


def check_limit(limit: object) -> None:
    """Raise unless ``limit`` is a whole number from 1.

    Raises:
        QueryError: It is something else.
    """
    if not _is_from_one(limit):
        message = f"limit cannot be {limit!r}"
        raise QueryError(message, hint="the most hits wanted: a whole number from 1")


def check_line(line: object) -> None:
    """Raise unless ``line`` is a whole number from 1.

    Raises:
        QueryError: It is something else.
    """
    if not _is_from_one(line):
        message = f"line cannot be {line!r}"
        raise QueryError(message, hint="lines are counted from 1")


def _is_from_one(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
