"""Finds and reads the transcripts of every agent this package knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wherein.errors import QueryError, near_name_hint
from wherein.transcripts import claude_code, codex, copilot, cursor, gemini, opencode
from wherein.transcripts.copies import without_copies
from wherein.transcripts.folders import with_folders
from wherein.transcripts.values import Session

__all__ = ["AGENTS", "Loaded", "load_sessions"]


@dataclass(frozen=True, slots=True)
class _Agent:
    find: Callable[[Path], Iterator[Path]]
    read: Callable[[Path], list[Session]]


AGENTS: Mapping[str, _Agent] = {
    module.AGENT: _Agent(module.find, module.read)
    for module in (claude_code, codex, copilot, cursor, gemini, opencode)
}


@dataclass(frozen=True, slots=True)
class Loaded:
    """The sessions read, with the files that could not be."""

    sessions: tuple[Session, ...]
    unreadable: tuple[tuple[Path, str], ...]


def load_sessions(
    home: Path,
    *,
    agents: Sequence[str] = (),
    files: Sequence[tuple[str, Path]] = (),
    folders: Sequence[str] = (),
) -> Loaded:
    """Read the sessions under a person's ``home``, or the given (agent, file) pairs instead.

    Sessions come sorted by agent, then start, then id; one that stands in two files keeps the
    longer, and what one session took from another counts once. Of agents that write only a hash
    of their folder, ``folders`` are tried too.

    Raises:
        QueryError: An agent's name is unknown.
    """
    for name in (*agents, *(name for name, _ in files)):
        if name not in AGENTS:
            message = f"unknown agent {name!r}"
            hint = near_name_hint(name, AGENTS, fallback=f"known: {', '.join(sorted(AGENTS))}")
            raise QueryError(message, hint=hint)
    wanted = files or [
        (name, path) for name in (agents or sorted(AGENTS)) for path in AGENTS[name].find(home)
    ]
    found: dict[tuple[str, str], Session] = {}
    unreadable: list[tuple[Path, str]] = []
    for name, path in wanted:
        try:
            sessions = AGENTS[name].read(path)
        except OSError as error:
            unreadable.append((path, error.strerror or "unreadable"))
            continue
        for session in sessions:
            if reason := _why_empty(session):
                unreadable.append((path, reason))
            key = (name, session.session_id)
            known = found.get(key)
            if known is None or len(session.calls) > len(known.calls):
                found[key] = session
    placed = with_folders(without_copies(found.values()), folders)
    ordered = sorted(placed, key=lambda s: (s.agent, s.started or 0.0, s.session_id))
    return Loaded(tuple(ordered), tuple(unreadable))


def _why_empty(session: Session) -> str:
    """Return what is wrong with a transcript of which nothing could be read, else nothing."""
    if session.calls or session.prompts:
        return ""
    return next((note.message for note in session.notes if "not JSON" in note.message), "")
