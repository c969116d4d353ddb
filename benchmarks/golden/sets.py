"""Reads the golden queries: which repositories, at which revision, and what answers each query."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

KINDS = ("exact", "behaviour", "cross-file", "past bug")


@dataclass(frozen=True, slots=True)
class GoldenQuery:
    """One query with the files that answer it."""

    kind: str
    query: str
    expect: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GoldenRepository:
    """A pinned repository with its queries."""

    name: str
    url: str
    revision: str
    queries: tuple[GoldenQuery, ...]


def read_queries(file: Path) -> tuple[GoldenRepository, ...]:
    """Return the repositories of a queries file.

    Raises:
        ValueError: A query has an unknown kind, expects nothing or stands there twice.
    """
    tables = tomllib.loads(file.read_text(encoding="utf-8"))["repository"]
    return tuple(
        GoldenRepository(
            table["name"], table.get("url", ""), table.get("revision", ""), _queries(table)
        )
        for table in tables
    )


def _queries(table: dict[str, list[dict[str, object]]]) -> tuple[GoldenQuery, ...]:
    found: dict[str, GoldenQuery] = {}
    for row in table["queries"]:
        query = GoldenQuery(str(row["kind"]), str(row["query"]), tuple(row["expect"]))
        if query.kind not in KINDS or not query.expect or query.query in found:
            message = f"query {query.query!r}: unknown kind, nothing expected, or there twice"
            raise ValueError(message)
        found[query.query] = query
    return tuple(found.values())
