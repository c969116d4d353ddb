"""Claude Code's transcripts, with the faults that users met in other readers (kind J)."""

import json
from pathlib import Path

from tests.transcripts.rows import assistant, result, use, user, write_rows

from wherein.measure.sessions import measure_sessions
from wherein.transcripts.claude_code import find, read
from wherein.transcripts.rows import RowReader
from wherein.transcripts.values import Session


def prompts_of(session: Session) -> list[str]:
    return [prompt.text for prompt in session.prompts]


def test_a_message_written_as_several_rows_counts_once(tmp_path: Path) -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "ok"},
        use("t1", "Read", {"file_path": "a.py"}),
        use("t2", "Grep", {"pattern": "x"}),
    ]
    rows = [assistant(f"a{n}", "u1", "m1", block) for n, block in enumerate(blocks)]
    (session,) = read(write_rows(tmp_path / "s1.jsonl", user("u1", None, "go"), *rows))
    assert session.n_assistant_messages == 1
    assert [call.name for call in session.calls] == ["Read", "Grep"]
    assert (session.usage.output, session.usage.input, session.usage.cache_read) == (50, 10, 100)


def test_sub_agents_beside_and_inside_a_transcript_are_rolled_in_once(tmp_path: Path) -> None:
    task = use("t1", "Task", {"subagent_type": "Explore", "prompt": "look"})
    main = write_rows(
        tmp_path / "s1.jsonl",
        user("u1", None, "find it"),
        assistant("a1", "u1", "m1", task),
        result("u2", "a1", "t1", "found"),
    )
    side = {"isSidechain": True, "agentId": "ab12"}
    write_rows(
        tmp_path / "s1" / "subagents" / "agent-ab12.jsonl",
        assistant("a1", "u1", "m1", task, **side),
        user("x1", None, "look", **side),
        assistant("x2", "x1", "m2", use("k1", "Grep", {"pattern": "q"}), **side),
        result("x3", "x2", "k1", "a.py:1", **side),
        assistant("x4", "x3", "m3", use("k2", "Read", {"file_path": "a.py"}), **side),
    )
    (tmp_path / "s1" / "subagents" / "agent-ab12.meta.json").write_text('{"agentType": "Explore"}')
    (session,) = read(main)
    assert [(a.subagent_id, a.type) for a in session.subagents] == [("ab12", "Explore")]
    assert [(c.name, c.subagent) for c in session.calls] == [
        ("Task", ""),
        ("Grep", "ab12"),
        ("Read", "ab12"),
    ]
    assert session.n_assistant_messages == 3
    assert prompts_of(session) == ["find it"]
    (tmp_path / "s1" / "subagents" / "agent-ab12.meta.json").unlink()
    (untold,) = read(main)
    assert [(a.subagent_id, a.type) for a in untold.subagents] == [("ab12", "unknown")]
    assert untold.calls == session.calls


def test_what_a_sub_agent_did_in_its_own_file_stands_where_it_happened(tmp_path: Path) -> None:
    def at(second: int) -> dict[str, str]:
        return {"timestamp": f"2026-03-01T10:00:{second:02d}Z"}

    main = write_rows(
        tmp_path / "s1.jsonl",
        user("u1", None, "find it", **at(0)),
        assistant("a1", "u1", "m1", use("t1", "Task", {"prompt": "look"}), **at(1)),
        assistant("a2", "a1", "m2", use("t2", "Edit", {"file_path": "a.py"}), **at(9)),
    )
    write_rows(
        tmp_path / "s1" / "subagents" / "agent-ab12.jsonl",
        user("x1", None, "look", isSidechain=True, **at(2)),
        assistant("x2", "x1", "m3", use("k1", "Grep", {"pattern": "q"}), **at(3)),
        assistant("x3", "x2", "m4", use("k2", "Grep", {"pattern": "r"}), **at(4)),
    )
    (session,) = read(main)
    assert [call.name for call in session.calls] == ["Task", "Grep", "Grep", "Edit"]
    (figures,) = measure_sessions([session]).sessions
    assert (figures.searches_before_edit, figures.own_searches_before_edit) == (2, 0)


def test_an_inline_side_chain_is_one_sub_agent_of_unknown_type(tmp_path: Path) -> None:
    glob = use("q1", "Glob", {"pattern": "*"})
    (session,) = read(
        write_rows(
            tmp_path / "inline.jsonl",
            user("i1", None, "main", sessionId="s2"),
            user("i2", None, "child", sessionId="s2", isSidechain=True),
            assistant("i3", "i2", "m9", glob, sessionId="s2", isSidechain=True),
        )
    )[-1:]
    assert [(a.subagent_id, a.type) for a in session.subagents] == [("i2", "unknown")]
    assert [(call.name, call.subagent) for call in session.calls] == [("Glob", "i2")]


def test_only_what_a_person_typed_is_a_prompt(tmp_path: Path) -> None:
    (session,) = read(
        write_rows(
            tmp_path / "s1.jsonl",
            user("u1", None, "first"),
            assistant("a1", "gone", "m1", {"type": "text", "text": "ok"}),
            user("c1", "c2", [{"type": "text", "text": "second"}]),
            assistant("c2", "c1", "m2", use("t1", "Bash", {"command": "ls"})),
            result("r1", "c2", "t1", "a"),
            user("k1", None, "This session is being continued", isCompactSummary=True),
            user("k2", "k1", "<local-command-stdout>x</local-command-stdout>"),
            user("k3", "k2", "caveat", isMeta=True),
        )
    )
    assert prompts_of(session) == ["first", "second"]
    assert session.n_compactions == 1
    assert session.n_assistant_messages == 2


def test_a_cut_row_is_named_and_an_unfinished_one_is_left_for_later(tmp_path: Path) -> None:
    path = write_rows(
        tmp_path / "s1.jsonl",
        user("u1", None, "one"),
        json.dumps(user("u2", "u1", "two"))[:90],
        user("u3", "u1", "three"),
        user("u4", "u3", "four"),
    )
    row = json.dumps(user("u5", "u4", "five"))
    with path.open("a") as file:
        file.write(row[:-6])
    (session,) = read(path)
    assert prompts_of(session) == ["one", "three", "four"]
    assert [(note.line, note.message.partition(":")[0]) for note in session.notes] == [
        (2, "bad row"),
        (5, "incomplete last row, left for later"),
    ]
    reader = RowReader(path)
    list(reader)
    with path.open("a") as file:
        file.write(row[-6:] + "\n")
    resumed = RowReader(path, reader.offset, reader.line)
    assert [found["message"]["content"] for _, found in resumed] == ["five"]


def test_rows_behind_a_hole_of_nul_bytes_are_recovered(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "s1.jsonl", user("u1", None, "one"))
    with path.open("ab") as file:
        file.write(b"\0" * 4096)
    write_rows(path, user("u2", "u1", "two"), user("u3", "u2", "three"))
    with path.open("ab") as file:
        file.write(b"\0" * 100)
    (session,) = read(path)
    assert prompts_of(session) == ["one", "two", "three"]
    assert [note.message for note in session.notes] == ["4096 NUL bytes"]


def test_rows_and_contents_of_other_shapes_are_counted_and_passed_over(tmp_path: Path) -> None:
    odd = [use("t1", "Read", "a.py"), "loose", None, {"type": "server_tool_use"}]
    (session,) = read(
        write_rows(
            tmp_path / "s1.jsonl",
            "null",
            "42",
            '["x"]',
            '"text"',
            user("u1", None, "one"),
            {"type": "assistant", "uuid": "a1", "message": "plain"},
            {"type": "assistant", "uuid": "a2", "message": {"id": "m2", "content": None}},
            {
                "type": "assistant",
                "uuid": "a3",
                "message": {"id": "m3", "content": odd, "usage": {"output_tokens": None}},
            },
            {"type": "queue-operation", "operation": "enqueue"},
            {"type": "file-history-snapshot", "snapshot": {}},
        )
    )
    assert prompts_of(session) == ["one"]
    assert [(call.name, call.argument) for call in session.calls] == [("Read", "a.py")]
    assert session.usage.output == 0
    shapes = [note.line for note in session.notes if note.message.startswith("unknown shape")]
    assert shapes == [1, 2, 3, 4]
    ignored = [note.message for note in session.notes if note.message.endswith("ignored")]
    assert ignored == [
        "1 rows of unknown type 'file-history-snapshot' ignored",
        "1 rows of unknown type 'queue-operation' ignored",
    ]


def test_a_row_of_twenty_megabytes_is_noted_with_its_size(tmp_path: Path) -> None:
    (session,) = read(
        write_rows(
            tmp_path / "s1.jsonl",
            user("u1", None, "before"),
            assistant("a1", "u1", "m1", use("t1", "Bash", {"command": "cat " + "y" * 9000})),
            result("r1", "a1", "t1", "z" * 20_000_000),
            user("u2", "r1", "after"),
        )
    )
    assert prompts_of(session) == ["before", "after"]
    (call,) = session.calls
    assert call.output_chars == 20_000_000
    assert len(call.argument) <= 400


def test_output_saved_to_a_side_file_is_measured_there_and_only_there(tmp_path: Path) -> None:
    saved = "<persisted-output>\nFull output saved to: {}\n</persisted-output>"
    folder = tmp_path / "p"
    (folder / "s1" / "tool-results").mkdir(parents=True)
    (folder / "s1" / "tool-results" / "t1.txt").write_text("q" * 50_000)
    (tmp_path / "outside.txt").write_text("not ours to read\n")
    calls = [
        assistant(f"a{i}", "u1", f"m{i}", use(f"t{i}", "Bash", {"command": "x"})) for i in (1, 2, 3)
    ]
    places = ["s1/tool-results/t1.txt", "../outside.txt", "s1/tool-results/t3.txt"]
    results = [
        result(f"r{i}", f"a{i}", f"t{i}", saved.format(place)) for i, place in enumerate(places, 1)
    ]
    (session,) = read(write_rows(folder / "s1.jsonl", user("u1", None, "go"), *calls, *results))
    assert [call.output_chars for call in session.calls] == [50_000, None, None]


def test_transcripts_are_found_under_the_home_folder(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects" / "-home-me-app"
    path = write_rows(folder / "s1.jsonl", user("u", None, "x"))
    assert list(find(tmp_path)) == [path]
