import subprocess  # noqa: TID251 - a fresh interpreter
import sys
from pathlib import Path

import pytest
from tests.cli.sandbox import Sandbox

import wherein


def test_the_public_names_are_exact_and_sorted() -> None:
    assert list(wherein.__all__) == sorted(wherein.__all__)
    assert {name: getattr(wherein, name).__name__ for name in wherein.__all__} == {
        name: name for name in wherein.__all__
    }
    with pytest.raises(AttributeError):
        _ = wherein.Nothing


def test_importing_the_package_imports_nothing_heavy() -> None:
    script = "import sys, wherein; print([m for m in ('numpy', 'mcp', 'rich') if m in sys.modules])"

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )

    assert done.stdout.strip() == "[]"


def test_the_library_answers_as_the_command_line_does(shop: Sandbox, tmp_path: Path) -> None:
    settings = wherein.Settings(home=tmp_path / "library")
    with wherein.Workspace(shop.root, settings) as workspace:
        answer = workspace.search("send a request again", limit=3)
    rows = shop.run("search", "send a request again", "--limit", "3", "--json").rows()

    assert answer.snapshot_id
    assert [hit.path for hit in answer.hits] == [row["path"] for row in rows]
    assert [hit.start_line for hit in answer.hits] == [row["start_line"] for row in rows]
