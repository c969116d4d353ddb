"""Reads Codex CLI's rollouts: ``~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from wherein.transcripts.building import SessionBuilder
from wherein.transcripts.rows import Json, RowReader, as_dict, as_int, as_list, as_text, as_time
from wherein.transcripts.values import Session, Usage

__all__ = ["AGENT", "find", "read"]

AGENT = "codex"
_MARKUP = re.compile(
    r"^\s*<(environment_context|user_instructions|permissions|turn_aborted)|^# AGENTS"
)
_SCRIPTED = re.compile(
    r"exec_command\(\s*\{.*?\bcmd\b\"?\s*:\s*(\"(?:\\.|[^\"\\])*\"|'[^']*')", re.DOTALL
)


def find(home: Path) -> Iterator[Path]:
    """Yield the transcripts of every session under the person's ``home``, sorted."""
    yield from sorted((home / ".codex" / "sessions").rglob("rollout-*.jsonl"))


def read(path: Path) -> list[Session]:
    """Return the session of one rollout."""
    builder = SessionBuilder(AGENT, path.stem.removeprefix("rollout-"), path)
    reader = RowReader(path)
    for line, row in reader:
        payload = as_dict(row.get("payload")) or row
        kind = as_text(row.get("type"))
        if kind == "session_meta":
            builder.session_id = as_text(payload.get("id")) or builder.session_id
            builder.folder = as_text(payload.get("cwd"))
        elif kind == "compacted":
            builder.n_compactions += 1
        elif kind == "event_msg":
            _event(payload, builder)
        elif kind != "turn_context":
            _item(payload, builder, as_time(row.get("timestamp")), line)
    builder.notes.extend(reader.notes)
    return [builder.finish()]


def _event(payload: Json, builder: SessionBuilder) -> None:
    if payload.get("type") != "token_count":
        return
    total = as_dict(as_dict(payload.get("info")).get("total_token_usage"))
    if total:
        cached = as_int(total.get("cached_input_tokens"))
        builder.message(
            "total",
            Usage(
                as_int(total.get("input_tokens")) - cached,
                as_int(total.get("output_tokens")),
                cached,
            ),
        )


def _item(payload: Json, builder: SessionBuilder, timestamp: float | None, line: int) -> None:
    kind = payload.get("type")
    call_id = as_text(payload.get("call_id")) or as_text(payload.get("id")) or f"row-{line}"
    if kind == "message":
        _message(payload, builder, timestamp)
    elif kind == "function_call":
        builder.call(call_id, as_text(payload.get("name")), payload.get("arguments"), timestamp)
    elif kind == "local_shell_call":
        builder.call(
            call_id,
            "local_shell",
            as_dict(payload.get("action")).get("exec") or payload.get("action"),
            timestamp,
        )
    elif kind == "custom_tool_call":
        _custom(payload, builder, call_id, timestamp)
    elif kind in {"function_call_output", "custom_tool_call_output"}:
        output = payload.get("output")
        content = as_dict(output).get("content", output)
        builder.output(call_id, len(as_text(content)))


def _custom(payload: Json, builder: SessionBuilder, call_id: str, timestamp: float | None) -> None:
    name, text = as_text(payload.get("name")), as_text(payload.get("input"))
    scripted = _SCRIPTED.search(text) if name == "exec" else None
    if scripted is not None:
        # Newer versions run a script that calls the shell tool; the command is what counts.
        builder.call(call_id, "exec_command", {"command": scripted.group(1)[1:-1]}, timestamp)
    else:
        builder.call(call_id, name, text, timestamp)


def _message(payload: Json, builder: SessionBuilder, timestamp: float | None) -> None:
    if payload.get("role") != "user":
        return
    blocks = map(as_dict, as_list(payload.get("content")))
    text = "\n".join(as_text(block.get("text")) for block in blocks)
    if text.strip() and not _MARKUP.match(text):
        builder.prompt(text, timestamp)
