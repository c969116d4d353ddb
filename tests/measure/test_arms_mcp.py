import json
import os
import shlex
import sys
from pathlib import Path

import pytest
from tests.history.repositories import Step, make_repository

from wherein.errors import UsageError
from wherein.history.source import open_source
from wherein.measure.arms_mcp import McpArm, paths_in_structured
from wherein.measure.arms_own import parse_arm
from wherein.measure.replay_run import replay_repository
from wherein.measure.replay_start import ReplayPlan
from wherein.measure.replay_trees import Contents, TextTree, read_tree
from wherein.measure.requests import Request, Wanted
from wherein.settings import Settings

STUB = Path(__file__).with_name("stub_server.py")
FILES = {
    "src/basket.py": "def total(basket):\n    return sum(basket)\n",
    "src/refund.py": "def reverse_charge(card):\n    return card\n\n# refund\n# refund\n",
    "src/mail.py": "def send_letter(card):\n    return card\n",
}


def request(text: str) -> Request:
    return Request("0" * 40, "1" * 40, 0, text, "plain", (), 0)


@pytest.fixture
def tree(tmp_path: Path) -> TextTree:
    shas = make_repository(tmp_path / "repo", [Step("start", FILES)])
    git = open_source(tmp_path / "repo")
    assert git is not None
    return read_tree(git, shas[0], Contents(git))


def stub(tmp_path: Path, manner: str, **options: float) -> McpArm:
    command = [sys.executable, str(STUB), manner, str(tmp_path / "log")]
    return McpArm("mine", command, "find", {"q": "{query}", "limit": 20}, **options)


def logged(tmp_path: Path) -> list[str]:
    return (tmp_path / "log").read_text().splitlines()


def is_running(line: str) -> bool:
    return Path(f"/proc/{line.removeprefix('start ')}").exists()


def test_the_tool_is_called_with_the_query_beside_the_trees_files(
    tmp_path: Path, tree: TextTree
) -> None:
    arm = stub(tmp_path, "text")
    arm.prepare(tree)
    found = arm.search(request("refunds & {braces}"))
    arm.close()
    assert found.paths == ["src/refund.py", "src/mail.py"]
    assert [item.tokens > 0 for item in found.opened] == [True, True]
    assert found.note == ""
    start, call = logged(tmp_path)
    arguments = json.dumps({"q": "refunds & {braces}", "limit": 20})
    asked = json.dumps({"name": "find", "arguments": json.loads(arguments)})
    assert call == f"call {asked} in ['src']"
    assert not is_running(start)


def test_structured_content_comes_before_text_and_code_in_it_names_no_file(
    tmp_path: Path, tree: TextTree
) -> None:
    arm = stub(tmp_path, "structured")
    arm.prepare(tree)
    found = arm.search(request("refund"))
    arm.close()
    assert found.paths == ["src/mail.py", "src/refund.py"]


def test_the_server_is_kept_for_a_tree_and_started_again_for_another(
    tmp_path: Path, tree: TextTree
) -> None:
    arm = stub(tmp_path, "text")
    arm.prepare(tree)
    arm.search(request("a"))
    arm.prepare(tree)
    arm.search(request("b"))
    assert sum(line.startswith("start") for line in logged(tmp_path)) == 1
    arm.prepare(tree.part(["src/mail.py"]))
    assert arm.search(request("c")).paths == ["src/mail.py"]  # the other one is no file of the tree
    arm.close()
    starts = [line for line in logged(tmp_path) if line.startswith("start")]
    assert len(starts) == 2
    assert not any(is_running(line) for line in starts)


@pytest.mark.parametrize(
    ("manner", "note"),
    [
        ("fail", "the tool failed: 1. src/refund.py:2"),
        ("refuse", "no such tool"),
        ("die", "python"),
        ("broken", "could not be started"),
    ],
)
def test_a_failure_is_said_and_nothing_is_left_running(
    tmp_path: Path, tree: TextTree, manner: str, note: str
) -> None:
    arm = stub(tmp_path, manner, timeout_s=20.0)
    arm.prepare(tree)
    found = arm.search(request("refund"))
    arm.close()
    assert found.paths == []
    assert note in found.note
    assert not any(is_running(line) for line in logged(tmp_path) if line.startswith("start"))


def test_a_server_that_is_not_installed_is_a_failure_of_the_arm_alone(
    tmp_path: Path, tree: TextTree
) -> None:
    arm = McpArm("mine", [str(tmp_path / "nothing")], "find", {"q": "{query}"})
    arm.prepare(tree)
    found = arm.search(request("refund"))
    arm.close()
    assert "could not be started" in found.note


def test_a_server_that_hangs_is_ended_and_after_three_times_given_up(
    tmp_path: Path, tree: TextTree
) -> None:
    arm = stub(tmp_path, "hang", timeout_s=0.8)
    arm.prepare(tree)
    notes = [arm.search(request("refund")).note for _ in range(4)]
    arm.close()
    assert notes == [*["timed out"] * 3, "given up after 3 failures in a row"]
    starts = [line for line in logged(tmp_path) if line.startswith("start")]
    assert len(starts) == 3
    assert not any(is_running(line) for line in starts)


def test_our_own_server_is_an_arm(
    tmp_path: Path, tree: TextTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHEREIN_HOME", str(tmp_path / "index"))
    arm = parse_arm(f"own=mcp:{sys.executable} -m wherein mcp tool=search query={{query}} limit=5")
    arm.prepare(tree)
    try:
        found = arm.search(request("reverse_charge"))
    finally:
        arm.close()
    assert found.note == ""
    assert found.paths[0] == "src/refund.py"


def test_a_failing_arm_costs_the_others_nothing_and_is_counted(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    make_repository(
        root,
        [
            Step("start", FILES),
            Step("mail: letters get a stamp", {"src/mail.py": "def send_letter(card, stamp): 1\n"}),
            Step("total of an empty basket", {"src/basket.py": "def total(basket): return 0\n"}),
        ],
    )
    command = shlex.join([sys.executable, str(STUB), "fail", str(tmp_path / "log")])
    plan = ReplayPlan(
        wanted=Wanted(n=2),
        arms=("grep",),
        own_arms=(f"mine=mcp:{command} tool=find q={{query}}",),
        with_sizes=False,
    )
    report = replay_repository(root, Settings(home=tmp_path / "home"), plan)
    assert report.notes[-1] == "arm mine: the tool failed: 1. src/refund.py:2 (2 of 2 requests)"
    assert [arm for arm in report.arms if arm != "grep"] == ["mine"]


def test_arguments_are_json_where_they_are_and_text_otherwise() -> None:
    arm = parse_arm(
        "x=mcp:npx -y 'some server' --flag tool=find text='fix: {query}' n=3 all=true"
        ' globs=\'["*.py", "{query}"]\' word=\'"3"\''
    )
    assert isinstance(arm, McpArm)
    assert vars(arm)["_command"] == ["npx", "-y", "some server", "--flag"]
    assert vars(arm)["_tool"] == "find"
    assert vars(arm)["_arguments"] == {
        "text": "fix: {query}",
        "n": 3,
        "all": True,
        "globs": ["*.py", "{query}"],
        "word": "3",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x=mcp:", "names no command"),
        ("x=mcp:tool=find q={query}", "names no command"),
        ("x=mcp:server q={query}", "names no tool"),
        ("x=mcp:server tool= q={query}", "names no tool"),
        ("x=mcp:server tool=find {query}", "is no argument"),
        ("x=mcp:server tool=find q=words", "no place for the query"),
        ("x=mcp:server 'tool=find", "cannot be split"),
    ],
)
def test_an_arm_that_cannot_run_is_refused_with_the_form_it_needs(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_arm(text)
    assert message in caught.value.message
    assert "name=" in caught.value.hint


def test_whole_texts_of_structured_content_name_files_in_any_usual_form(tmp_path: Path) -> None:
    known = frozenset({"a.py", "b c.py", "d/e.py", "f.py", "g.py"})
    inside = os.path.realpath(tmp_path)
    value = {
        "summary": "look at g.py",
        "rows": [
            {"uri": f"file://{inside}/b%20c.py", "line": 3},
            {"file": f"{inside}/d/e.py:12", "code": "import g.py"},
            ["./a.py", None, 4, {"deep": {"path": "f.py:1-9"}}],
            {"uri": f"file://{inside}/../a.py"},
        ],
    }
    found = paths_in_structured(value, tmp_path, known)
    assert [path for path, _ in found] == ["b c.py", "d/e.py", "a.py", "f.py"]
    assert all(tokens > 0 for _, tokens in found)
