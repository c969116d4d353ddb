"""Shows how search did on one's own labelled queries."""

from __future__ import annotations

from typing import cast

from wherein.measure.bench import BenchFigures, BenchResult
from wherein.render.escape import show_line
from wherein.render.fit import show_fit
from wherein.render.rendered import Rendered, Style
from wherein.render.tables import table

__all__ = ["render"]

_HEAD = (
    *("queries", "n", "recall@1", "recall@5", "recall@10", "NDCG@10", "MRR"),
    *("P@3", "none right", "tokens"),
)
_SHOWN_HITS = 3


def render(result: object, style: Style) -> Rendered:
    """Return the text of a `BenchResult`; a missed floor ends the command with 1."""
    found = cast("BenchResult", result)
    parts = [table(_HEAD, [_row(figure) for figure in found.figures])]
    for outcome in found.outcomes:
        lost = [place for place, rank in outcome.ranks.items() if rank is None]
        if not lost:
            continue
        lines = [f"\nmissed by {show_line(outcome.query)!r} ({outcome.kind}):"]
        lines += [f"  expected {style.paint('bad', show_line(place))}" for place in lost]
        lines += [f"  found    {show_line(hit)}" for hit in outcome.found[:_SHOWN_HITS]]
        parts.append("".join(f"{line}\n" for line in lines))
    parts.extend(f"note: {show_line(note)}\n" for note in found.notes)
    if found.fit is not None:
        parts.append(show_fit(found.fit, style))
    parts.extend(f"{style.paint('bad', 'floor missed')}: {text}\n" for text in found.missed)
    return Rendered(tuple(parts), is_found=not found.missed)


def _row(figure: BenchFigures) -> tuple[str, ...]:
    return (
        figure.kind,
        str(figure.n),
        f"{figure.recall_at_1:.3f}",
        f"{figure.recall_at_5:.3f}",
        f"{figure.recall_at_10:.3f}",
        f"{figure.ndcg_at_10:.3f}",
        f"{figure.mrr:.3f}",
        f"{figure.precision_at_3:.3f}",
        f"{figure.without_right:.3f}",
        f"{figure.tokens:.0f}",
    )
