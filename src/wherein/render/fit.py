"""Shows what ranking weights fitted for one repository bring."""

from __future__ import annotations

from wherein.measure.fit import FitReport
from wherein.render.escape import show_path
from wherein.render.rendered import Style
from wherein.render.tables import table

__all__ = ["show_fit"]

_HEAD = ("held out", "NDCG@10", "MRR", "hit@1", "hit@5", "hit@10")


def show_fit(report: FitReport, style: Style) -> str:
    """Return the text of a `FitReport`."""
    role = "good" if report.is_kept else "weak"
    lines = [
        "",
        "ranking weights for this repository",
    ]
    if report.figures:
        lines.append(
            f"  fitted on {report.n_fitted} requests, held out {report.n_held_out} "
            f"({report.situation}); {report.n_out_of_reach} of both have no right file to rank"
        )
    text = "".join(f"{line}\n" for line in lines)
    if report.figures:
        rows = [
            (
                row.ranking,
                f"{row.ndcg_at_10:.3f}",
                f"{row.mrr:.3f}",
                f"{row.hit_at_1:.3f}",
                f"{row.hit_at_5:.3f}",
                f"{row.hit_at_10:.3f}",
            )
            for row in report.figures
        ]
        text += table(_HEAD, rows)
        moved = ", ".join(f"{name} {value:+.3f}" for name, value in report.moved.items())
        text += f"  pull towards the shipped weights: {report.strength:g}; moved most: {moved}\n"
    text += f"  {style.paint(role, report.reason)}\n"
    if report.file:
        text += f"  in {show_path(report.file)}; drop them with: wherein clear --weights\n"
    return text
