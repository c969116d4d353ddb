"""The sessions command over transcripts in a home of its own."""

import json
from pathlib import Path

import pytest
from tests.cli.sandbox import Sandbox
from tests.transcripts.rows import assistant, use, user, write_rows

KEY = "ghp_" + "a1B2" * 8


@pytest.fixture
def agents(sandbox: Sandbox) -> Sandbox:
    """Six searches and an edit in one session of one agent."""
    searches = [
        assistant(f"a{i}", "u1", f"m{i}", use(f"c{i}", "Grep", {"pattern": f"word{i}"}))
        for i in range(6)
    ]
    edit = assistant("a9", "u1", "m9", use("c9", "Edit", {"file_path": "x.py"}))
    path = sandbox.home / ".claude" / "projects" / "-app" / "s1.jsonl"
    ask = user("u1", None, f"why is <b>refund</b> refused? token {KEY}", cwd="/app")
    write_rows(path, ask, *searches, edit)
    return sandbox


def snapshot_of(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): path.read_bytes() for path in sorted(files)}


def test_the_table_names_the_slow_session_and_hides_its_secret(agents: Sandbox) -> None:
    before = snapshot_of(agents.home)
    screen = agents.run("sessions")
    assert screen.exit_code == 0, screen.stderr
    assert "claude-code" in screen.stdout
    assert "   6  claude-code: why is <b>refund</b> refused? token [masked]" in screen.stdout
    assert "searched: word0, word1" in screen.stdout
    assert KEY not in screen.stdout
    assert snapshot_of(agents.home) == before


def test_json_holds_every_figure_and_no_secret(agents: Sandbox) -> None:
    screen = agents.run("sessions", "--json", "--split", "2026-02-01")
    (report,) = screen.rows()
    assert screen.exit_code == 0
    assert KEY not in screen.stdout
    assert json.loads(json.dumps(report["overall"]))["median_searches"] == 6.0
    assert json.loads(json.dumps(report["before"]))["n_sessions"] == 1
    assert json.loads(json.dumps(report["after"]))["n_sessions"] == 0


def test_the_page_loads_nothing_and_escapes_what_was_asked(agents: Sandbox) -> None:
    screen = agents.run("sessions", "--html", "out.html", "--split", "2026-01-01")
    page = (agents.root / "out.html").read_text("utf-8")
    assert screen.exit_code == 0
    assert "<b>refund" not in page
    assert "&lt;b&gt;refund" in page
    assert KEY not in page
    assert "src=" not in page
    assert "href=" not in page
    assert "Before and after 2026-01-01" in page


@pytest.mark.parametrize(
    "words", [("--since", "2026-03-01"), ("--folder", "/other"), ("--agent", "codex")]
)
def test_what_the_filters_leave_out_is_not_found(agents: Sandbox, words: tuple[str, str]) -> None:
    screen = agents.run("sessions", *words)
    assert (screen.exit_code, screen.stdout) == (1, "no session that searched, read or edited\n")
    assert agents.run("sessions", "--json", *words).exit_code == 1


def test_a_folder_and_a_home_can_be_named(agents: Sandbox) -> None:
    home = str(agents.home)
    screen = agents.run("sessions", "--home", home, "--folder", "/app", HOME="/nowhere")
    assert screen.exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--agent", "codexx"), "unknown agent 'codexx'"),
        (("--since", "soon"), "'soon' is not a date"),
        (("--home", "gone"), "'gone' is no folder"),
        (("--html", "gone/out.html"), "'gone/out.html' cannot be written"),
    ],
)
def test_wrong_arguments_end_with_two(
    agents: Sandbox, words: tuple[str, str], message: str
) -> None:
    screen = agents.run("sessions", *words)
    assert screen.exit_code == 2
    assert message in screen.stderr
    assert screen.stdout == ""
