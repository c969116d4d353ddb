"""Shows what a replay found, as a table."""

from __future__ import annotations

from typing import cast

from wherein.measure.report import CONTROL, ArmFigures, ReplayReport
from wherein.render.escape import show_path
from wherein.render.fit import show_fit
from wherein.render.rendered import Rendered, Style
from wherein.render.tables import table

__all__ = ["render"]

_HEAD = ("arm", "n", "hit@1", "hit@5", "hit@10", "interval", "MRR", "rounds", "tokens")


def render(result: object, style: Style) -> Rendered:
    """Return the text of a `ReplayReport`."""
    report = cast("ReplayReport", result)
    lines = [style.paint("path", f"replay of {show_path(report.repository)}")]
    lines.append(f"  {report.history}; {_requests(report)}")
    lines.extend(f"  note: {note}" for note in report.notes)
    parts = ["".join(f"{line}\n" for line in lines)]
    groups = list(dict.fromkeys(figure.group for figure in report.figures))
    for group in groups:
        figures = [figure for figure in report.figures if figure.group == group]
        rows = [_row(figure) for figure in figures]
        parts.append(f"\n{group}\n" + table(_HEAD, rows))
    parts.append(_rounds(report))
    parts.append(_differences(report))
    parts.append(_sizes(report))
    if report.fit is not None:
        parts.append(show_fit(report.fit, style))
    if report.skipped:
        shown = ", ".join(f"{count} {reason}" for reason, count in report.skipped.items())
        parts.append(f"\nno requests: {shown}\n")
    return Rendered(tuple(part for part in parts if part))


def _requests(report: ReplayReport) -> str:
    if not report.n_requests:
        return "no request"
    where = f"in {report.n_files} source files as of {report.snapshot[:12]}"
    if report.mode == "parent":
        where = "each in its parent's tree"
    kinds = f"{report.n_named} name code, {report.n_plain} plain"
    return f"{report.n_requests} requests ({kinds}), {where}"


def _row(figure: ArmFigures) -> tuple[str, ...]:
    ten = figure.hit_at[10]
    return (
        figure.arm,
        str(figure.n),
        f"{figure.hit_at[1].mean:.3f}",
        f"{figure.hit_at[5].mean:.3f}",
        f"{ten.mean:.3f}",
        f"{ten.low:.2f}-{ten.high:.2f}",
        f"{figure.mrr:.3f}",
        f"{figure.mean_rounds:.2f}",
        "-" if figure.median_tokens is None else f"{figure.median_tokens:.0f}",
    )


def _rounds(report: ReplayReport) -> str:
    rows = [
        (figure.arm, *(f"{figure.within_rounds[n]:.3f}" for n in (1, 3, 6)))
        for figure in report.figures
        if figure.group == "all"
    ]
    if not rows:
        return ""
    return "\na changed file shown within so many rounds\n" + table(("arm", "1", "3", "6"), rows)


def _differences(report: ReplayReport) -> str:
    rows = [
        (
            f"{item.arm} ({item.group})",
            f"{item.interval.mean:+.3f}",
            f"{item.interval.low:+.3f} to {item.interval.high:+.3f}",
            "clear" if item.is_clear else "",
        )
        for item in report.differences
        if item.k == 10 and item.group in {"all", "named", "plain"}
    ]
    if not rows:
        return ""
    head = ("arm (requests)", f"less {CONTROL}", "95 % interval", "")
    return "\nhit@10 against the control, request by request\n" + table(head, rows)


def _sizes(report: ReplayReport) -> str:
    rows = [(item.arm, str(item.n_files), f"{item.hit_at_10:.3f}") for item in report.sizes]
    if not rows:
        return ""
    return "\nby size of the tree\n" + table(("arm", "files", "hit@10"), rows)
