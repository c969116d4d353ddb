"""Shows how much agents search before they edit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast

from wherein.measure.sessions import (
    GROUP_COLUMNS,
    SLOW_SEARCHES,
    SessionFigures,
    SessionGroup,
    SessionsReport,
    group_cells,
)
from wherein.render.escape import show_line
from wherein.render.rendered import Rendered, Style
from wherein.render.tables import table

__all__ = ["messages", "render"]

_MAX_SLOW = 20


def render(result: object, style: Style) -> Rendered:
    """Return the text of a `SessionsReport`."""
    report = cast("SessionsReport", result)
    if report.is_empty:
        text = "no session that searched, read or edited\n"
        return Rendered((text, *_notes(report)), is_found=False)
    parts = [
        style.paint("path", "searches before the first edit")
        + f" (slow: more than {SLOW_SEARCHES})\n",
        *_notes(report),
        _groups("by agent", (*report.by_agent, report.overall)),
    ]
    if report.before is not None and report.after is not None and report.split_at is not None:
        day = datetime.fromtimestamp(report.split_at, UTC)
        parts.append(_groups(f"before and after {day:%Y-%m-%d}", (report.before, report.after)))
    parts.append(_groups("by week", report.by_week))
    if report.slow:
        parts.append("\nslow sessions\n")
        parts += [_session(one, style) for one in report.slow[:_MAX_SLOW]]
        more = len(report.slow) - _MAX_SLOW
        if more > 0:
            parts.append(f"  and {more} more, see --html or --json\n")
    return Rendered(tuple(parts))


def messages(result: object) -> list[str]:
    """Return what could not be read, for standard error."""
    report = cast("SessionsReport", result)
    return [f"not read: {line}" for line in report.unreadable]


def _notes(report: SessionsReport) -> list[str]:
    return [f"note: {note}\n" for note in report.notes]


def _groups(title: str, groups: Sequence[SessionGroup]) -> str:
    rows = [group_cells(group) for group in groups]
    return f"\n{title}\n" + table(GROUP_COLUMNS, rows)


def _session(one: SessionFigures, style: Style) -> str:
    request = show_line(one.first_request) or "(no request)"
    count = style.paint("weak", f"{one.searches_before_edit:4}")
    words = ", ".join(show_line(word) for word in one.words_searched)
    return f"{count}  {one.agent}: {request}\n" + (f"      searched: {words}\n" if words else "")
