"""Rows in the shape of Claude Code's transcripts."""

import json
from pathlib import Path
from typing import Any


def write_rows(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for row in rows:
            file.write((row if isinstance(row, str) else json.dumps(row)) + "\n")
    return path


def user(uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": "user",
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s1",
        "timestamp": f"2026-01-02T03:04:{len(uuid):02d}.000Z",
        "isSidechain": False,
        "message": {"role": "user", "content": content},
        **more,
    }


def assistant(uuid: str, parent: str, message: str, block: Any, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": 50}
    return {
        "type": "assistant",
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s1",
        "timestamp": "2026-01-02T03:05:00.000Z",
        "isSidechain": False,
        "message": {"id": message, "role": "assistant", "content": [block], "usage": usage},
        **more,
    }


def use(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(uuid: str, parent: str, call_id: str, content: Any, **more: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return user(uuid, parent, [block], **more)
