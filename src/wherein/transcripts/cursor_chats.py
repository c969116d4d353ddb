"""Reads the chats of Cursor's command line: ``~/.cursor/chats/HASH/ID/store.db``.

Two tables: ``meta`` holds a hex-encoded object that names the root blob, ``blobs`` holds messages
(JSON) and the root, a protocol buffer whose field 1 lists the messages' ids in order and whose
field 9 names the folder. HASH is the MD5 of the folder's path. Messages have no time and no usage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from wherein.transcripts.building import SessionBuilder
from wherein.transcripts.databases import json_value, query
from wherein.transcripts.folders import from_uri
from wherein.transcripts.rows import Json, as_dict, as_list, as_text, as_time, read_object
from wherein.transcripts.values import Note, Session, Usage

__all__ = ["asked_in", "read_chat", "workspace_of"]

AGENT = "cursor"
_MESSAGES, _FOLDER = 1, 9
"""Fields of the root."""

_ID_BYTES = 32
_BYTES_FIELD, _VARINT, _FIXED64, _FIXED32 = 2, 0, 1, 5
"""Wire types of protocol buffers; there are no others but the groups nobody writes."""

_ASKED = re.compile(r"<user_query>(.*?)</user_query>", re.DOTALL)
_CONTEXT = re.compile(r"<(user_info|environment|rules|git_status|project_layout)\b")
_WORKSPACE = re.compile(r"Workspace Path:[ \t]*([^\n<]*[^\s<])")


def read_chat(path: Path) -> list[Session]:
    """Return the one conversation of a chat; none when it holds no message yet.

    Raises:
        OSError: It cannot be read, or is no database.
    """
    builder = SessionBuilder(AGENT, path.parent.name, path)
    builder.folder_key = path.parent.parent.name
    meta = _meta(path)
    builder.session_id = as_text(meta.get("agentId")) or builder.session_id
    builder.created = as_time(meta.get("createdAt"))
    _sidecar(path.with_name("meta.json"), builder)
    blobs = _blobs(path)
    root = blobs.get(as_text(meta.get("latestRootBlobId")), b"")
    messages: list[Json] = []
    for number, value in _fields(root):
        if number == _MESSAGES and len(value) == _ID_BYTES:
            message = json_value(blobs.get(value.hex()))
            if message:
                messages.append(message)
            else:
                builder.notes.append(Note(0, f"message {value.hex()[:12]} is not there"))
        elif number == _FOLDER and not builder.folder:
            builder.folder = from_uri(value.decode("utf-8", "replace"))
    for message in messages:
        _message(message, builder)
    return [builder.finish()] if messages else []


def _meta(path: Path) -> Json:
    for (value,) in query(path, "SELECT value FROM meta WHERE key = '0'"):
        if plain := json_value(value):
            return plain
        try:
            return json_value(bytes.fromhex(as_text(value)))
        except ValueError:
            return {}
    return {}


def _sidecar(file: Path, builder: SessionBuilder) -> None:
    """Take the folder and time of the ``meta.json`` that newer versions write beside a chat."""
    try:
        data = read_object(file)
    except (OSError, ValueError):
        return
    builder.folder = as_text(data.get("cwd"))
    builder.created = builder.created or as_time(data.get("createdAtMs"))


def _blobs(path: Path) -> dict[str, bytes]:
    """Return all blobs by id, read at once: the agent may be writing."""
    rows = query(path, "SELECT id, data FROM blobs")
    return {
        as_text(blob_id): data.encode() if isinstance(data, str) else bytes(data or b"")
        for blob_id, data in rows
    }


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of the fields of a protocol buffer that hold bytes.

    What follows something that is none is not read.
    """
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == _BYTES_FIELD:
            size, at = _varint(data, at)
            if at + size > len(data):
                return
            yield tag >> 3, data[at : at + size]
            at += size
        elif kind == _VARINT:
            _, at = _varint(data, at)
        elif kind in {_FIXED64, _FIXED32}:
            at += 8 if kind == _FIXED64 else 4
        else:
            return


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number and where the next one starts: the end of the data when it is cut."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    return 0, len(data)


def _message(message: Json, builder: SessionBuilder) -> None:
    role, content = as_text(message.get("role")), message.get("content")
    blocks = [as_dict(block) for block in as_list(content)]
    texts = [as_text(block.get("text")) for block in blocks if block.get("type") == "text"]
    text = content if isinstance(content, str) else "\n".join(texts)
    if role == "user":
        builder.folder = builder.folder or workspace_of(text)
        if asked := asked_in(text):
            builder.prompt(asked, None)
        return
    if role == "assistant":
        builder.message(as_text(message.get("id")) or f"message-{builder.order}", Usage())
    for number, block in enumerate(blocks):
        call_id = as_text(block.get("toolCallId")) or f"call-{builder.order}-{number}"
        if block.get("type") == "tool-call":
            given = block.get("args") if "args" in block else block.get("input")
            builder.call(call_id, as_text(block.get("toolName")), given, None)
        elif block.get("type") == "tool-result":
            answer = block.get("result") if "result" in block else block.get("output")
            builder.output(call_id, len(as_text(answer)))


def asked_in(text: str) -> str:
    """Return what the person typed, without the context that Cursor puts around it."""
    if asked := "\n".join(part.strip() for part in _ASKED.findall(text)):
        return asked
    return "" if _CONTEXT.match(text.lstrip()) else text.strip()


def workspace_of(text: str) -> str:
    """Return the folder that the context before a first request names, empty without one."""
    found = _WORKSPACE.search(text)
    return found.group(1) if found else ""
