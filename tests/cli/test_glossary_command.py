"""The glossary command in a repository with a history."""

import json
import os

import pytest
from tests.cli.sandbox import Sandbox
from tests.history.repositories import make_repository
from tests.measure.test_glossary_mining import shop

RULES = b"# Rules\r\n\r\nBe brief."
LINE = "- refund → `reverse_charge` in src/charges.py"


@pytest.fixture
def history(sandbox: Sandbox) -> Sandbox:
    make_repository(sandbox.root, shop(n=64))
    return sandbox


def test_suggest_shows_lines_and_writes_nothing(history: Sandbox) -> None:
    screen = history.run("glossary", "suggest", "--no-sessions", "-n", "20")
    assert screen.exit_code == 0, screen.stderr
    assert LINE in screen.stdout
    assert "found within 3 rounds: helps" in screen.stdout
    assert not (history.root / "AGENTS.md").exists()
    again = history.run("glossary", "suggest", "--no-sessions", "-n", "20", PYTHONHASHSEED="7")
    assert again.stdout == screen.stdout


def test_apply_check_and_remove_leave_the_rest_of_the_file_alone(history: Sandbox) -> None:
    rules = history.write("CLAUDE.md", RULES)
    screen = history.run("glossary", "apply", "--no-sessions", "-n", "20")
    assert screen.exit_code == 0, screen.stderr
    assert "written to CLAUDE.md" in screen.stdout
    written = rules.read_bytes()
    assert written.startswith(RULES)
    assert LINE.encode() in written
    assert written.count(b"\n") == written.count(b"\r\n")

    again = history.run("glossary", "apply", "--no-sessions", "-n", "20")
    assert "nothing written" in again.stdout
    assert rules.read_bytes() == written

    check = history.run("glossary", "check", "-n", "20")
    assert check.exit_code == 0, check.stdout
    assert f"{LINE}\n    helps" in check.stdout

    removed = history.run("glossary", "remove")
    assert (removed.exit_code, removed.stdout) == (0, "taken out of CLAUDE.md\n")
    assert rules.read_bytes() == RULES
    assert history.run("glossary", "remove").exit_code == 1


def test_check_names_what_is_gone_or_does_not_help(history: Sandbox) -> None:
    history.write(
        "AGENTS.md",
        "<!-- wherein:glossary -->\n"
        "- refund → `gone_name` in src/charges.py\n- refund → `reverse_charge` in src/gone.py\n"
        "- refund → `value_added_rate` in src/tax.py\n"
        "- holiday → `reverse_charge` in src/charges.py\n- by hand\n"
        "- up → `x` in ../outside.py\n<!-- wherein:glossary-end -->\n",
    )
    screen = history.run("glossary", "check", "-n", "20", "--json")
    (report,) = screen.rows()
    assert screen.exit_code == 1
    checked = json.loads(json.dumps(report["checked"]))
    assert [line["state"] for line in checked] == [
        "name gone",
        "file gone",
        "no longer helps",
        "not asked for",
        "file gone",
        "not in the form of a line",
    ]


def test_a_file_that_was_made_for_the_lines_goes_with_them(history: Sandbox) -> None:
    assert history.run("glossary", "apply", "--no-sessions", "-n", "20").exit_code == 0
    assert (history.root / "AGENTS.md").is_file()
    assert history.run("glossary", "remove").exit_code == 0
    assert not (history.root / "AGENTS.md").exists()


def test_without_enough_commits_nothing_is_found(shop: Sandbox) -> None:
    screen = shop.run("glossary", "apply", "--no-sessions")
    assert screen.exit_code == 1
    assert "no line helps here" in screen.stdout
    assert "too few commits" in screen.stderr
    assert not (shop.root / "AGENTS.md").exists()
    assert shop.run("glossary", "check").exit_code == 1


def test_a_link_that_leads_out_is_not_followed(history: Sandbox) -> None:
    (history.root / "AGENTS.md").symlink_to(history.home / "other.md")
    screen = history.run("glossary", "apply", "--no-sessions", "-n", "20")
    assert screen.exit_code == 2
    assert "outside the repository" in screen.stderr
    assert not (history.home / "other.md").exists()


def test_a_pipe_holds_nobody_up(history: Sandbox) -> None:
    os.mkfifo(history.root / "pipe.py")
    history.write(
        "AGENTS.md",
        "<!-- wherein:glossary -->\n- up → `x` in pipe.py\n<!-- wherein:glossary-end -->\n",
    )
    assert "file gone" in history.run("glossary", "check", "-n", "20").stdout
    (history.root / "AGENTS.md").unlink()
    os.mkfifo(history.root / "AGENTS.md")
    screen = history.run("glossary", "check", "--file", "AGENTS.md", "-n", "20")
    assert (screen.exit_code, "not a regular file" in screen.stderr) == (2, True)


@pytest.mark.parametrize("words", [(), ("invent",), ("suggest", "--file", "../x.md")])
def test_wrong_arguments_end_with_two(history: Sandbox, words: tuple[str, ...]) -> None:
    assert history.run("glossary", *words).exit_code == 2


def test_replay_takes_the_lines_of_the_file_as_an_arm(history: Sandbox) -> None:
    words = ("replay", "--arm", "grep", "--arm", "glossary", "--no-sizes", "-n", "12", "--json")
    assert history.run(*words).exit_code == 2
    assert history.run("glossary", "apply", "--no-sessions", "-n", "20").exit_code == 0
    (report,) = history.run(*words).rows()
    shares = {
        figure["arm"]: figure["within_rounds"]["3"]
        for figure in json.loads(json.dumps(report["figures"]))
        if figure["group"] == "all"
    }
    assert shares["glossary"] > shares["grep"]
