"""Says in words what changed between two rankings of the same queries."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.golden.record import Place, Ranking, figures
from benchmarks.golden.sets import GoldenQuery, GoldenRepository


def differences(repository: GoldenRepository, before: Ranking, after: Ranking) -> str:
    """Return what moved, came and went, with the figures before and after; empty when nothing did.

    A row is ``old rank -> new rank``, a star where the file answers the query, path and symbol.
    """
    changed: list[str] = []
    n_changed = 0
    for query in repository.queries:
        old, new = before.get(query.query), after[query.query]
        if old == new:
            continue
        n_changed += 1
        changed += ["", f"  {query.kind}: {query.query}"]
        changed += ["    not recorded yet"] if old is None else _rows(query, old, new)
    gone = sorted(before.keys() - {query.query for query in repository.queries})
    changed += [f"  no longer asked: {query}" for query in gone]
    if not changed:
        return ""
    was, now = figures(repository.queries, before), figures(repository.queries, after)
    head = [
        f"{repository.name}: {n_changed} of {len(repository.queries)} queries answer otherwise",
        f"  before  {was}",
        f"  after   {now}",
    ]
    return "\n".join([*head, *changed]) + "\n"


def _rows(query: GoldenQuery, old: Sequence[Place], new: Sequence[Place]) -> list[str]:
    """Return one line for each file whose rank or symbol is another, in the new order."""
    was = {path: (rank, symbol) for rank, (path, symbol) in enumerate(old, start=1)}
    now = {path: (rank, symbol) for rank, (path, symbol) in enumerate(new, start=1)}
    rows: list[str] = []
    for path in [*now, *(path for path in was if path not in now)]:
        old_place, new_place = was.get(path), now.get(path)
        if old_place == new_place:
            continue
        star = "*" if path in query.expect else " "
        ranks = f"{_rank(old_place)} -> {_rank(new_place)}"
        rows.append(f"    {ranks:10} {star} {path}  {_symbols(old_place, new_place)}".rstrip())
    return rows


def _rank(place: tuple[int, str] | None) -> str:
    return "-" if place is None else str(place[0])


def _symbols(old: tuple[int, str] | None, new: tuple[int, str] | None) -> str:
    if old is not None and new is not None and old[1] != new[1]:
        return f"{old[1] or '(no symbol)'} => {new[1] or '(no symbol)'}"
    place = new or old
    return place[1] if place is not None else ""
