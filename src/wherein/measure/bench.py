"""Runs one's own labelled queries against search, and fails when a floor is missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean
from typing import TYPE_CHECKING

from wherein.errors import UsageError
from wherein.measure.bench_queries import (
    CEILINGS,
    FLOORS,
    KINDS,
    BenchQuery,
    read_floor,
    read_queries,
)
from wherein.measure.fit import FitReport
from wherein.metrics import ndcg_at, recall_at, reciprocal_rank
from wherein.tools.context import Progress, ToolContext

if TYPE_CHECKING:
    from wherein.store.tree_index import TreeIndex
    from wherein.types import Hit
    from wherein.workspace import Workspace

__all__ = ["BenchFigures", "BenchResult", "QueryOutcome", "bench"]

_LIMIT = 10
_SHOWN_LINES = 3


@dataclass(frozen=True, slots=True)
class QueryOutcome:
    """What search answered to one query."""

    query: str
    kind: str
    expect: tuple[str, ...]
    found: tuple[str, ...]
    """Hits in order as ``path:first-last#symbol``."""
    ranks: Mapping[str, int | None]
    """Rank of the first hit that covers each expected place."""
    recall_at_1: float
    recall_at_5: float
    recall_at_10: float
    precision_at_3: float
    """Share of the first three hits that show an expected place."""
    ndcg_at_10: float
    mrr: float
    tokens: int


@dataclass(frozen=True, slots=True)
class BenchFigures:
    """Means over the queries of one kind, or over all."""

    kind: str
    n: int
    recall_at_1: float
    recall_at_5: float
    recall_at_10: float
    precision_at_3: float
    """Share of the first three hits that show an expected place."""
    without_right: float
    """Share of queries with no expected place among the hits."""
    ndcg_at_10: float
    mrr: float
    tokens: float


@dataclass(frozen=True, slots=True)
class BenchResult:
    """The figures, the queries behind them, and the floors that were missed."""

    figures: tuple[BenchFigures, ...]
    outcomes: tuple[QueryOutcome, ...]
    missed: tuple[str, ...]
    """Each floor that was missed, in words; empty when all were met."""
    notes: tuple[str, ...] = ()
    fit: FitReport | None = None
    """With ``--fit``: what weights fitted for the repository bring."""


def bench(
    context: ToolContext, file: str, *, floor: Sequence[str] = (), fit: bool = False
) -> BenchResult:
    """Run labelled queries and compare the answers with what was expected.

    The file is TOML or JSON: ``[[query]]`` tables with ``query``, ``expect`` (paths, or
    path#Symbol) and ``kind`` (behaviour, exact, impact, past bug), and ``[floors]`` with the least
    recall_at_1, recall_at_5, recall_at_10, precision_at_3, ndcg_at_10 and mrr and the most tokens
    and without_right (share of queries with no right hit). Ends with 1 when a floor is missed, so
    that a build can stop.

    With fit, ranking weights are fitted on two thirds of the queries, and kept and used from then
    on only when the third held out (by a hash of the query) proves them better than those that
    ship. The figures are of the ranking that is in use afterwards.

    Raises:
        PathError: The file cannot be read.
        UsageError: The file or a floor is not of that form, or an expected file does not exist.
        StoreError: The fitted weights cannot be written.
    """
    queries, floors = read_queries(context, file)
    floors.update(read_floor(text) for text in floor)
    workspace = context.workspace(context.root)
    index = workspace.index()
    _check_expected(index, queries)
    fitted = _fitted(context, workspace, queries, file) if fit else None
    outcomes: list[QueryOutcome] = []
    for number, query in enumerate(queries, start=1):
        context.stop_if_cancelled()
        context.on_progress(Progress("queries", number, len(queries), 0, None))
        outcomes.append(_run(workspace, query))
    figures = _figures(outcomes)
    missed = _missed(figures[0], floors)
    return BenchResult(figures, tuple(outcomes), missed, _notes(workspace), fitted)


def _fitted(
    context: ToolContext, workspace: Workspace, queries: Sequence[BenchQuery], file: str
) -> FitReport:
    from wherein.measure.fit import Origin, fit_and_keep
    from wherein.measure.fit_bench import collect_queries

    def tell(step: str, n_done: int, n_total: int) -> None:
        context.stop_if_cancelled()
        context.on_progress(Progress(step, n_done, n_total, 0, None))

    origin = Origin(
        workspace.layout.family, f"{datetime.now(UTC):%Y-%m-%d}", f"wherein bench {file} --fit"
    )
    return fit_and_keep(collect_queries(workspace, queries, tell), origin)


def _notes(workspace: Workspace) -> tuple[str, ...]:
    """Say which weights ranked the answers where they are not those that ship."""
    ranking = workspace.ranking()
    if ranking.own is not None:
        return (f"ranked with weights {ranking.name}; queries they were fitted on flatter them",)
    return (f"ranking: {ranking.name}",) if ranking.is_ignoring else ()


def _check_expected(index: TreeIndex, queries: Sequence[BenchQuery]) -> None:
    """Refuse labels that nothing can meet: they would look like misses of the search."""
    for query in queries:
        for place in query.expect:
            path, _, symbol = place.partition("#")
            ordinal = index.find(path)
            if ordinal is None:
                message = f"expected file {path!r} is not indexed"
                raise UsageError(message, hint=f"mend the query {query.query!r}")
            if symbol and not _lines_of(index, ordinal, symbol):
                message = f"{path!r} defines no {symbol!r}"
                raise UsageError(message, hint=f"mend the query {query.query!r}")


def _lines_of(index: TreeIndex, ordinal: int, symbol: str) -> list[tuple[int, int]]:
    """Return first and last line of the definitions that a name, full or cut, means."""
    wanted = symbol.replace("::", ".").replace("#", ".")
    found: list[tuple[int, int]] = []
    for item in index.definitions_in(ordinal):
        definition = item.definition
        full = ".".join((*definition.enclosing, definition.name))
        if full == wanted or full.endswith(f".{wanted}"):
            found.append((definition.start_line, definition.end_line))
    return found


def _run(workspace: Workspace, query: BenchQuery) -> QueryOutcome:
    answer = workspace.search(query.query, limit=_LIMIT)
    index = workspace.index()
    covered: list[str] = []
    seen: set[str] = set()
    for place, hit in enumerate(answer.hits):
        names = [e for e in query.expect if e not in seen and _covers(index, hit, e)]
        seen.update(names)
        covered.append(names[0] if names else f"other {place}")
        # A hit that covers two expected places at once meets both at its rank.
        covered.extend(names[1:])
    first = {name: _rank_of(index, answer.hits, name) for name in query.expect}
    return QueryOutcome(
        query=query.query,
        kind=query.kind,
        expect=query.expect,
        found=tuple(_shown(hit) for hit in answer.hits),
        ranks=first,
        recall_at_1=recall_at(covered, query.expect, 1),
        recall_at_5=recall_at(covered, query.expect, 5),
        recall_at_10=recall_at(covered, query.expect, 10),
        precision_at_3=_precision(index, answer.hits, query),
        ndcg_at_10=ndcg_at(covered, query.expect, 10),
        mrr=reciprocal_rank(covered, query.expect, 10),
        tokens=_tokens(answer.hits),
    )


def _precision(index: TreeIndex, hits: Sequence[Hit], query: BenchQuery) -> float:
    """Return the share of the first three places that hold a hit with an expected place."""
    right = [any(_covers(index, hit, place) for place in query.expect) for hit in hits[:3]]
    return sum(right) / 3


def _rank_of(index: TreeIndex, hits: Sequence[Hit], expected: str) -> int | None:
    return next((hit.rank for hit in hits if _covers(index, hit, expected)), None)


def _covers(index: TreeIndex, hit: Hit, expected: str) -> bool:
    """Return whether a hit shows an expected file, or lines of the expected symbol."""
    path, _, symbol = expected.partition("#")
    ordinal = index.find(path)
    if hit.path != path or ordinal is None:
        return False
    if not symbol:
        return True
    spans = [(hit.start_line, hit.end_line)]
    spans += [(span.start_line, span.end_line) for span in hit.further]
    defined = _lines_of(index, ordinal, symbol)
    return any(a <= last and b >= first for a, b in spans for first, last in defined)


def _shown(hit: Hit) -> str:
    name = f"#{hit.symbol}" if hit.symbol else ""
    return f"{hit.path}:{hit.start_line}-{hit.end_line}{name}"


def _tokens(hits: Sequence[Hit]) -> int:
    """Return about what the answer costs a model: headings, signatures, three lines a hit."""
    from wherein.budget import count_tokens

    lines = [f"{_shown(hit)} {hit.signature}" for hit in hits]
    return count_tokens("\n".join(lines)) + sum(
        12 * min(len(hit.matched_lines), _SHOWN_LINES) for hit in hits
    )


def _figures(outcomes: Sequence[QueryOutcome]) -> tuple[BenchFigures, ...]:
    groups = {"all": list(outcomes)}
    groups.update({kind: [o for o in outcomes if o.kind == kind] for kind in KINDS})
    return tuple(
        BenchFigures(
            kind=kind,
            n=len(members),
            recall_at_1=fmean(o.recall_at_1 for o in members),
            recall_at_5=fmean(o.recall_at_5 for o in members),
            recall_at_10=fmean(o.recall_at_10 for o in members),
            precision_at_3=fmean(o.precision_at_3 for o in members),
            without_right=fmean(float(not any(o.ranks.values())) for o in members),
            ndcg_at_10=fmean(o.ndcg_at_10 for o in members),
            mrr=fmean(o.mrr for o in members),
            tokens=fmean(o.tokens for o in members),
        )
        for kind, members in groups.items()
        if members
    )


def _missed(figures: BenchFigures, floors: Mapping[str, float]) -> tuple[str, ...]:
    missed: list[str] = []
    for name, floor in sorted(floors.items()):
        value = float(getattr(figures, name))
        if name in CEILINGS and value > floor:
            shown = f"{value:.0f}" if name == "tokens" else f"{value:.3f}"
            missed.append(f"{name} is {shown}, above {floor:g}")
        if name in FLOORS and value < floor:
            missed.append(f"{name} is {value:.3f}, below {floor:g}")
    return tuple(missed)
