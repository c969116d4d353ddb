"""What a transcript says, the same for every agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

__all__ = ["ActionKind", "Note", "Prompt", "Session", "Subagent", "ToolCall", "Usage"]


class ActionKind(StrEnum):
    """What a tool call does to the code base."""

    SEARCH = "search"
    READ = "read"
    EDIT = "edit"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the person asked."""

    text: str
    order: int
    timestamp: float | None
    """Seconds since the epoch (UTC)."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, by the agent or one of its sub-agents."""

    call_id: str
    name: str
    kind: ActionKind
    argument: str
    """Words searched for, path read, or command, cut to `actions.MAX_ARGUMENT_CHARS`."""
    path: str
    """The file concerned, as written; empty when there is none."""
    order: int
    """Position in the session; prompts and calls share one count."""
    timestamp: float | None
    subagent: str
    """Id of the sub-agent that called, empty for the agent itself."""
    output_chars: int | None = None
    """Length of what the tool answered; None when the transcript does not tell."""


@dataclass(frozen=True, slots=True)
class Subagent:
    """A helper the agent started; ``type`` is ``unknown`` where the transcript does not tell."""

    subagent_id: str
    type: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Model tokens, each message counted once."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )


@dataclass(frozen=True, slots=True)
class Note:
    """Something odd in a transcript: reading went on."""

    line: int
    """1-based row; 0 for the whole file."""
    message: str


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation with its sub-agents rolled in."""

    agent: str
    session_id: str
    source: Path
    folder: str
    """Working directory of the agent, empty when unknown."""
    prompts: tuple[Prompt, ...]
    calls: tuple[ToolCall, ...]
    subagents: tuple[Subagent, ...]
    messages: Mapping[str, Usage]
    """The model's messages by their ids, with what each cost."""
    n_compactions: int
    notes: tuple[Note, ...] = ()
    folder_key: str = ""
    """A hash or a shortened name of the folder, where the agent writes no more than that."""
    created: float | None = None
    """When the session says it began: for agents that give single messages no time."""

    @property
    def usage(self) -> Usage:
        """What all its messages cost."""
        return sum(self.messages.values(), Usage())

    @property
    def n_assistant_messages(self) -> int:
        """How many messages the model wrote."""
        return len(self.messages)

    @property
    def started(self) -> float | None:
        """Time of the first prompt or call that has one, else of the session, since the epoch."""
        times = [item.timestamp for item in (*self.prompts, *self.calls) if item.timestamp]
        return min(times, default=self.created)
