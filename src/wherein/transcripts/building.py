"""Gathers one session while its rows are read, and counts nothing twice."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from wherein.transcripts.actions import make_call
from wherein.transcripts.values import Note, Prompt, Session, Subagent, ToolCall, Usage

__all__ = ["SessionBuilder"]


@dataclass(slots=True)
class SessionBuilder:
    """Mutable while reading; `finish` gives the frozen session."""

    agent: str
    session_id: str
    source: Path
    folder: str = ""
    folder_key: str = ""
    created: float | None = None
    order: int = 0
    prompts: list[Prompt] = field(default_factory=list[Prompt])
    calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    subagents: dict[str, str] = field(default_factory=dict[str, str])
    usage_by_message: dict[str, Usage] = field(default_factory=dict[str, Usage])
    n_compactions: int = 0
    notes: list[Note] = field(default_factory=list[Note])

    def prompt(self, text: str, timestamp: float | None) -> None:
        """Add what the person asked."""
        self.order += 1
        self.prompts.append(Prompt(text, self.order, timestamp))

    def message(self, message_id: str, usage: Usage) -> None:
        """Count an assistant message once, with the usage its last row tells."""
        self.usage_by_message[message_id] = usage

    def call(
        self,
        call_id: str,
        name: str,
        arguments: object,
        timestamp: float | None,
        subagent: str = "",
    ) -> None:
        """Add a tool call; a second row with the same id is the same call."""
        key = call_id or f"row-{self.order}"
        if key in self.calls:
            return
        self.order += 1
        self.calls[key] = make_call(
            call_id=key,
            name=name,
            arguments=arguments,
            order=self.order,
            timestamp=timestamp,
            subagent=subagent,
            folder=self.folder,
        )

    def output(self, call_id: str, n_chars: int | None) -> None:
        """Note how long the answer of a call was; an answer without its call is passed over."""
        found = self.calls.get(call_id)
        if found is not None and n_chars is not None:
            self.calls[call_id] = replace(found, output_chars=n_chars)

    def order_by_time(self) -> None:
        """Put what stood in several files in the order it happened.

        What has no time stays behind what it followed.
        """
        times: dict[int, float] = {}
        last = 0.0
        for item in sorted((*self.prompts, *self.calls.values()), key=lambda item: item.order):
            last = item.timestamp or last
            times[item.order] = last
        place = {old: new for new, old in enumerate(sorted(times, key=times.__getitem__), start=1)}
        self.prompts = [replace(prompt, order=place[prompt.order]) for prompt in self.prompts]
        self.calls = {
            key: replace(call, order=place[call.order]) for key, call in self.calls.items()
        }

    def finish(self) -> Session:
        """Return what was read."""
        return Session(
            self.agent,
            self.session_id,
            self.source,
            self.folder,
            tuple(self.prompts),
            tuple(sorted(self.calls.values(), key=lambda call: call.order)),
            tuple(Subagent(i, kind) for i, kind in sorted(self.subagents.items())),
            dict(self.usage_by_message),
            self.n_compactions,
            tuple(self.notes),
            self.folder_key,
            self.created,
        )
