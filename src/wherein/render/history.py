"""Shows what earlier commits say."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from wherein.render.escape import show_line, show_path
from wherein.render.rendered import Rendered, Style
from wherein.tools.history import FoundCommit, HistoryResult, lines_text

__all__ = ["render", "trim"]

_MAX_BODY_LINES = 40


def render(result: object, style: Style) -> Rendered:
    """Return the text of a `HistoryResult`."""
    found = cast("HistoryResult", result)
    parts = [_commit(commit, style) for commit in found.commits]
    if found.companions:
        parts.append("usually change together with these:\n")
        parts.extend(
            f"  {style.paint('path', show_path(item.path))}  {item.support}x together, "
            f"confidence {item.confidence:.0%}, lift {item.lift:.1f}\n"
            for item in found.companions
        )
    if not parts and found.notes:
        lines = [f"{found.known}: {note}" for note in found.notes]
        return Rendered((), head="".join(f"{line}\n" for line in lines))
    if not parts:
        lines = ["nothing found: try other words, or the path without a line", *_notes(found)]
        return Rendered((), head="".join(f"{line}\n" for line in lines), is_found=False)

    def foot(n_shown: int) -> str:
        lines = [f"note: {note}" for note in _notes(found)]
        n_commits = min(n_shown, len(found.commits))
        if n_commits < len(found.commits) or (found.has_more and found.commits):
            following = found.offset + n_commits
            how = f"offset={following}" if style.for_agent else f"--offset {following}"
            lines.append(f"more commits: {how}")
        elif n_shown < len(parts):
            lines.append("more files that change together were left out to save tokens")
        return "".join(f"{line}\n" for line in lines)

    return Rendered(tuple(parts), foot=foot)


def trim(result: object, n_parts: int) -> HistoryResult:
    """Return the result with its first ``n_parts`` commits and companions; it says there are more.

    The companions' heading is a part of its own.
    """
    found = cast("HistoryResult", result)
    n = max(n_parts, 0)
    rest = max(n - len(found.commits) - 1, 0)
    return replace(
        found, commits=found.commits[:n], companions=found.companions[:rest], has_more=True
    )


def _notes(found: HistoryResult) -> list[str]:
    cut = [found.known] if found.known.endswith("unknown total") else []
    return [*found.notes, *cut]


def _commit(commit: FoundCommit, style: Style) -> str:
    if not commit.sha:
        return f"not committed yet: {lines_text(commit.lines)}\n"
    head = f"{style.paint('line', commit.sha)} {commit.date} {show_line(commit.author, 40)}"
    if commit.lines:
        head += f"  {lines_text(commit.lines)}"
    if commit.similarity is not None:
        head += style.paint("dim", f"  ({commit.similarity:.2f})")
    lines = [head, f"  {show_line(commit.subject)}"]
    lines += [
        f"    {show_line(line)}" for line in commit.body.split("\n")[:_MAX_BODY_LINES] if line
    ]
    if commit.files:
        shown = ", ".join(show_path(path) for path in commit.files)
        more = commit.n_files - len(commit.files)
        lines.append(f"  {style.paint('path', shown)}" + (f" and {more} more" if more > 0 else ""))
    if commit.symbols:
        names = ", ".join(show_line(name, 60) for name in commit.symbols)
        lines.append(f"  in {style.paint('symbol', names)}")
    return "".join(f"{line}\n" for line in lines)
