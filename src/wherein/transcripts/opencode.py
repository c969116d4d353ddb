"""Reads OpenCode's database (``opencode.db``) and its older store of one JSON file a part."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wherein.transcripts.building import SessionBuilder
from wherein.transcripts.databases import json_value, query
from wherein.transcripts.rows import Json, as_dict, as_int, as_text, as_time, read_object
from wherein.transcripts.values import Session, Usage

__all__ = ["AGENT", "find", "read"]

AGENT = "opencode"


def find(home: Path) -> Iterator[Path]:
    """Yield the database, or each session file of the older store, sorted."""
    share = home / ".local" / "share" / "opencode"
    if (share / "opencode.db").is_file():
        yield share / "opencode.db"
    yield from sorted((share / "storage" / "session").glob("*/*.json"))


def read(path: Path) -> list[Session]:
    """Return every session of a database, or the one of a session file."""
    if path.suffix == ".json":
        return [_read_files(path)]
    sessions: list[Session] = []
    for session_id, folder in query(path, "SELECT id, directory FROM session ORDER BY id"):
        builder = SessionBuilder(AGENT, as_text(session_id), path, as_text(folder))
        roles: dict[str, str] = {}
        for message_id, data in query(
            path, "SELECT id, data FROM message WHERE session_id = ? ORDER BY id", (session_id,)
        ):
            roles[message_id] = _message(as_text(message_id), json_value(data), builder)
        for part_id, message_id, data in query(
            path,
            "SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY message_id, id",
            (session_id,),
        ):
            _part(as_text(part_id), json_value(data), roles.get(message_id, ""), builder)
        sessions.append(builder.finish())
    return sessions


def _read_files(path: Path) -> Session:
    session = _load(path)
    builder = SessionBuilder(AGENT, path.stem, path, as_text(session.get("directory")))
    storage = path.parent.parent.parent
    for message_file in sorted((storage / "message" / path.stem).glob("*.json")):
        role = _message(message_file.stem, _load(message_file), builder)
        for part_file in sorted((storage / "part" / message_file.stem).glob("*.json")):
            _part(part_file.stem, _load(part_file), role, builder)
    return builder.finish()


def _load(path: Path) -> Json:
    try:
        return read_object(path)
    except (OSError, ValueError):
        return {}


def _message(message_id: str, data: Json, builder: SessionBuilder) -> str:
    role = as_text(data.get("role"))
    if role == "assistant":
        tokens = as_dict(data.get("tokens"))
        cache = as_dict(tokens.get("cache"))
        builder.message(
            message_id,
            Usage(
                as_int(tokens.get("input")),
                as_int(tokens.get("output")),
                as_int(cache.get("read")),
                as_int(cache.get("write")),
            ),
        )
        builder.n_compactions += data.get("summary") is True
    return role


def _part(part_id: str, data: Json, role: str, builder: SessionBuilder) -> None:
    if data.get("type") == "text" and role == "user" and data.get("synthetic") is not True:
        text = as_text(data.get("text"))
        if text.strip():
            builder.prompt(text, as_time(as_dict(data.get("time")).get("start")))
    elif data.get("type") == "tool":
        state = as_dict(data.get("state"))
        call_id = as_text(data.get("callID")) or part_id
        started = as_time(as_dict(state.get("time")).get("start"))
        builder.call(call_id, as_text(data.get("tool")), state.get("input"), started)
        if state.get("output") is not None:
            builder.output(call_id, len(as_text(state["output"])))
