"""The sessions command: how much the user's agents search before they edit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.errors import PathError
from wherein.measure.page_file import write_page
from wherein.measure.replay import read_date
from wherein.tools.context import ToolContext

if TYPE_CHECKING:
    from wherein.measure.sessions import SessionsReport

__all__ = ["sessions"]


def sessions(
    context: ToolContext,
    *,
    agent: Sequence[str] = (),
    since: str | None = None,
    split: str | None = None,
    folder: str | None = None,
    home: str | None = None,
    html: str | None = None,
) -> SessionsReport:
    """Read the transcripts of your agents and count what finding costs them.

    Says how many searches come before the first edit (more than five is a slow session), how often
    files are read again, what finding puts into the context, and how many searches go through
    Wherein or through grep in a shell; by agent and week, and before and after a day. The slow
    sessions are listed with their first request and the words searched, secrets masked. Transcripts
    are only read, and nothing leaves the machine.

    Raises:
        PathError: The home is no folder, or the report cannot be written.
        QueryError: An agent's name is unknown.
        UsageError: A date is wrong.
    """
    from wherein.measure.sessions import measure_sessions
    from wherein.transcripts.load import load_sessions
    from wherein.walk.paths import show_path

    start, split_at = read_date(since), read_date(split)
    standing = context.standing or context.root
    place = Path(home if home is not None else "~").expanduser()
    if not (standing / place).is_dir():
        message = f"{home or str(place)!r} is no folder"
        raise PathError(message, hint="--home names the folder with .claude, .codex and the like")
    inside = None
    if folder is not None:
        # Not resolved: the folder may be gone, and transcripts name it as it was written.
        inside = os.path.normpath(standing / Path(folder).expanduser())
    known = [inside] if inside is not None else []
    loaded = load_sessions(standing / place, agents=agent, folders=[*known, str(context.root)])
    report = measure_sessions(
        loaded.sessions,
        since=start,
        split_at=split_at,
        folder=inside,
        unreadable=[f"{show_path(str(path))}: {reason}" for path, reason in loaded.unreadable],
    )
    if html is not None:
        from wherein.measure.sessions_html import to_html

        write_page(context, html, to_html(report, made=datetime.now(UTC)))
    return report
