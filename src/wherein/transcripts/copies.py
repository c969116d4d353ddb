"""Counts once what stands in two sessions: whoever resumes or forks one takes its rows along."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from wherein.transcripts.values import Prompt, Session, ToolCall

__all__ = ["without_copies"]

_Item = tuple[object, ...]


def without_copies(sessions: Iterable[Session]) -> list[Session]:
    """Return the sessions, each without what one that ended earlier has as well.

    Rows are the same when agent, time and content are; what has no time is never a copy. A session
    that is all copies is left out.
    """
    seen: set[_Item] = set()
    kept: list[Session] = []
    for session in sorted(sessions, key=_by_end):  # the copy goes on, so it ends later
        prompts = tuple(p for p in session.prompts if _prompt(session, p) not in seen)
        calls = tuple(c for c in session.calls if _call(session, c) not in seen)
        messages = {
            name: usage
            for name, usage in session.messages.items()
            if (session.agent, name, usage) not in seen
        }
        seen.update(_prompt(session, p) for p in prompts if p.timestamp)
        seen.update(_call(session, c) for c in calls if c.timestamp)
        seen.update((session.agent, name, usage) for name, usage in session.messages.items())
        if prompts == session.prompts and calls == session.calls:
            kept.append(session)  # a message alone is no copy: short ids come twice by chance
        elif prompts or calls:
            kept.append(replace(session, prompts=prompts, calls=calls, messages=messages))
    return kept


def _by_end(session: Session) -> tuple[float, int, str, str]:
    times = [item.timestamp or 0.0 for item in (*session.prompts, *session.calls)]
    n_items = len(session.prompts) + len(session.calls)
    return max(times, default=0.0), n_items, session.session_id, session.source.as_posix()


def _prompt(session: Session, prompt: Prompt) -> _Item:
    return session.agent, prompt.text, prompt.timestamp


def _call(session: Session, call: ToolCall) -> _Item:
    return session.agent, call.call_id, call.name, call.argument, call.timestamp
