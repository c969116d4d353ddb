"""Measures how much the user's own agents search before they edit, from their transcripts.

The headline is an article's: searches before the first edit, where more than five is a slow
session. Nothing leaves the machine, and what is shown has its secrets masked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePath
from statistics import fmean, median

from wherein.measure.masking import mask_secrets
from wherein.transcripts.actions import uses_wherein
from wherein.transcripts.values import ActionKind, Session, ToolCall

__all__ = [
    "GROUP_COLUMNS",
    "SLOW_SEARCHES",
    "UNDATED",
    "SessionFigures",
    "SessionGroup",
    "SessionsReport",
    "group_cells",
    "group_sessions",
    "measure_sessions",
    "week_of",
]

SLOW_SEARCHES = 5
"""A session with more searches before its first edit is slow."""

CHARS_PER_TOKEN = 4
"""Model tokens of tool output are not in every transcript; four characters a token is the usual
estimate for code and English, and is said to be one."""

UNDATED = "no date"
"""Label of the sessions that are in no week."""

MAX_SHOWN_CHARS = 300
MAX_WORDS = 12
MAX_READ_CHARS = 50_000


@dataclass(frozen=True, slots=True)
class SessionFigures:
    """What one session spent on finding."""

    agent: str
    session_id: str
    folder: str
    started: float | None
    first_request: str
    """First prompt, masked and cut."""
    searches_before_edit: int
    """Sub-agents included; all searches when nothing was edited."""
    own_searches_before_edit: int
    """Without the sub-agents'."""
    has_edit: bool
    n_searches: int
    n_reads: int
    n_rereads: int
    """Reads of a file that the session had read before and not edited since."""
    n_wherein: int
    """Searches through Wherein."""
    n_shell_searches: int
    """Searches by grep, find and the like in a shell."""
    finding_tokens: int
    """Estimated model tokens that searches and reads before the first edit put into the context."""
    output_tokens: int
    words_searched: tuple[str, ...]
    n_notes: int

    @property
    def is_slow(self) -> bool:
        """Whether more than `SLOW_SEARCHES` searches came before the first edit."""
        return self.searches_before_edit > SLOW_SEARCHES


@dataclass(frozen=True, slots=True)
class SessionGroup:
    """Figures of several sessions together."""

    label: str
    n_sessions: int
    median_searches: float
    mean_searches: float
    slow_share: float
    reread_share: float
    """Of all reads."""
    wherein_share: float
    """Of all searches."""
    shell_share: float
    """Of all searches."""
    mean_finding_tokens: float


GROUP_COLUMNS = ("", "sessions", "median", "mean", "slow", "reread", "wherein", "shell", "tokens")
"""Headings of what `group_cells` returns."""


def group_cells(group: SessionGroup) -> tuple[str, ...]:
    """Return the figures of a group as every table shows them."""
    return (
        group.label,
        str(group.n_sessions),
        f"{group.median_searches:g}",
        f"{group.mean_searches:.1f}",
        f"{group.slow_share:.0%}",
        f"{group.reread_share:.0%}",
        f"{group.wherein_share:.0%}",
        f"{group.shell_share:.0%}",
        f"{group.mean_finding_tokens:,.0f}",
    )


@dataclass(frozen=True, slots=True)
class SessionsReport:
    """All groups, and the sessions behind them, the slowest first in ``slow``."""

    overall: SessionGroup
    by_agent: tuple[SessionGroup, ...]
    by_week: tuple[SessionGroup, ...]
    before: SessionGroup | None
    after: SessionGroup | None
    split_at: float | None
    slow: tuple[SessionFigures, ...]
    sessions: tuple[SessionFigures, ...]
    unreadable: tuple[str, ...] = ()
    n_undated: int = 0
    """Sessions without a time: in no week's figures, and neither before nor after a day."""
    n_undated_left_out: int = 0
    """Sessions without a time that were left out because only those since a day are asked for."""
    n_without_folder: int = 0
    """Sessions of unknown folder that were left out because only one folder's are asked for."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the figures leave out, in words."""
        said = (
            (self.n_undated, "without a date: in no week, and neither before nor after a day"),
            (self.n_undated_left_out, "without a date: left out, as they may be from before"),
            (self.n_without_folder, "of unknown folder: left out, as they may be of another one"),
        )
        return tuple(f"{n} session{'' if n == 1 else 's'} {what}" for n, what in said if n)

    @property
    def is_empty(self) -> bool:
        """Whether no session was found: the command then ends with 1."""
        return not self.sessions


def measure_sessions(
    sessions: Iterable[Session],
    *,
    since: float | None = None,
    split_at: float | None = None,
    folder: str | None = None,
    unreadable: Sequence[str] = (),
) -> SessionsReport:
    """Return the report over sessions that searched, read or edited at all.

    Args:
        sessions: As `transcripts.load.load_sessions` gives them.
        since: Seconds since the epoch; only sessions that began then or later.
        split_at: Seconds since the epoch; sessions before and after are compared.
        folder: Only sessions that worked in this folder or below.
        unreadable: Files that could not be read, to be named in the report.
    """
    active = [f for f in map(_figures, sessions) if f.n_searches + f.n_reads + f.has_edit]
    placed = [f for f in active if _is_in(f.folder, folder)]
    figures = [f for f in placed if since is None or (f.started or 0.0) >= since]
    n_undated = sum(f.started is None for f in figures)
    n_undated_left_out = sum(f.started is None for f in placed) - n_undated
    agents: dict[str, list[SessionFigures]] = defaultdict(list)
    weeks: dict[str, list[SessionFigures]] = defaultdict(list)
    for figure in figures:
        agents[figure.agent].append(figure)
        weeks[week_of(figure.started)].append(figure)
    before = after = None
    if split_at is not None:
        dated = [figure for figure in figures if figure.started is not None]
        before = group_sessions("before", [f for f in dated if (f.started or 0) < split_at])
        after = group_sessions("after", [f for f in dated if (f.started or 0) >= split_at])
    slow = sorted(
        (figure for figure in figures if figure.is_slow),
        key=lambda f: (-f.searches_before_edit, f.agent, f.session_id),
    )
    return SessionsReport(
        group_sessions("all", figures),
        tuple(group_sessions(name, agents[name]) for name in sorted(agents)),
        tuple(group_sessions(name, weeks[name]) for name in sorted(weeks)),
        before,
        after,
        split_at,
        tuple(slow),
        tuple(figures),
        tuple(unreadable),
        n_undated,
        n_undated_left_out,
        0 if folder is None else sum(not f.folder for f in active),
    )


def _is_in(path: str, folder: str | None) -> bool:
    return folder is None or (bool(path) and PurePath(path).is_relative_to(folder))


def week_of(started: float | None) -> str:
    """Return the ISO week of a time (UTC), ``2025-W07``; ``no date`` without one."""
    if started is None:
        return UNDATED
    year, week, _ = datetime.fromtimestamp(started, UTC).isocalendar()
    return f"{year}-W{week:02d}"


def _figures(session: Session) -> SessionFigures:
    edits = [call.order for call in session.calls if call.kind is ActionKind.EDIT]
    first_edit = min(edits, default=None)
    before = [call for call in session.calls if first_edit is None or call.order < first_edit]
    searches = [call for call in session.calls if call.kind is ActionKind.SEARCH]
    early = [call for call in before if call.kind is ActionKind.SEARCH]
    finding = [call for call in before if call.kind in {ActionKind.SEARCH, ActionKind.READ}]
    first = session.prompts[0].text if session.prompts else ""
    return SessionFigures(
        session.agent,
        session.session_id,
        session.folder,
        session.started,
        _shown(first),
        len(early),
        sum(not call.subagent for call in early),
        first_edit is not None,
        len(searches),
        sum(call.kind is ActionKind.READ for call in session.calls),
        _rereads(session.calls),
        sum(map(uses_wherein, searches)),
        sum(_is_shell(call) for call in searches),
        sum(call.output_chars or 0 for call in finding) // CHARS_PER_TOKEN,
        session.usage.output,
        _words(early),
        len(session.notes),
    )


def _shown(text: str) -> str:
    # Masked before it is cut, so that no part of a secret is shown; of a log of megabytes only the
    # beginning can come into what is shown.
    line = mask_secrets(" ".join(text[:MAX_READ_CHARS].split()))
    return line if len(line) <= MAX_SHOWN_CHARS else line[: MAX_SHOWN_CHARS - 1] + "…"


def _is_shell(call: ToolCall) -> bool:
    name = call.name.lower()
    return any(word in name for word in ("bash", "shell", "exec", "terminal")) and not uses_wherein(
        call
    )


def _rereads(calls: Sequence[ToolCall]) -> int:
    """Count reads of a path already read by the same reader and not edited in between."""
    seen: set[tuple[str, str]] = set()
    n = 0
    for call in calls:
        path = call.path or call.argument
        if call.kind is ActionKind.EDIT:
            seen = {known for known in seen if known[1] != path}
        elif call.kind is ActionKind.READ:
            n += (call.subagent, path) in seen
            seen.add((call.subagent, path))
    return n


def _words(calls: Sequence[ToolCall]) -> tuple[str, ...]:
    counts = Counter(_shown(call.argument) for call in calls)
    return tuple(word for word, _ in counts.most_common(MAX_WORDS))


def group_sessions(label: str, figures: Sequence[SessionFigures]) -> SessionGroup:
    """Return the figures of several sessions together."""
    if not figures:
        return SessionGroup(label, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    searches = [figure.searches_before_edit for figure in figures]
    n_searches = max(sum(figure.n_searches for figure in figures), 1)
    n_reads = max(sum(figure.n_reads for figure in figures), 1)
    return SessionGroup(
        label,
        len(figures),
        float(median(searches)),
        fmean(searches),
        fmean(figure.is_slow for figure in figures),
        sum(figure.n_rereads for figure in figures) / n_reads,
        sum(figure.n_wherein for figure in figures) / n_searches,
        sum(figure.n_shell_searches for figure in figures) / n_searches,
        fmean(figure.finding_tokens for figure in figures),
    )
