"""One small session of each further agent, in the shape that agent writes."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.transcripts.rows import user, write_rows

from wherein.errors import QueryError
from wherein.transcripts import codex, copilot, cursor, gemini, opencode
from wherein.transcripts.load import AGENTS, load_sessions
from wherein.transcripts.values import Session


def calls_of(session: Session) -> list[tuple[str, str, str]]:
    return [(call.name, call.kind.value, call.argument) for call in session.calls]


def codex_row(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-01T10:00:00Z", "type": kind, "payload": payload}


def test_codex_calls_of_every_form_are_read(tmp_path: Path) -> None:
    path = tmp_path / ".codex" / "sessions" / "2026" / "03" / "01" / "rollout-x.jsonl"
    text = [{"type": "input_text", "text": "fix the cart"}]
    context = [{"type": "input_text", "text": "<environment_context>…"}]
    call = {"call_id": "c1", "arguments": '{"command": ["bash", "-lc", "rg cart"]}'}
    script = 'await tools.exec_command({ "cmd": "grep -rn total src" })'
    usage = {"input_tokens": 900, "cached_input_tokens": 600, "output_tokens": 70}
    write_rows(
        path,
        codex_row("session_meta", id="abc", cwd="/app"),
        codex_row("response_item", type="message", role="user", content=context),
        codex_row("response_item", type="message", role="user", content=text),
        codex_row("response_item", type="function_call", name="shell", **call),
        codex_row("response_item", type="function_call_output", call_id="c1", output="a:1"),
        codex_row(
            "response_item", type="custom_tool_call", call_id="c2", name="exec", input=script
        ),
        codex_row(
            "response_item",
            type="local_shell_call",
            call_id="c3",
            action={"type": "exec", "command": ["cat", "a.py"]},
        ),
        codex_row(
            "response_item", type="custom_tool_call", call_id="c4", name="apply_patch", input="***"
        ),
        codex_row("event_msg", type="token_count", info={"total_token_usage": usage}),
        codex_row("compacted", message="…"),
    )
    assert list(codex.find(tmp_path)) == [path]
    (session,) = codex.read(path)
    assert (session.session_id, session.folder, session.n_compactions) == ("abc", "/app", 1)
    assert [prompt.text for prompt in session.prompts] == ["fix the cart"]
    assert calls_of(session) == [
        ("shell", "search", "cart"),
        ("exec_command", "search", "total"),
        ("local_shell", "read", "a.py"),
        ("apply_patch", "edit", "***"),
    ]
    assert session.calls[0].output_chars == 3
    assert (session.usage.input, session.usage.cache_read, session.usage.output) == (300, 600, 70)


def gemini_message(number: int, kind: str, content: str, *calls: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"m{number}",
        "timestamp": "2026-03-01T10:00:00Z",
        "type": kind,
        "content": content,
        "toolCalls": list(calls),
        "tokens": {"input": 10, "output": 2, "cached": 4},
    }


def test_gemini_rewinds_are_applied(tmp_path: Path) -> None:
    path = tmp_path / ".gemini" / "tmp" / "h" / "chats" / "session-1.jsonl"
    search = {"id": "t1", "name": "search_file_content", "args": {"pattern": "cart"}, "result": "x"}
    edit = {"id": "t2", "name": "replace", "args": {"file_path": "a.py"}}
    write_rows(
        path,
        {"sessionId": "g1", "startTime": "2026-03-01T10:00:00Z"},
        gemini_message(1, "user", "first"),
        gemini_message(2, "gemini", "", search),
        gemini_message(3, "user", "taken back"),
        gemini_message(4, "gemini", "", edit),
        {"$rewindTo": "m3"},
        gemini_message(5, "user", "second"),
    )
    assert list(gemini.find(tmp_path)) == [path]
    (session,) = gemini.read(path)
    assert session.session_id == "g1"
    assert [prompt.text for prompt in session.prompts] == ["first", "second"]
    assert calls_of(session) == [("search_file_content", "search", "cart")]
    assert (session.usage.input, session.usage.cache_read) == (6, 4)


def test_older_gemini_chats_are_one_json_file(tmp_path: Path) -> None:
    path = tmp_path / "session-2.json"
    path.write_text(
        json.dumps({"sessionId": "g2", "messages": [gemini_message(1, "user", "hello")]})
    )
    (session,) = gemini.read(path)
    assert (session.session_id, session.prompts[0].text) == ("g2", "hello")


def test_copilot_requests_and_their_execution_are_one_call(tmp_path: Path) -> None:
    path = tmp_path / ".copilot" / "session-state" / "p1" / "events.jsonl"
    request = {"toolCallId": "t1", "name": "grep", "arguments": {"pattern": "cart"}}
    start = {"toolCallId": "t1", "toolName": "grep", "arguments": {"pattern": "cart"}}
    done = {"toolCallId": "t1", "success": True, "result": {"content": "a.py:1"}}
    write_rows(
        path,
        {"type": "session.start", "data": {"sessionId": "p1", "context": {"cwd": "/app"}}},
        {"type": "user.message", "timestamp": "2026-03-01T10:00:00Z", "data": {"content": "go"}},
        {"type": "assistant.message", "data": {"messageId": "m", "toolRequests": [request]}},
        {"type": "tool.execution_start", "data": start},
        {"type": "tool.execution_complete", "data": done},
    )
    assert list(copilot.find(tmp_path)) == [path]
    (session,) = copilot.read(path)
    assert calls_of(session) == [("grep", "search", "cart")]
    assert session.calls[0].output_chars == 6


def test_cursor_conversations_come_from_the_database_in_their_own_order(tmp_path: Path) -> None:
    path = tmp_path / ".config" / "Cursor" / "User" / "globalStorage" / "state.vscdb"
    path.parent.mkdir(parents=True)
    tool = {"name": "codebase_search", "rawArgs": '{"query": "cart total"}', "result": "[]"}
    rows = {
        "composerData:c1": {
            "fullConversationHeadersOnly": [{"bubbleId": "z"}, {"bubbleId": "a"}, {"bubbleId": "m"}]
        },
        "bubbleId:c1:a": {"type": 2, "toolFormerData": tool},
        "bubbleId:c1:m": {"type": 2, "toolFormerData": {"name": "edit_file", "params": "{}"}},
        "bubbleId:c1:z": {"type": 1, "text": "where is the total"},
        "bubbleId:c10:z": {"type": 1, "text": "another conversation"},
    }
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE cursorDiskKV (key TEXT, value BLOB)")
        database.execute("CREATE TABLE ItemTable (key TEXT, value BLOB)")
        database.execute("INSERT INTO ItemTable VALUES ('token', 'secret')")
        for key, value in rows.items():
            database.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, json.dumps(value)))
    database.close()
    assert list(cursor.find(tmp_path)) == [path]
    (session,) = cursor.read(path)
    assert [prompt.text for prompt in session.prompts] == ["where is the total"]
    assert [kind for _, kind, _ in calls_of(session)] == ["search", "edit"]
    assert "secret" not in repr(session)


def test_opencode_sessions_come_from_the_database(tmp_path: Path) -> None:
    path = tmp_path / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    tokens = {"input": 5, "output": 6, "cache": {"read": 7, "write": 8}}
    state = {"input": {"pattern": "cart"}, "output": "a.py", "time": {"start": 1772359200000}}
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE session (id TEXT, directory TEXT)")
        database.execute("CREATE TABLE message (id TEXT, session_id TEXT, data TEXT)")
        database.execute("CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)")
        database.execute("INSERT INTO session VALUES ('o1', '/app')")
        for message, role in (("m1", "user"), ("m2", "assistant")):
            data = json.dumps({"role": role, "tokens": tokens})
            database.execute("INSERT INTO message VALUES (?, 'o1', ?)", (message, data))
        parts = [
            ("p1", "m1", {"type": "text", "text": "go"}),
            ("p2", "m2", {"type": "tool", "callID": "c1", "tool": "grep", "state": state}),
        ]
        for part, message, data in parts:
            database.execute(
                "INSERT INTO part VALUES (?, ?, 'o1', ?)", (part, message, json.dumps(data))
            )
    database.close()
    (session,) = opencode.read(path)
    assert [prompt.text for prompt in session.prompts] == ["go"]
    assert calls_of(session) == [("grep", "search", "cart")]
    assert session.usage.cache_write == 8
    assert session.calls[0].timestamp == 1772359200.0


def test_all_agents_are_loaded_together_and_an_unreadable_file_is_named(tmp_path: Path) -> None:
    write_rows(tmp_path / ".claude" / "projects" / "p" / "s1.jsonl", user("u", None, "hello"))
    broken = tmp_path / ".claude" / "projects" / "p" / "s2.jsonl"
    broken.mkdir()
    loaded = load_sessions(tmp_path)
    assert [(s.agent, s.session_id) for s in loaded.sessions] == [("claude-code", "s1")]
    assert [path for path, _ in loaded.unreadable] == [broken]
    assert sorted(AGENTS) == ["claude-code", "codex", "copilot", "cursor", "gemini", "opencode"]


def test_an_unknown_agent_is_refused_with_the_near_name(tmp_path: Path) -> None:
    with pytest.raises(QueryError) as refused:
        load_sessions(tmp_path, agents=["claude-cod"])
    assert refused.value.hint == "did you mean 'claude-code'?"


def test_what_cannot_be_read_is_named_and_ends_nothing(tmp_path: Path) -> None:
    database = tmp_path / ".config/Cursor/User/globalStorage/state.vscdb"
    chat = tmp_path / ".gemini/tmp/h/chats/session-a.json"
    rows = tmp_path / ".claude/projects/p/s.jsonl"
    contents = {
        database: b"not a database at all",
        chat: b"[" * 200_000,
        rows: '{"type": "user"}\n'.encode("utf-16"),
    }
    for path, data in contents.items():
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    loaded = load_sessions(tmp_path)
    assert {path for path, _ in loaded.unreadable} == set(contents)


def test_a_database_of_another_version_gives_no_sessions(tmp_path: Path) -> None:
    path = tmp_path / "state.vscdb"
    with closing(sqlite3.connect(path)) as database:
        database.execute("create table other (x)")
    assert cursor.read(path) == []


def test_reading_a_database_makes_no_file_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "state.vscdb"
    with closing(sqlite3.connect(path)) as database:
        database.execute("pragma journal_mode=wal")
        database.execute("create table cursorDiskKV (key text, value blob)")
        database.execute("insert into cursorDiskKV values ('composerData:a', '{}')")
        database.commit()
    assert len(cursor.read(path)) == 1
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("time", ["1e18", "Infinity", "1" * 400, '"0001-01-01T00:00:00+14:00"'])
def test_a_time_no_calendar_has_is_unknown(tmp_path: Path, time: str) -> None:
    path = tmp_path / "session-a.jsonl"
    calls = '[{"name": "glob", "args": {}}]'
    path.write_text(f'{{"type": "gemini", "timestamp": {time}, "toolCalls": {calls}}}\n')
    (session,) = gemini.read(path)
    assert (len(session.calls), session.started) == (1, None)


def test_arguments_nested_too_deeply_are_no_arguments(tmp_path: Path) -> None:
    path = tmp_path / "rollout-a.jsonl"
    call = {"type": "function_call", "name": "shell", "arguments": '{"a":' * 50_000, "call_id": "1"}
    path.write_text(json.dumps({"type": "response_item", "payload": call}) + "\n")
    assert len(codex.read(path)[0].calls) == 1
