"""Reads Cursor's conversations: the editor's ``state.vscdb`` and the agent's transcripts.

Of the database only the table ``cursorDiskKV`` is read; ``ItemTable`` holds secrets.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wherein.transcripts.building import SessionBuilder
from wherein.transcripts.databases import json_value, query
from wherein.transcripts.rows import Json, RowReader, as_dict, as_int, as_list, as_text, as_time
from wherein.transcripts.values import Session, Usage

__all__ = ["AGENT", "find", "read"]

AGENT = "cursor"
_DATABASE = Path("User") / "globalStorage" / "state.vscdb"
_PERSON = 1
"""``type`` of a bubble that the person wrote; 2 is the agent's."""


def find(home: Path) -> Iterator[Path]:
    """Yield the editor's database and the agent's transcripts under ``home``, sorted."""
    for base in (".config/Cursor", "Library/Application Support/Cursor", "AppData/Roaming/Cursor"):
        if (home / base / _DATABASE).is_file():
            yield home / base / _DATABASE
    yield from sorted((home / ".cursor" / "projects").glob("*/agent-transcripts/*/*.jsonl"))


def read(path: Path) -> list[Session]:
    """Return every conversation of a database, or the one of a transcript."""
    if path.suffix == ".jsonl":
        return [_read_transcript(path)]
    sessions: list[Session] = []
    rows = query(
        path,
        "SELECT key, value FROM cursorDiskKV WHERE key LIKE 'composerData:%' ORDER BY key",
    )
    for key, value in rows:
        composer = as_text(key).partition(":")[2]
        builder = SessionBuilder(AGENT, composer, path)
        for bubble in _bubbles(path, composer, json_value(value)):
            _bubble(bubble, builder)
        sessions.append(builder.finish())
    return sessions


def _bubbles(path: Path, composer: str, data: Json) -> list[Json]:
    """Return the conversation's bubbles in its own order; those it does not list come last."""
    found = {
        as_text(key).rpartition(":")[2]: json_value(value)
        for key, value in query(
            path,
            "SELECT key, value FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY key",
            (f"bubbleId:{composer}:", f"bubbleId:{composer};"),
        )
    }
    listed = [
        as_text(as_dict(head).get("bubbleId"))
        for head in as_list(data.get("fullConversationHeadersOnly"))
    ]
    order = [name for name in listed if name in found]
    order += [name for name in sorted(found) if name not in set(listed)]
    inline = [as_dict(bubble) for bubble in as_list(data.get("conversation"))]
    return inline or [{"bubbleId": name, **found[name]} for name in order]


def _bubble(bubble: Json, builder: SessionBuilder) -> None:
    timestamp = as_time(bubble.get("createdAt"))
    if bubble.get("type") == _PERSON:
        text = as_text(bubble.get("text"))
        if text.strip():
            builder.prompt(text, timestamp)
        return
    bubble_id = as_text(bubble.get("bubbleId")) or f"bubble-{builder.order}"
    tokens = as_dict(bubble.get("tokenCount"))
    usage = Usage(as_int(tokens.get("inputTokens")), as_int(tokens.get("outputTokens")))
    builder.message(bubble_id, usage)
    tool = as_dict(bubble.get("toolFormerData"))
    name = as_text(tool.get("name")) or as_text(tool.get("tool"))
    if name:
        call_id = as_text(tool.get("toolCallId")) or bubble_id
        builder.call(call_id, name, tool.get("rawArgs") or tool.get("params"), timestamp)
        if tool.get("result") is not None:
            builder.output(call_id, len(as_text(tool["result"])))


def _read_transcript(path: Path) -> Session:
    builder = SessionBuilder(AGENT, path.stem, path)
    reader = RowReader(path)
    for line, row in reader:
        message = as_dict(row.get("message")) or row
        role = as_text(row.get("role")) or as_text(message.get("role"))
        blocks = [as_dict(block) for block in as_list(message.get("content"))]
        timestamp = as_time(row.get("timestamp"))
        if role == "user":
            text = "\n".join(as_text(b.get("text")) for b in blocks if b.get("type") == "text")
            if text.strip():
                builder.prompt(text, timestamp)
            continue
        builder.message(f"row-{line}", Usage())
        for number, block in enumerate(blocks):
            if block.get("type") == "tool_use":
                call_id = as_text(block.get("id")) or f"row-{line}-{number}"
                builder.call(call_id, as_text(block.get("name")), block.get("input"), timestamp)
    builder.notes.extend(reader.notes)
    return builder.finish()
