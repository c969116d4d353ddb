"""Where sessions worked whose agent does not write it down plainly."""

import json
import sqlite3
from contextlib import closing
from hashlib import md5, sha256
from pathlib import Path
from typing import Any

import pytest
from tests.transcripts.rows import user, write_rows

from wherein.measure.sessions import measure_sessions
from wherein.transcripts import cursor, gemini
from wherein.transcripts.folders import from_uri, slug_of
from wherein.transcripts.load import load_sessions

SHOP, BLOG = "/home/ada/shop", "/home/ada/blog"


def gemini_chat(home: Path, project: str, name: str, **first: Any) -> Path:
    path = home / ".gemini" / "tmp" / project / "chats" / f"session-{name}.jsonl"
    call = {"id": "t", "name": "glob", "args": {"pattern": "*"}}
    message = {"id": "m", "type": "gemini", "content": "", "toolCalls": [call]}
    return write_rows(path, {"sessionId": name, **first}, message)


def hashed(folder: str) -> str:
    return sha256(folder.encode()).hexdigest()


def folders(home: Path, *known: str) -> dict[str, str]:
    return {one.session_id: one.folder for one in load_sessions(home, folders=known).sessions}


def test_gemini_writes_the_folder_beside_the_chats_or_in_a_list(tmp_path: Path) -> None:
    gemini_chat(tmp_path, "shop", "a")
    gemini_chat(tmp_path, "blog", "b")
    (tmp_path / ".gemini" / "tmp" / "shop" / ".project_root").write_text(SHOP + "\n")
    listed = {"projects": {BLOG: "blog", "/other": "other"}}
    (tmp_path / ".gemini" / "projects.json").write_text(json.dumps(listed))
    assert folders(tmp_path) == {"a": SHOP, "b": BLOG}


def test_a_hash_is_compared_with_the_folders_that_are_known(tmp_path: Path) -> None:
    gemini_chat(tmp_path, hashed(SHOP), "a")
    gemini_chat(
        tmp_path, "renamed", "b", projectHash=hashed(BLOG), startTime="2026-03-01T10:00:00Z"
    )
    assert folders(tmp_path) == {"a": "", "b": ""}
    assert folders(tmp_path, f"{SHOP}/src") == {"a": SHOP, "b": ""}
    write_rows(tmp_path / ".claude/projects/p/s.jsonl", user("u", None, "hi", cwd=BLOG))
    assert folders(tmp_path, SHOP)["b"] == BLOG


def test_only_the_sessions_of_one_repository_are_measured(tmp_path: Path) -> None:
    gemini_chat(tmp_path, hashed(SHOP), "a")
    gemini_chat(tmp_path, hashed(BLOG), "b")
    loaded = load_sessions(tmp_path, folders=[SHOP])
    report = measure_sessions(loaded.sessions, folder=SHOP)
    assert [one.session_id for one in report.sessions] == ["a"]
    assert report.n_without_folder == 1


def test_the_paths_a_session_names_tell_where_it_worked(tmp_path: Path) -> None:
    path = tmp_path / ".gemini" / "tmp" / hashed(SHOP) / "chats" / "session-a.jsonl"
    call = {"id": "t", "name": "read_file", "args": {"absolute_path": f"{SHOP}/src/cart.py"}}
    write_rows(path, {"id": "m", "type": "gemini", "toolCalls": [call]})
    assert list(folders(tmp_path).values()) == [SHOP]


def test_a_cursor_transcript_lies_in_a_folder_named_after_the_project(tmp_path: Path) -> None:
    folder = "/home/ada/my_shop.v2"
    path = tmp_path / ".cursor/projects/home-ada-my-shop-v2/agent-transcripts/t1/t1.jsonl"
    use = {"type": "tool_use", "name": "Read", "input": {"path": f"{folder}/a.py"}}
    asked = "<user_info>\nOS: linux\n</user_info>\n<user_query>\nfix it\n</user_query>"
    write_rows(
        path,
        {"role": "user", "message": {"content": [{"type": "text", "text": asked}]}},
        {"role": "assistant", "message": {"content": [use]}},
    )
    (session,) = load_sessions(tmp_path).sessions
    assert session.folder == folder
    assert [prompt.text for prompt in session.prompts] == ["fix it"]


def editor(home: Path, rows: dict[str, Any]) -> Path:
    path = home / ".config" / "Cursor" / "User" / "globalStorage" / "state.vscdb"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE cursorDiskKV (key TEXT, value BLOB)")
        for key, value in rows.items():
            database.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, json.dumps(value)))
        database.commit()
    return path


def bubble(path: str) -> dict[str, Any]:
    tool = {"name": "read_file", "rawArgs": json.dumps({"target_file": path})}
    return {"type": 2, "toolFormerData": tool}


def test_an_editors_conversation_worked_where_it_says_or_where_its_files_are(
    tmp_path: Path,
) -> None:
    path = editor(
        tmp_path,
        {
            "composerData:c1": {"createdAt": 1772359200000},
            "bubbleId:c1:a": bubble(f"{SHOP}/src/a.py"),
            "bubbleId:c1:b": bubble("/usr/include/stdio.h"),
            "composerData:c2": {"workspaceIdentifier": {"uri": {"fsPath": BLOG}}},
            "bubbleId:c2:a": bubble("a.py"),
            "composerData:c3": {},
            "bubbleId:c3:a": {**bubble("a.py"), "workspaceUris": ["file:///home/ada/my%20shop"]},
            "composerData:c4": {},
            "bubbleId:c4:a": bubble("a.py"),
        },
    )
    for number, folder in enumerate(["file:///home/ada", f"file://{SHOP}"]):
        opened = path.parent.parent / "workspaceStorage" / f"w{number}" / "workspace.json"
        opened.parent.mkdir(parents=True)
        opened.write_text(json.dumps({"folder": folder}))
    sessions = {one.session_id: one for one in cursor.read(path)}
    found = {name: one.folder for name, one in sessions.items()}
    assert found == {"c1": SHOP, "c2": BLOG, "c3": "/home/ada/my shop", "c4": ""}
    assert sessions["c1"].started == 1772359200.0


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("file:///home/a%20b", "/home/a b"),
        ("file:///c:/work", "c:/work"),
        ("vscode-remote://ssh/home/a", ""),
        ("/home/a", "/home/a"),
        ("", ""),
    ],
)
def test_a_file_address_is_a_path(address: str, path: str) -> None:
    assert from_uri(address) == path


def test_a_slug_keeps_letters_and_digits() -> None:
    assert slug_of("/Users/Ada/my_shop.v2") == "users-ada-my-shop-v2"


# Chats of Cursor's command line.


def field(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2, len(data)]) + data


def chat(home: Path, messages: list[Any], *, folder: str = "", **meta: Any) -> Path:
    name = md5(SHOP.encode(), usedforsecurity=False).hexdigest()
    path = home / ".cursor" / "chats" / name / "chat-1" / "store.db"
    path.parent.mkdir(parents=True)
    root = b"\x20\x05"  # a number in another field, which is passed over
    blobs: dict[str, bytes] = {}
    for number, message in enumerate(messages):
        data = json.dumps(message).encode()
        blob_id = sha256(data + bytes([number])).digest()
        blobs[blob_id.hex()] = data
        root += field(1, blob_id)
    root += field(9, folder.encode()) if folder else b""
    root_id = sha256(root).hexdigest()
    blobs[root_id] = root
    data = {"agentId": "chat-1", "latestRootBlobId": root_id, "createdAt": 1772359200000, **meta}
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
        database.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
        database.executemany("INSERT INTO blobs VALUES (?, ?)", sorted(blobs.items()))
        database.execute("INSERT INTO meta VALUES ('0', ?)", (json.dumps(data).encode().hex(),))
        database.commit()
    return path


def said(role: str, *blocks: dict[str, Any] | str) -> dict[str, Any]:
    content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    return {"role": role, "content": content}


def called(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool-call", "toolCallId": call_id, "toolName": name, "args": arguments}


MESSAGES = [
    {"role": "system", "content": "rules"},
    said("user", f"<user_info>\nWorkspace Path: {BLOG}\n</user_info>"),
    said("user", "<user_query>\nwhere is the total\n</user_query>"),
    said(
        "assistant",
        {"type": "reasoning", "text": "hm"},
        called("t1", "Grep", pattern="total", path=SHOP),
        called("t2", "StrReplace", path=f"{SHOP}/cart.py"),
    ),
    {
        "role": "tool",
        "content": [{"type": "tool-result", "toolCallId": "t1", "result": "cart.py:1"}],
    },
]


def test_a_chat_is_read_in_the_order_of_its_root(tmp_path: Path) -> None:
    path = chat(tmp_path, MESSAGES, folder=f"file://{SHOP}")
    assert list(cursor.find(tmp_path)) == [path]
    (session,) = cursor.read(path)
    assert (session.session_id, session.folder, session.started) == ("chat-1", SHOP, 1772359200.0)
    assert [prompt.text for prompt in session.prompts] == ["where is the total"]
    assert [(call.name, call.kind.value) for call in session.calls] == [
        ("Grep", "search"),
        ("StrReplace", "edit"),
    ]
    assert session.calls[0].output_chars == 9
    assert session.n_assistant_messages == 1
    assert [one.name for one in path.parent.iterdir()] == ["store.db"]


def test_a_chats_folder_comes_from_its_root_its_context_or_its_hash(tmp_path: Path) -> None:
    (context,) = cursor.read(chat(tmp_path / "a", MESSAGES))
    assert context.folder == BLOG
    chat(tmp_path / "b", [MESSAGES[3]])
    assert folders(tmp_path / "b") == {"chat-1": SHOP}
    beside = chat(tmp_path / "c", [said("assistant", called("t", "Glob", pattern="*"))])
    beside.with_name("meta.json").write_text(json.dumps({"cwd": "/srv/app", "createdAtMs": 1}))
    assert cursor.read(beside)[0].folder == "/srv/app"


def test_a_damaged_chat_gives_what_is_left(tmp_path: Path) -> None:
    path = chat(tmp_path / "a", MESSAGES)
    with closing(sqlite3.connect(path)) as database:
        database.execute("DELETE FROM blobs WHERE CAST(data AS TEXT) LIKE '%tool-result%'")
        database.commit()
    (session,) = cursor.read(path)
    assert (len(session.calls), len(session.notes)) == (2, 1)
    empty = chat(tmp_path / "b", [])
    assert cursor.read(empty) == []
    lost = chat(tmp_path / "c", MESSAGES, latestRootBlobId="00")
    assert cursor.read(lost) == []


@pytest.mark.parametrize("root", [b"\x0a\xff", b"\xff" * 30, b"\x0b", b"\x0a\x20short"])
def test_a_root_that_is_no_protocol_buffer_ends_nothing(tmp_path: Path, root: bytes) -> None:
    path = chat(tmp_path, MESSAGES, latestRootBlobId="ab")
    with closing(sqlite3.connect(path)) as database:
        database.execute("INSERT INTO blobs VALUES ('ab', ?)", (root,))
        database.commit()
    assert cursor.read(path) == []


def test_older_chats_of_gemini_have_the_time_they_began(tmp_path: Path) -> None:
    path = gemini_chat(tmp_path, "p", "a", startTime="2026-03-01T10:00:00Z")
    (session,) = gemini.read(path)
    assert session.started == 1772359200.0
