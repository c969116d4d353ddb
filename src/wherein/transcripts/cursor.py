"""Reads Cursor's conversations: the editor's ``state.vscdb`` and the agent's transcripts and chats.

Of the database only the table ``cursorDiskKV`` is read; ``ItemTable`` holds secrets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from wherein.transcripts.building import SessionBuilder
from wherein.transcripts.cursor_chats import asked_in, read_chat, workspace_of
from wherein.transcripts.databases import json_value, query
from wherein.transcripts.folders import from_uri
from wherein.transcripts.rows import (
    Json,
    RowReader,
    as_dict,
    as_int,
    as_list,
    as_text,
    as_time,
    read_object,
)
from wherein.transcripts.values import Session, ToolCall, Usage

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
    yield from sorted((home / ".cursor" / "chats").glob("*/*/store.db"))


def read(path: Path) -> list[Session]:
    """Return every conversation of the editor's database, or the one of a transcript or chat."""
    if path.suffix == ".jsonl":
        return [_read_transcript(path)]
    if path.name == "store.db":
        return read_chat(path)
    folders = _editor_folders(path)
    sessions: list[Session] = []
    rows = query(
        path,
        "SELECT key, value FROM cursorDiskKV WHERE key LIKE 'composerData:%' ORDER BY key",
    )
    for key, value in rows:
        composer = as_text(key).partition(":")[2]
        builder = SessionBuilder(AGENT, composer, path)
        data = json_value(value)
        builder.created = as_time(data.get("createdAt"))
        bubbles = _bubbles(path, composer, data)
        for bubble in bubbles:
            _bubble(bubble, builder)
        builder.folder = _stated_folder([data, *bubbles])
        builder.folder = builder.folder or _surrounding(builder.calls.values(), folders)
        sessions.append(builder.finish())
    return sessions


def _stated_folder(rows: list[Json]) -> str:
    """Return the folder that a conversation or one of its bubbles names; most name none."""
    for row in rows:
        uri = as_dict(as_dict(row.get("workspaceIdentifier")).get("uri"))
        stated = as_text(uri.get("fsPath")) or as_text(row.get("workspaceProjectDir"))
        uris = [as_text(one) for one in as_list(row.get("workspaceUris"))]
        if folder := stated or next((from_uri(one) for one in uris if from_uri(one)), ""):
            return folder
    return ""


def _editor_folders(database: Path) -> list[str]:
    """Return the folders that were opened in the editor, the longest first."""
    found: set[str] = set()
    for file in (database.parent.parent / "workspaceStorage").glob("*/workspace.json"):
        try:
            folder = from_uri(as_text(read_object(file).get("folder")))
        except (OSError, ValueError):
            continue
        found.add(folder)
    return sorted(found - {""}, key=lambda folder: (-len(folder), folder))


def _surrounding(calls: Iterable[ToolCall], folders: list[str]) -> str:
    """Return the opened folder that holds most of the files a conversation names."""
    held: Counter[str] = Counter()
    for call in calls:
        for folder in folders:
            if call.path.startswith((f"{folder}/", f"{folder}\\")):
                held[folder] += 1
                break
    return held.most_common(1)[0][0] if held else ""


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
    builder.folder_key = path.parents[2].name.casefold() if len(path.parents) > 2 else ""
    reader = RowReader(path)
    for line, row in reader:
        message = as_dict(row.get("message")) or row
        role = as_text(row.get("role")) or as_text(message.get("role"))
        blocks = [as_dict(block) for block in as_list(message.get("content"))]
        timestamp = as_time(row.get("timestamp"))
        if role == "user":
            text = "\n".join(as_text(b.get("text")) for b in blocks if b.get("type") == "text")
            builder.folder = builder.folder or workspace_of(text)
            if asked := asked_in(text):
                builder.prompt(asked, timestamp)
            continue
        builder.message(f"row-{line}", Usage())
        for number, block in enumerate(blocks):
            if block.get("type") == "tool_use":
                call_id = as_text(block.get("id")) or f"row-{line}-{number}"
                builder.call(call_id, as_text(block.get("name")), block.get("input"), timestamp)
    builder.notes.extend(reader.notes)
    return builder.finish()
