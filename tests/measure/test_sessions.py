"""Figures over sessions, and what reports may show."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from wherein.measure.masking import mask_secrets
from wherein.measure.sessions import measure_sessions
from wherein.measure.sessions_html import to_html
from wherein.render.rendered import PLAIN
from wherein.render.sessions import render
from wherein.transcripts.actions import make_call
from wherein.transcripts.values import Prompt, Session, ToolCall, Usage

DAY = 86_400.0


def session(
    name: str,
    *steps: tuple[str, str],
    start: float | None = DAY,
    agent: str = "codex",
    prompt: str = "go",
    folder: str = "/app",
) -> Session:
    calls: Sequence[ToolCall] = [
        make_call(
            call_id=f"{name}{i}",
            name=tool,
            arguments={"command": text} if tool == "Bash" else {"file_path": text, "pattern": text},
            order=i,
            timestamp=start,
            output_chars=400,
            folder=folder,
        )
        for i, (tool, text) in enumerate(steps, 1)
    ]
    prompts = (Prompt(prompt, 0, start),)
    return Session(agent, name, Path("x"), folder, prompts, tuple(calls), (), {"m": Usage()}, 0)


def test_searches_are_counted_up_to_the_first_edit() -> None:
    report = measure_sessions(
        [
            session("a", ("Grep", "x"), ("Bash", "rg y"), ("Edit", "a.py"), ("Grep", "z")),
            session("b", ("Grep", "x")),
            session("c"),
        ]
    )
    assert [(f.session_id, f.searches_before_edit) for f in report.sessions] == [("a", 2), ("b", 1)]
    assert report.overall.median_searches == 1.5
    assert report.sessions[0].n_searches == 3
    assert report.sessions[0].n_shell_searches == 1
    assert report.sessions[0].finding_tokens == 200


def test_a_read_after_an_edit_of_the_file_is_no_reread() -> None:
    steps = [("Read", "a.py"), ("Read", "a.py"), ("Edit", "a.py"), ("Read", "a.py"), ("Read", "b")]
    (figures,) = measure_sessions([session("a", *steps)]).sessions
    assert (figures.n_reads, figures.n_rereads) == (4, 1)


def test_slow_sessions_come_slowest_first_with_their_words() -> None:
    six = [("Grep", f"w{i}") for i in range(6)]
    report = measure_sessions([session("a", *six), session("b", *six, ("Grep", "more"))])
    assert [f.session_id for f in report.slow] == ["b", "a"]
    assert report.slow[1].words_searched == tuple(f"w{i}" for i in range(6))
    assert report.overall.slow_share == 1.0


def test_a_date_splits_before_from_after_and_weeks_are_apart() -> None:
    report = measure_sessions(
        [
            session("a", *[("Grep", "x")] * 4, start=10 * DAY),
            session("b", ("mcp__wherein__search", "x"), start=30 * DAY, agent="gemini"),
        ],
        split_at=20 * DAY,
    )
    assert report.before is not None
    assert report.after is not None
    assert (report.before.mean_searches, report.after.mean_searches) == (4.0, 1.0)
    assert report.after.wherein_share == 1.0
    assert [group.label for group in report.by_agent] == ["codex", "gemini"]
    assert [group.label for group in report.by_week] == ["1970-W02", "1970-W05"]


def test_only_sessions_of_the_folder_are_measured() -> None:
    one = session("a", ("Grep", "x"))
    assert measure_sessions([one], folder="/app").overall.n_sessions == 1
    assert measure_sessions([one], folder="/apple").overall.n_sessions == 0


def test_sessions_without_a_date_are_counted_and_said() -> None:
    dated = session("a", ("Grep", "x"), start=10 * DAY)
    undated = [session(name, ("Grep", "x"), start=None) for name in "bc"]
    report = measure_sessions([dated, *undated], split_at=20 * DAY)
    assert report.before is not None
    assert (report.overall.n_sessions, report.before.n_sessions, report.n_undated) == (3, 1, 2)
    assert [(group.label, group.n_sessions) for group in report.by_week] == [
        ("1970-W02", 1),
        ("no date", 2),
    ]
    note = "2 sessions without a date: in no week, and neither before nor after a day"
    assert report.notes == (note,)
    assert f"note: {note}\n" in render(report, PLAIN).whole()
    assert note in to_html(report)


def test_sessions_without_a_date_are_left_out_of_a_period_and_said() -> None:
    report = measure_sessions([session("a", ("Grep", "x"), start=None)], since=5 * DAY)
    assert report.is_empty
    note = "1 session without a date: left out, as they may be from before"
    assert report.notes == (note,)
    assert note in render(report, PLAIN).whole()


def test_sessions_of_unknown_folder_are_left_out_of_one_folders_figures_and_said() -> None:
    placed, unplaced = session("a", ("Grep", "x")), session("b", ("Grep", "x"), folder="")
    report = measure_sessions([placed, unplaced], folder="/app")
    assert [one.session_id for one in report.sessions] == ["a"]
    assert report.notes == ("1 session of unknown folder: left out, as they may be of another one",)
    assert measure_sessions([placed, unplaced]).notes == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("use sk-ant-" + "a1b2c3d4" * 4 + " please", "use [masked] please"),
        ("export API_KEY=abcd1234efgh", "export API_KEY=[masked]"),
        ("curl -H 'Authorization: Bearer abcdef1234567890xyz'", None),
        ("postgres://me:hunter2@db/x", "postgres://me:[masked]@db/x"),
        ("ghp_abcdefghijklmnopqrstuvwx12", "[masked]"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "[masked]"),
        ("DB_PASSWORD=correcthorsebattery", "DB_PASSWORD=[masked]"),
        ("--password hunter2 --host x", "--password [masked] --host x"),
        ("passphrase='open sesame'", "passphrase='[masked]'"),
        ("redis://:hunter2@db", "redis://:[masked]@db"),
        ("curl -u me:hunter x.org", "curl -u me:[masked] x.org"),
        ("AccountKey=abcdefgh;", "AccountKey=[masked];"),
        ("https://hooks.slack.com/services/T0/B0/abcdefghijk", None),
        ("ASIA" + "ABCD" * 4, "[masked]"),
        ("hf_" + "abcd" * 6, "[masked]"),
        ("where is the token budget set", "where is the token budget set"),
        ("fix password validation in forms", "fix password validation in forms"),
    ],
)
def test_secrets_are_masked_and_plain_words_are_not(text: str, shown: str | None) -> None:
    masked = mask_secrets(text)
    assert "[masked]" in masked if shown is None else masked == shown


def test_masking_takes_no_square_of_the_length() -> None:
    # With a pattern that takes the square this is a matter of hours, not of milliseconds.
    assert mask_secrets("ab-" * 1_000_000) == "ab-" * 1_000_000


def test_reads_through_wherein_are_no_searches_through_it() -> None:
    steps = [("mcp__wherein__search", "x"), *[("mcp__wherein__read", f"{n}") for n in range(5)]]
    report = measure_sessions([session("a", *steps, ("Grep", "y"))])
    assert report.overall.wherein_share == 0.5


def test_a_secret_in_the_first_request_or_a_search_is_not_shown() -> None:
    secret = "ghp_abcdefghijklmnopqrstuvwx12"
    report = measure_sessions([session("a", *[("Grep", secret)] * 7, prompt=f"use {secret}")])
    assert secret not in repr(report)
