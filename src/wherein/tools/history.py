"""Asks earlier commits: by words, for a place, why a line is there, what changes together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from wherein.errors import PathError, QueryError, UsageError
from wherein.tools.context import ToolContext
from wherein.tools.file_paths import Place
from wherein.tools.history_asked import AskedHistory, split_place

if TYPE_CHECKING:
    from wherein.history.cochange import Companion
    from wherein.history.view import CommitLine, HistoryView

__all__ = ["FoundCommit", "HistoryResult", "history", "lines_text"]

_SHOWN_FILES = 6
_WITH_SYMBOLS = 20
"""Commits whose diffs are read for the names they touched: one git process each."""

_MAX_RANGE_LINES = 400
"""Longer ranges are answered from the whole file's commits; git would take seconds."""


@dataclass(frozen=True, slots=True)
class FoundCommit:
    """One commit of the answer."""

    sha: str
    """The first 12 digits; empty for lines that are not committed yet."""
    date: str
    """Day it was committed (UTC), as 2025-01-31."""
    author: str
    subject: str
    body: str
    """The rest of the message; empty unless the detail is full."""
    files: tuple[str, ...]
    """Files it changed, under today's names; at most six, or all with full detail."""
    n_files: int
    """All files it changed, those that are gone included."""
    symbols: tuple[str, ...]
    """Names around the changed lines, as they were then."""
    similarity: float | None = None
    """How like its message is to the query, 0 to 1; None without a query."""
    lines: tuple[tuple[int, int], ...] = ()
    """Lines of the place (first, last) that it wrote, where lines were asked for."""


@dataclass(frozen=True, slots=True)
class HistoryResult:
    """What earlier commits say."""

    commits: tuple[FoundCommit, ...]
    companions: tuple[Companion, ...]
    """Files that usually change with the given ones, most surely first."""
    place: str
    """The file and lines that were asked for, empty for none."""
    known: str
    """How much history there is, in words; says when it was cut (a shallow clone, grafts)."""
    has_more: bool = False
    notes: tuple[str, ...] = ()
    offset: int = 0
    """Commits left out from the start."""


def history(
    context: ToolContext,
    query: str = "",
    *,
    place: str = "",
    together: Sequence[str] = (),
    limit: int = 10,
    offset: int = 0,
    detail: str = "concise",
) -> HistoryResult:
    """Ask why code is as it is and what a change usually takes with it.

    With a query: commits whose messages are about it, likest first, with the files and symbols they
    changed. With a place (path, path:line, path:first-last, path#Symbol): the commits that changed
    it, renames followed; for lines, the commit that wrote each comes first: why the line is there.
    Both together: the place's commits that are about the query. With ``together``: the files that
    usually change with these, with how often (support), how surely (confidence) and how much more
    than chance (lift, 1 is chance) — look at them before you say a change is complete.

    Raises:
        QueryError: Nothing was asked.
        PathError: The place does not exist and never did, or there is no git repository.
        UsageError: The place has no such line or symbol.
    """
    if not query.strip() and not place and not together:
        message = "nothing was asked"
        raise QueryError(message, hint="give a query, a place, or files to look for companions of")
    asked = AskedHistory.open(context, place or (together[0] if together else ""))
    known = str(asked.history.state())
    if asked.view is None:
        for name in (split_place(place)[0] if place else "", *together):
            if name:
                asked.known_path(name)  # what is wrong with the place is said all the same
        nothing = "nothing is known of earlier commits here"
        return HistoryResult((), (), place, known, notes=(nothing,))
    companions = _companions(asked, together, limit) if together else ()
    commits: list[FoundCommit] = []
    notes: list[str] = []
    if place:
        commits, notes = _of_place(asked, place, query, offset + limit + 1)
    elif query.strip():
        commits = _of_query(asked, query, offset + limit + 1)
        notes = _place_note(asked, query)
    shown = [_detailed(asked, commit, detail) for commit in commits[offset : offset + limit]]
    return HistoryResult(
        commits=tuple(_with_symbols(asked, shown)),
        companions=companions,
        place=place,
        known=known,
        has_more=len(commits) > offset + limit,
        notes=tuple(notes),
        offset=offset,
    )


def _place_note(asked: AskedHistory, query: str) -> list[str]:
    """Return that the words of a query are a path, when they are one that is or was there."""
    name = split_place(query.strip())[0]
    if not ("/" in name or "." in name) or " " in name:
        return []
    try:
        asked.known_path(name)
    except (PathError, UsageError):
        return []
    return [f"{name} is a path: what changed it comes when it is asked for as the place (--for)"]


def _of_query(asked: AskedHistory, query: str, limit: int) -> list[FoundCommit]:
    from wherein.history.votes import commit_scores, query_terms

    view = asked.known
    scores, ceiling = commit_scores(view, query_terms(query))
    rows = sorted(scores.nonzero()[0].tolist(), key=lambda row: (-scores[row], -view.order[row]))
    chosen = rows[:limit]
    return [
        replace(
            _found(view, line, row), similarity=round(min(float(scores[row]) / ceiling, 1.0), 4)
        )
        for row, line in zip(chosen, view.lines(chosen), strict=True)
    ]


def _of_place(
    asked: AskedHistory, place: str, query: str, limit: int
) -> tuple[list[FoundCommit], list[str]]:
    """Return the commits that changed a place, and what is to be said of the answer."""
    name, lines, symbol = split_place(place)
    path, found = asked.known_path(name)
    if symbol:
        lines = _symbol_lines(asked, found, path, symbol)
    if lines is not None and found is not None and not query.strip():
        return _of_lines(asked, found, path, lines, limit)
    view = asked.known
    rows = _rows_of(view, asked.git.prefix, path, found)
    notes = [] if found is not None else [f"{name} is gone from the tree"]
    if query.strip():
        from wherein.history.votes import commit_scores, query_terms

        scores, _ = commit_scores(view, query_terms(query))
        rows = sorted(
            (r for r in rows if scores[r] > 0), key=lambda r: (-scores[r], -view.order[r])
        )
    chosen = rows[:limit]
    return [
        _found(view, line, r) for r, line in zip(chosen, view.lines(chosen), strict=True)
    ], notes


def _rows_of(view: HistoryView, prefix: str, path: str, found: Place | None) -> list[int]:
    """Return the rows that changed a file, everything below a folder, or a file that is gone."""
    full = prefix + path
    if found is None:
        return view.rows_naming(full)
    if not found.is_folder:
        file_id = view.file_ids.get(full)
        return [] if file_id is None else view.rows_changing(file_id).tolist()
    start = "" if full in {"", "."} else f"{full.rstrip('/')}/"
    ids = [i for known, i in view.file_ids.items() if known.startswith(start)]
    rows = {row for file_id in ids for row in view.rows_changing(file_id).tolist()}
    return sorted(rows, key=lambda row: -view.order[row])


def _symbol_lines(
    asked: AskedHistory, found: Place | None, path: str, symbol: str
) -> tuple[int, int] | None:
    from wherein.tools.symbols import symbol_lines

    if found is None:
        return None
    return symbol_lines(asked.scope.settings, asked.git.root, path, symbol)


def _of_lines(
    asked: AskedHistory, found: Place, path: str, lines: tuple[int, int], limit: int
) -> tuple[list[FoundCommit], list[str]]:
    """Return first the commits that wrote the lines as they are, then those before them."""
    from wherein.history.lines import line_origins, range_commits, to_committed_lines
    from wherein.history.source import boundary_commits
    from wherein.walk.encoding import decode
    from wherein.walk.reading import read_file

    decoded = decode(read_file(asked.git.root, path).data)
    text = decoded.text if decoded is not None else ""
    n_lines = len(text.splitlines())
    if lines[0] > n_lines:
        message = f"{path!r} has {n_lines} lines, not {lines[0]}"
        raise UsageError(message, hint=f"ask for lines 1 to {n_lines}")
    start, end = lines[0], min(lines[1], n_lines, lines[0] + _MAX_RANGE_LINES - 1)
    notes = [] if end == min(lines[1], n_lines) else [f"only lines {start}-{end} were asked"]
    written: dict[str, list[int]] = {}
    for origin in line_origins(asked.git, path, text, start, end):
        written.setdefault(origin.sha, []).append(origin.line)
    new = written.pop("", [])
    order = sorted(written, key=lambda sha: (-len(written[sha]), written[sha][0]))
    commits = [_uncommitted(new)] if new else []
    head = asked.git.head()
    earlier: list[str] = []
    if head is not None and written:
        committed = asked.git.show(head, path).decode("utf-8", "replace").splitlines()
        then = to_committed_lines(text.splitlines(), committed)
        known = [then[line] for line in range(start, end + 1) if line in then]
        earlier = range_commits(asked.git, path, min(known), max(known), limit + len(order))
    boundary = boundary_commits(asked.git)
    for sha in dict.fromkeys([*order, *earlier]):
        commit = _by_sha(asked, sha)
        if sha in boundary:  # git names it for all that it cannot look behind
            if sha in written:
                where = lines_text(_ranges(written[sha]))
                notes.append(f"{where}: unknown, from before the history here begins")
        elif commit is not None:
            commits.append(replace(commit, lines=_ranges(written.get(sha, []))))
    return commits[:limit], notes


def _uncommitted(lines: Sequence[int]) -> FoundCommit:
    return FoundCommit("", "", "", "not committed yet", "", (), 0, (), lines=_ranges(lines))


def _ranges(lines: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return runs of neighbouring lines as (first, last)."""
    runs: list[tuple[int, int]] = []
    for line in sorted(lines):
        if runs and runs[-1][1] == line - 1:
            runs[-1] = (runs[-1][0], line)
        else:
            runs.append((line, line))
    return tuple(runs)


def lines_text(ranges: Sequence[tuple[int, int]]) -> str:
    """Return ranges of lines as people write them: ``line 3``, ``lines 3, 7-9``."""
    listed = [str(first) if first == last else f"{first}-{last}" for first, last in ranges]
    is_one = len(listed) == 1 and listed[0].isdecimal()
    return f"{'line' if is_one else 'lines'} {', '.join(listed)}"


def _by_sha(asked: AskedHistory, sha: str) -> FoundCommit | None:
    view = asked.known
    rows = view.rows_of(sha)
    return _found(view, view.lines(rows[:1])[0], rows[0]) if rows else None


def _found(view: HistoryView, line: CommitLine, row: int) -> FoundCommit:
    ids: list[int] = view.files_of(row).tolist()
    files = tuple(view.paths[at] for at in ids)
    return FoundCommit(
        sha=line.sha,
        date=datetime.fromtimestamp(line.time, UTC).date().isoformat(),
        author=line.author,
        subject=line.subject,
        body=line.body,
        files=files,
        n_files=line.n_files,
        symbols=(),
    )


def _detailed(asked: AskedHistory, commit: FoundCommit, detail: str) -> FoundCommit:
    """Cut a commit to what is shown, its paths as the caller writes them."""
    prefix = asked.git.prefix
    files = tuple(path.removeprefix(prefix) for path in commit.files)
    if detail == "full":
        return replace(commit, files=files)
    return replace(commit, files=files[:_SHOWN_FILES], body="")


def _with_symbols(asked: AskedHistory, commits: Sequence[FoundCommit]) -> list[FoundCommit]:
    """Add the names each commit touched, and cut its id."""
    from wherein.history.lines import changed_symbols

    return [
        replace(
            commit,
            sha=commit.sha[:12],
            symbols=changed_symbols(asked.git, commit.sha)
            if commit.n_files and place < _WITH_SYMBOLS  # of a clone's boundary all is unknown
            else (),
        )
        for place, commit in enumerate(commits)
    ]


def _companions(asked: AskedHistory, names: Sequence[str], limit: int) -> tuple[Companion, ...]:
    from wherein.history.cochange import CoChange

    view = asked.known
    prefix = asked.git.prefix
    ids: Mapping[str, int] = view.file_ids
    paths = [asked.known_path(split_place(name)[0])[0] for name in names]
    chosen = [ids[prefix + path] for path in paths if prefix + path in ids]
    found = CoChange(view).companions(chosen, limit)
    return tuple(replace(item, path=item.path.removeprefix(prefix)) for item in found)
