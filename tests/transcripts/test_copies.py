"""What stands in two sessions counts once, and no odd file stops or holds up the reading."""

import os
from pathlib import Path

from tests.transcripts.rows import assistant, result, use, user, write_rows

from wherein.transcripts.load import load_sessions

PROJECT = Path(".claude/projects/-work-shop")


def first_rows(session: str) -> list[dict[str, object]]:
    return [
        user("u1", None, "find the retry code", sessionId=session),
        assistant("a1", "u1", "m1", use("t1", "Grep", {"pattern": "retry"}), sessionId=session),
        result("r1", "a1", "t1", "a.py", sessionId=session),
        assistant("a2", "r1", "m2", use("t2", "Edit", {"file_path": "a.py"}), sessionId=session),
    ]


def test_a_resumed_session_counts_what_is_new_in_it(tmp_path: Path) -> None:
    folder = tmp_path / PROJECT
    later = "2026-01-03T00:00:00.000Z"
    write_rows(folder / "s1.jsonl", *first_rows("s1"))
    write_rows(
        folder / "a2.jsonl",  # comes first by name
        *first_rows("a2"),
        user("u9", "a2", "and the timeout", sessionId="a2", timestamp=later),
        assistant("a9", "u9", "m9", use("t9", "Read", {"file_path": "b.py"}), sessionId="a2",
                  timestamp=later),
    )  # fmt: skip
    write_rows(folder / "s3.jsonl", *first_rows("s3"))  # opened again, nothing done

    first, second = load_sessions(tmp_path).sessions

    assert [p.text for p in first.prompts] == ["find the retry code"]
    assert [c.name for c in first.calls] == ["Grep", "Edit"]
    assert [p.text for p in second.prompts] == ["and the timeout"]
    assert [c.name for c in second.calls] == ["Read"]
    assert (first.n_assistant_messages, second.n_assistant_messages) == (2, 1)


def test_what_is_no_regular_file_is_named_and_holds_nobody_up(tmp_path: Path) -> None:
    folder = tmp_path / PROJECT
    write_rows(folder / "s1.jsonl", *first_rows("s1"))
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "gone.jsonl").symlink_to("nowhere")
    chats = tmp_path / ".cursor/chats/a/b"
    chats.mkdir(parents=True)
    os.mkfifo(chats / "store.db")

    loaded = load_sessions(tmp_path)

    assert [session.session_id for session in loaded.sessions] == ["s1"]
    reasons = {path.name: reason for path, reason in loaded.unreadable}
    assert reasons["pipe.jsonl"] == reasons["store.db"] == "not a regular file"
    assert reasons["gone.jsonl"]


def test_a_row_with_a_wrong_byte_is_a_row(tmp_path: Path) -> None:
    path = write_rows(tmp_path / PROJECT / "s1.jsonl", *first_rows("s1"))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"retry code", b"caf\xe9"))
    (session,) = load_sessions(tmp_path).sessions
    assert [prompt.text for prompt in session.prompts] == ["find the caf\ufffd"]
    assert session.notes == ()
