"""Reads Copilot CLI's sessions: ``~/.copilot/session-state/ID/events.jsonl``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wherein.transcripts.building import SessionBuilder
from wherein.transcripts.rows import Json, RowReader, as_dict, as_int, as_list, as_text, as_time
from wherein.transcripts.values import Session, Usage

__all__ = ["AGENT", "find", "read"]

AGENT = "copilot"


def find(home: Path) -> Iterator[Path]:
    """Yield the transcripts of every session under the person's ``home``, sorted."""
    yield from sorted((home / ".copilot" / "session-state").glob("*/events.jsonl"))


def read(path: Path) -> list[Session]:
    """Return the session of one event log."""
    builder = SessionBuilder(AGENT, path.parent.name, path)
    reader = RowReader(path)
    for line, row in reader:
        _event(row, as_dict(row.get("data")), builder, line)
    builder.notes.extend(reader.notes)
    return [builder.finish()]


def _event(row: Json, data: Json, builder: SessionBuilder, line: int) -> None:
    timestamp = as_time(row.get("timestamp"))
    call_id = as_text(data.get("toolCallId")) or f"row-{line}"
    match row.get("type"):
        case "session.start":
            builder.session_id = as_text(data.get("sessionId")) or builder.session_id
            builder.folder = as_text(as_dict(data.get("context")).get("cwd"))
        case "user.message":
            text = as_text(data.get("content"))
            if text.strip():
                builder.prompt(text, timestamp)
        case "assistant.message":
            usage = Usage(output=as_int(data.get("outputTokens")))
            builder.message(as_text(data.get("messageId")) or f"row-{line}", usage)
            for request in map(as_dict, as_list(data.get("toolRequests"))):
                builder.call(
                    as_text(request.get("toolCallId")),
                    as_text(request.get("name")),
                    request.get("arguments"),
                    timestamp,
                )
        case "tool.execution_start":
            builder.call(call_id, as_text(data.get("toolName")), data.get("arguments"), timestamp)
        case "tool.execution_complete":
            result = as_dict(data.get("result"))
            builder.output(call_id, len(as_text(result.get("content", data.get("result")))))
        case "session.compaction_complete":
            builder.n_compactions += 1
        case _:
            pass
