"""Writes figures over sessions as one HTML file that needs nothing from outside."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from math import ceil

from wherein.measure.report_charts import Bar, BarGroup, bar_chart, color_of
from wherein.measure.report_html import page
from wherein.measure.sessions import (
    GROUP_COLUMNS,
    SLOW_SEARCHES,
    UNDATED,
    SessionFigures,
    SessionGroup,
    SessionsReport,
    group_cells,
    group_sessions,
    week_of,
)

__all__ = ["to_html"]

_WIDTH = 760
_LEFT = 46
_RIGHT = 130
_HEIGHT = 220
_MAX_WEEKS = 26
"""Older weeks are in the table, not in the plot."""

_MAX_SLOW = 50


def to_html(report: SessionsReport, *, made: datetime | None = None) -> str:
    """Return the whole page.

    Args:
        report: What was measured.
        made: Shown as the time of the report; None leaves it out, so the same report is the same
            bytes.
    """
    sections = [
        "<h1>Searches before the first edit</h1>",
        f'<p class="dim">{escape(_what(report))}</p>',
        *(f'<p class="dim">{escape(note)}.</p>' for note in report.notes),
    ]
    if report.sessions:
        sections += [
            _headline(report),
            _weeks(report),
            _split(report),
            _rates(report),
            _table("By agent", (report.overall, *report.by_agent)),
            _table("By week", report.by_week),
            _slow(report.slow),
        ]
    sections += [_unreadable(report), _method()]
    if made is not None:
        sections.append(f"<p><small>Made {made.astimezone(UTC):%Y-%m-%d %H:%M} UTC.</small></p>")
    return page("Searches before the first edit", sections)


def _what(report: SessionsReport) -> str:
    n = len(report.sessions)
    if not n:
        return "No session that searched, read or edited was found."
    return f"{n} session{'' if n == 1 else 's'} of {len(report.by_agent)} agents on this machine."


def _headline(report: SessionsReport) -> str:
    overall = report.overall
    return (
        f'<div class="headline">A session searches <b>{overall.median_searches:g}</b> times '
        f"(median) before its first edit; <b>{overall.slow_share:.0%}</b> search more than "
        f"{SLOW_SEARCHES} times. Finding puts about {overall.mean_finding_tokens:,.0f} tokens into "
        f"a session's context; {overall.reread_share:.0%} of all reads are of a file read before."
        "</div>"
    )


def _weeks(report: SessionsReport) -> str:
    """Draw the mean by week for each agent; the size of a point tells how many sessions."""
    weeks = [group.label for group in report.by_week if group.label != UNDATED][-_MAX_WEEKS:]
    if not weeks:
        return ""
    series: list[tuple[str, str, list[tuple[int, SessionGroup]]]] = []
    for number, agent in enumerate(report.by_agent):
        mine = [one for one in report.sessions if one.agent == agent.label]
        points = [
            (at, group_sessions(week, [one for one in mine if week_of(one.started) == week]))
            for at, week in enumerate(weeks)
        ]
        points = [(at, group) for at, group in points if group.n_sessions]
        if points:
            series.append((agent.label, color_of(number + 1), points))
    return (
        "<h2>Searches before the first edit by week and agent</h2>"
        + _week_plot(weeks, series)
        + "<p><small>Mean of a week's sessions; a larger point stands for more sessions. The broken"
        f" line is {SLOW_SEARCHES}: above it a session is slow.</small></p>"
    )


def _week_plot(
    weeks: Sequence[str], series: Sequence[tuple[str, str, list[tuple[int, SessionGroup]]]]
) -> str:
    """Draw the series: an agent, its color (as in the other plots), and its weeks."""
    top = 4 * ceil(
        max([SLOW_SEARCHES + 1.0, *(g.mean_searches for *_, points in series for _, g in points)])
        / 4
    )
    width = _WIDTH - _LEFT - _RIGHT

    def x_of(at: int) -> float:
        return _LEFT + width * (at / max(len(weeks) - 1, 1) if len(weeks) > 1 else 0.5)

    def y_of(value: float) -> float:
        return 12 + _HEIGHT * (1 - value / top)

    parts: list[str] = []
    for step in range(5):
        value = top * step / 4
        parts.append(
            f'<line class="grid" x1="{_LEFT}" y1="{y_of(value):.1f}" x2="{_LEFT + width}"'
            f' y2="{y_of(value):.1f}"/><text class="tick" x="{_LEFT - 8}"'
            f' y="{y_of(value) + 4:.1f}" text-anchor="end">{value:.0f}</text>'
        )
    slow = y_of(SLOW_SEARCHES)
    parts.append(
        f'<line class="whisker" x1="{_LEFT}" y1="{slow:.1f}" x2="{_LEFT + width}" y2="{slow:.1f}"'
        ' stroke-dasharray="4 4"/>'
    )
    every = -(-len(weeks) // 8)
    parts.extend(
        f'<text class="tick" x="{x_of(at):.1f}" y="{_HEIGHT + 32}" text-anchor="middle">'
        f"{escape(week)}</text>"
        for at, week in enumerate(weeks)
        if at % every == 0
    )
    for number, (agent, color, points) in enumerate(series):
        line = " ".join(f"{x_of(at):.1f},{y_of(g.mean_searches):.1f}" for at, g in points)
        parts.append(
            f'<polyline points="{line}" fill="none" stroke-width="2" style="stroke:var({color})"/>'
        )
        for at, group in points:
            tip = f"{agent}, {group.label}: {group.mean_searches:.1f}, {group.n_sessions} sessions"
            parts.append(
                f'<circle cx="{x_of(at):.1f}" cy="{y_of(group.mean_searches):.1f}"'
                f' r="{min(3 + group.n_sessions**0.5, 9):.1f}" style="fill:var({color})">'
                f"<title>{escape(tip)}</title></circle>"
            )
        parts.append(
            f'<circle cx="{_WIDTH - _RIGHT + 24}" cy="{20 + 20 * number}" r="5"'
            f' style="fill:var({color})"/><text class="label" x="{_WIDTH - _RIGHT + 34}"'
            f' y="{24 + 20 * number}">{escape(agent)}</text>'
        )
    title = "searches before the first edit by week and agent"
    return (
        f'<svg viewBox="0 0 {_WIDTH} {max(_HEIGHT, 20 * len(series)) + 44}" role="img"'
        f' aria-label="{title}"><title>{title}</title>{"".join(parts)}</svg>'
    )


def _split(report: SessionsReport) -> str:
    if report.before is None or report.after is None or report.split_at is None:
        return ""
    day = datetime.fromtimestamp(report.split_at, UTC)
    return _table(f"Before and after {day:%Y-%m-%d}", (report.before, report.after))


def _rates(report: SessionsReport) -> str:
    groups: list[BarGroup] = []
    for title, name in (
        (f"Slow sessions (over {SLOW_SEARCHES} searches)", "slow_share"),
        ("Reads of a file read before", "reread_share"),
        ("Searches through Wherein", "wherein_share"),
        ("Searches by grep and the like in a shell", "shell_share"),
    ):
        bars: list[Bar] = []
        for number, group in enumerate(report.by_agent):
            share = float(getattr(group, name))
            bars.append(Bar(group.label, share, share, share, color_of(number + 1)))
        groups.append(BarGroup(title, tuple(bars)))
    return "<h2>Shares</h2>" + bar_chart("shares by agent", groups)


def _table(title: str, groups: Sequence[SessionGroup]) -> str:
    if not groups:
        return ""
    head = "".join(f"<th>{cell}</th>" for cell in GROUP_COLUMNS)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in group_cells(group)) + "</tr>"
        for group in groups
    )
    return (
        f'<h2>{escape(title)}</h2><div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _slow(slow: Sequence[SessionFigures]) -> str:
    if not slow:
        return f"<h2>Slow sessions</h2><p>None searched more than {SLOW_SEARCHES} times.</p>"
    rows: list[str] = []
    for one in slow[:_MAX_SLOW]:
        words = "".join(f"<li><code>{escape(word)}</code></li>" for word in one.words_searched)
        where = f"{one.agent}, {week_of(one.started)}, {one.folder or 'folder unknown'}"
        rows.append(
            f"<details><summary><b>{one.searches_before_edit}</b> searches: "
            f"{escape(one.first_request or '(no request)')}</summary>"
            f'<p class="dim">{escape(where)}; {one.n_reads} reads, {one.n_rereads} of them again; '
            f"about {one.finding_tokens:,} tokens on finding</p><ol>{words}</ol></details>"
        )
    more = len(slow) - _MAX_SLOW
    tail = f"<p>{more} more are left out.</p>" if more > 0 else ""
    return "<h2>Slow sessions</h2>" + "".join(rows) + tail


def _unreadable(report: SessionsReport) -> str:
    if not report.unreadable:
        return ""
    rows = "".join(f"<li>{escape(line)}</li>" for line in report.unreadable)
    return f"<h2>Not read</h2><ul>{rows}</ul>"


def _method() -> str:
    return (
        "<h2>How it was counted</h2><p><small>Searches are calls of search tools and of grep, rg, "
        "find and the like in a shell, sub-agents included, up to the first edit (all of them where"
        " nothing was edited). Tokens of tool output are estimated at four characters each. What "
        "looks like a key, token or password is masked.</small></p>"
    )
