"""Reads Claude Code's transcripts: ``~/.claude/projects/FOLDER/SESSION.jsonl``.

One message may be several rows, one for each block, with its usage repeated; sub-agents are rows
marked as a side chain, in the same file or under ``SESSION/subagents/``.
"""

from __future__ import annotations

import re
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
    read_object,
)
from wherein.transcripts.values import Note, Session, Usage

__all__ = ["AGENT", "find", "read"]

AGENT = "claude-code"
_MARKUP = re.compile(
    r"^\s*(<(command-|local-command-|system-reminder|bash-(input|stdout|stderr)|user-memory)"
    r"|Caveat:|\[Request interrupted)"
)
_SAVED = re.compile(r"<persisted-output>.*?saved to:\s*(\S+)", re.DOTALL)
_QUIET_TYPES = frozenset({"system", "summary", "custom-title", "ai-title", "progress"})


def find(home: Path) -> Iterator[Path]:
    """Yield the transcripts of every session under the person's ``home``, sorted."""
    yield from sorted((home / ".claude" / "projects").glob("*/*.jsonl"))


def read(path: Path) -> list[Session]:
    """Return the sessions of one transcript with the sub-agents that stand beside it."""
    builders: dict[str, SessionBuilder] = {}
    default = path.stem
    _read_file(path, builders, default, subagent="")
    files = sorted((path.parent / default / "subagents").glob("*.jsonl"))
    for file in files:
        name = file.stem.removeprefix("agent-")
        builder = builders.setdefault(default, SessionBuilder(AGENT, default, path))
        builder.subagents[name] = _type_of(file.with_suffix(".meta.json"))
        _read_file(file, builders, default, subagent=name)
    if files:
        builders[default].order_by_time()
    return [builders[key].finish() for key in sorted(builders)]


def _type_of(meta: Path) -> str:
    try:
        return as_text(read_object(meta).get("agentType")) or "unknown"
    except (OSError, ValueError):
        return "unknown"


def _read_file(
    path: Path, builders: dict[str, SessionBuilder], default: str, *, subagent: str
) -> None:
    reader = RowReader(path)
    side_chains: dict[str, str] = {}
    ignored: dict[str, int] = {}
    for line, row in reader:
        session_id = default if subagent else as_text(row.get("sessionId")) or default
        builder = builders.get(session_id)
        if builder is None:
            builder = builders[session_id] = SessionBuilder(AGENT, session_id, path)
        builder.folder = builder.folder or as_text(row.get("cwd"))
        owner = subagent or _side_chain(row, builder, side_chains)
        kind = as_text(row.get("type"))
        if kind == "user":
            _user_row(row, builder, path, owner)
        elif kind == "assistant":
            _assistant_row(row, builder, owner, line)
        elif kind not in _QUIET_TYPES:
            ignored[kind] = ignored.get(kind, 0) + 1
    owner_of_notes = builders.setdefault(default, SessionBuilder(AGENT, default, path))
    owner_of_notes.notes.extend(reader.notes)
    for kind, n in sorted(ignored.items()):
        owner_of_notes.notes.append(Note(0, f"{n} rows of unknown type {kind!r} ignored"))


def _side_chain(row: Json, builder: SessionBuilder, chains: dict[str, str]) -> str:
    """Return the sub-agent an inline row belongs to: its root row's id names it."""
    if row.get("isSidechain") is not True:
        return ""
    uuid = as_text(row.get("uuid"))
    name = as_text(row.get("agentId")) or chains.get(as_text(row.get("parentUuid")), uuid)
    chains[uuid] = name
    builder.subagents.setdefault(name, "unknown")
    return name


def _user_row(row: Json, builder: SessionBuilder, path: Path, owner: str) -> None:
    if row.get("isCompactSummary") is True:
        builder.n_compactions += 1
        return
    content = as_dict(row.get("message")).get("content")
    blocks = [as_dict(block) for block in as_list(content)]
    results = [block for block in blocks if block.get("type") == "tool_result"]
    for block in results:
        builder.output(as_text(block.get("tool_use_id")), _size(block.get("content"), path))
    if owner or results or row.get("isMeta") is True:
        return
    text = (
        content
        if isinstance(content, str)
        else "\n".join(as_text(b.get("text")) for b in blocks if b.get("type") == "text")
    )
    if text.strip() and not _MARKUP.match(text):
        builder.prompt(text, as_time(row.get("timestamp")))


def _size(content: object, transcript: Path) -> int | None:
    """Return the length of a tool's answer, looked up where it was saved to a side file."""
    text = (
        content
        if isinstance(content, str)
        else "".join(as_text(as_dict(part).get("text")) for part in as_list(content))
    )
    saved = _SAVED.search(text)
    if saved is None:
        return len(text)
    folder = transcript.parent.resolve()
    target = (folder / saved.group(1)).resolve()
    if not target.is_relative_to(folder / transcript.stem) or not target.is_file():
        return None
    return target.stat().st_size


def _assistant_row(row: Json, builder: SessionBuilder, owner: str, line: int) -> None:
    message = as_dict(row.get("message"))
    if not message:
        builder.notes.append(Note(line, "assistant message without content"))
        return
    usage = as_dict(message.get("usage"))
    builder.message(
        as_text(message.get("id")) or as_text(row.get("uuid")) or f"row-{line}",
        Usage(
            as_int(usage.get("input_tokens")),
            as_int(usage.get("output_tokens")),
            as_int(usage.get("cache_read_input_tokens")),
            as_int(usage.get("cache_creation_input_tokens")),
        ),
    )
    for block in map(as_dict, as_list(message.get("content"))):
        if block.get("type") == "tool_use" and block.get("name"):
            builder.call(
                as_text(block.get("id")),
                as_text(block["name"]),
                block.get("input"),
                as_time(row.get("timestamp")),
                owner,
            )
