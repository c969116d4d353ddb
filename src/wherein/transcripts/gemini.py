"""Reads Gemini CLI's chats: ``~/.gemini/tmp/HASH/chats/session-*.jsonl`` (``.json`` before)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wherein.transcripts.building import SessionBuilder
from wherein.transcripts.rows import (
    Json,
    RowReader,
    as_dict,
    as_int,
    as_list,
    as_text,
    as_time,
    check_regular,
    read_object,
)
from wherein.transcripts.values import Note, Session, Usage

__all__ = ["AGENT", "find", "read"]

AGENT = "gemini"


def find(home: Path) -> Iterator[Path]:
    """Yield the transcripts of every session under the person's ``home``, sorted."""
    for pattern in ("*/chats/session-*.json", "*/chats/session-*.jsonl"):
        yield from sorted((home / ".gemini" / "tmp").glob(pattern))


def read(path: Path) -> list[Session]:
    """Return the session of one chat, with what was rewound left out."""
    builder = SessionBuilder(AGENT, path.stem.removeprefix("session-"), path)
    builder.folder = _folder_of(path.parent.parent)
    messages: list[Json] = []
    for row in _rows(path, builder):
        if "$rewindTo" in row:
            messages = _rewound(messages, row["$rewindTo"])
        elif "$set" in row:
            messages = _set(messages, as_dict(row["$set"]))
        elif "messages" in row:
            messages.extend(map(as_dict, as_list(row["messages"])))
        elif row.get("type") in {"user", "gemini"}:
            messages.append(row)
        builder.session_id = as_text(row.get("sessionId")) or builder.session_id
        builder.folder_key = as_text(row.get("projectHash")) or builder.folder_key
        builder.created = builder.created or as_time(row.get("startTime"))
    builder.folder_key = builder.folder_key or path.parent.parent.name
    for message in messages:
        _message(message, builder)
    return [builder.finish()]


def _folder_of(project: Path) -> str:
    """Return the folder that ``~/.gemini/tmp/NAME`` is for, where Gemini CLI has written it down.

    Newer versions do, in the project's folder or in a list of all; of older ones it is a hash.
    """
    try:
        named = project / ".project_root"
        check_regular(named)
        root = named.read_text(encoding="utf-8", errors="replace").strip()
        if root:
            return root
    except OSError:
        pass
    try:
        listed = read_object(project.parent.parent / "projects.json")
    except (OSError, ValueError):
        return ""
    names = as_dict(listed.get("projects")).items()
    return next((folder for folder, name in names if name == project.name), "")


def _rows(path: Path, builder: SessionBuilder) -> Iterator[Json]:
    if path.suffix == ".jsonl":
        reader = RowReader(path)
        yield from (row for _, row in reader)
        builder.notes.extend(reader.notes)
        return
    try:
        yield read_object(path)
    except (OSError, ValueError):
        builder.notes.append(Note(0, "not JSON"))


def _rewound(messages: list[Json], target: object) -> list[Json]:
    """Drop the message rewound to and all behind it; an unknown id changes nothing."""
    wanted = as_dict(target).get("id", target)
    for i, message in enumerate(messages):
        if message.get("id") == wanted:
            return messages[:i]
    return messages


def _set(messages: list[Json], change: Json) -> list[Json]:
    """Apply a control line: whole new messages, or fields of one message by id."""
    if "messages" in change:
        return [as_dict(message) for message in as_list(change["messages"])]
    wanted = change.get("id")
    return [
        {**m, **change} if wanted is not None and m.get("id") == wanted else m for m in messages
    ]


def _message(message: Json, builder: SessionBuilder) -> None:
    timestamp = as_time(message.get("timestamp"))
    if message.get("type") == "user":
        content = message.get("content")
        text = (
            content
            if isinstance(content, str)
            else "\n".join(as_text(as_dict(part).get("text")) for part in as_list(content))
        )
        if text.strip():
            builder.prompt(text, timestamp)
        return
    tokens = as_dict(message.get("tokens"))
    cached = as_int(tokens.get("cached"))
    message_id = as_text(message.get("id")) or f"message-{builder.order}"
    usage = Usage(
        max(as_int(tokens.get("input")) - cached, 0), as_int(tokens.get("output")), cached
    )
    builder.message(message_id, usage)
    for number, call in enumerate(map(as_dict, as_list(message.get("toolCalls")))):
        call_id = as_text(call.get("id")) or f"{message_id}-{number}"
        builder.call(call_id, as_text(call.get("name")), call.get("args"), timestamp)
        if call.get("result") is not None:
            builder.output(call_id, len(as_text(call["result"])))
