import sys
import tempfile
from pathlib import Path

import pytest
from tests.history.repositories import Step, make_repository

from wherein.errors import UsageError
from wherein.history.source import open_source
from wherein.measure.arms import Found, Opened, until_target
from wherein.measure.arms_external import CommandArm, paths_in_output
from wherein.measure.arms_grep import GrepArm, search_words
from wherein.measure.arms_own import parse_arm
from wherein.measure.replay_trees import Contents, TextTree, read_tree
from wherein.measure.requests import Request

FILES = {
    "src/basket.py": "def total(basket):\n    return sum(basket)\n",
    "src/refund.py": "def reverse_charge(card):\n    return card\n\n# refund refund refund\n",
    "src/mail.py": "def send_letter(card):\n    return card  # refund\n",
    "src/data.bin.py": "x\0y",
    "notes.md": "refund\n",
}


def request(text: str, *targets: str) -> Request:
    return Request("0" * 40, "1" * 40, 0, text, "plain", tuple(targets), len(targets))


@pytest.fixture
def tree(tmp_path: Path) -> TextTree:
    shas = make_repository(tmp_path, [Step("start", FILES)])
    git = open_source(tmp_path)
    assert git is not None
    return read_tree(git, shas[0], Contents(git))


def test_a_tree_holds_the_source_files_of_its_commit_alone(tree: TextTree) -> None:
    assert tree.paths == ("src/basket.py", "src/mail.py", "src/refund.py")
    assert tree.counts("REFUND") == {"src/refund.py": 3, "src/mail.py": 1}
    assert tree.has_identifier("reverse_charge")
    assert not tree.has_identifier("reverse")
    assert tree.part(["src/mail.py"]).paths == ("src/mail.py",)


def test_grep_takes_code_first_then_the_longest_word() -> None:
    assert search_words("why does the card of send_letter vanish") == [
        "send_letter",
        "vanish",
        "card",
    ]
    assert search_words("a refund fails", {"Refund": ["reverse_charge"]})[0] == "reverse_charge"


def test_grep_opens_the_files_with_most_matches_and_counts_its_rounds(tree: TextTree) -> None:
    arm = GrepArm()
    arm.prepare(tree)
    found = arm.search(request("refund unheardof"))
    assert found.paths == ["src/refund.py", "src/mail.py"]
    assert found.n_rounds == 2
    assert [item.round for item in found.opened] == [2, 2]  # the longer word found nothing
    assert found.words == ("unheardof", "refund")


def test_grep_narrows_when_too_many_files_match(tmp_path: Path) -> None:
    files = {f"src/m{i:02}.py": "import common\n" for i in range(14)}
    files["src/m07.py"] += "card\n"
    shas = make_repository(tmp_path, [Step("start", files)])
    git = open_source(tmp_path)
    assert git is not None
    arm = GrepArm()
    arm.prepare(read_tree(git, shas[0], Contents(git)))
    found = arm.search(request("common card"))
    assert found.paths == ["src/m07.py"]
    assert found.n_rounds == 2


def test_a_glossary_lets_grep_find_what_the_code_calls_otherwise(tree: TextTree) -> None:
    plain, helped = GrepArm(), GrepArm("glossary", {"money back": ("reverse_charge",)})
    for arm in (plain, helped):
        arm.prepare(tree)
    asked = request("customer gets money back", "src/refund.py")
    assert until_target(plain.search(asked), asked.targets) is None
    spent = until_target(helped.search(asked), asked.targets)
    assert spent is not None
    assert spent[1] == 1


def test_tokens_until_the_target_count_what_came_before_it() -> None:
    found = Found(
        (Opened("a", 10, 1), Opened("b", 20, 2), Opened("c", 40, 2)), overhead_tokens=(1, 2, 4)
    )
    assert until_target(found, ["b"]) == (10 + 20 + 1 + 2, 2)
    assert until_target(found, ["z"]) is None


def test_a_command_of_ones_own_runs_in_a_copy_of_the_tree(tree: TextTree) -> None:
    script = (
        "import sys, pathlib\n"
        "for p in sorted(pathlib.Path('.').rglob('*.py')):\n"
        "    if sys.argv[1] in p.read_text(): print(f'{p}:1: hit')\n"
    )
    arm = CommandArm("mine", [sys.executable, "-c", script, "{query}"])
    arm.prepare(tree)
    try:
        assert arm.search(request("refund")).paths == ["src/mail.py", "src/refund.py"]
        assert arm.search(request("$(touch x); basket")).paths == []
        arm.prepare(tree.part(["src/mail.py"]))
        assert arm.search(request("refund")).paths == ["src/mail.py"]
    finally:
        arm.close()


def test_a_command_finds_no_repository_around_its_copy(
    tree: TextTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # in the repository that is replayed
    arm = CommandArm("log", ["git", "log", "--name-only", "--format=", "--grep={query}"])
    arm.prepare(tree)
    found = arm.search(request("start"))
    arm.close()
    assert (found.paths, found.note) == ([], "exit code 128")


def test_a_command_that_fails_says_so(tree: TextTree) -> None:
    arm = CommandArm("mine", [sys.executable, "-c", "import sys; sys.exit(7)", "{query}"])
    arm.prepare(tree)
    found = arm.search(request("refund"))
    arm.close()
    assert found.paths == []
    assert found.note == "exit code 7"


@pytest.mark.parametrize("text", ["rg {query}", "name=", "na me=rg {query}", "n=rg x", "n='rg"])
def test_an_arm_that_cannot_run_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_arm(text)
    assert "name=command" in caught.value.hint


def test_paths_are_read_from_the_usual_forms_of_output(tmp_path: Path) -> None:
    known = frozenset({"a/b.py", "c.py", "d e.py", "f.py"})
    output = (
        f"{tmp_path}/a/b.py:12:def x\n"
        "./c.py\n"
        "d e.py:3-9  class D\n"
        '{"path": "f.py", "line": 3}\n'
        "a/b.py again\nnothing here\n"
    )
    assert [path for path, _ in paths_in_output(output, tmp_path, known)] == [
        "a/b.py",
        "c.py",
        "d e.py",
        "f.py",
    ]
