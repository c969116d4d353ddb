import subprocess  # noqa: TID251 - a fresh interpreter
import sys
from pathlib import Path
from typing import Any

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


@pytest.mark.parametrize("limit", [0, -3, 2.5, "3", True, None])
def test_a_limit_that_is_none_is_refused(shop: Sandbox, tmp_path: Path, limit: Any) -> None:
    with wherein.Workspace(shop.root, wherein.Settings(home=tmp_path / "index")) as workspace:
        with pytest.raises(wherein.WhereinError, match="limit cannot be"):
            workspace.search("retry", limit=limit)
        with pytest.raises(wherein.WhereinError, match="limit cannot be"):
            workspace.similar("src/retry.py", 4, limit=limit)


def test_a_query_that_is_no_text_and_a_line_before_the_first_are_refused(
    shop: Sandbox, tmp_path: Path
) -> None:
    not_text: Any = 5
    with wherein.Workspace(shop.root, wherein.Settings(home=tmp_path / "index")) as workspace:
        with pytest.raises(wherein.WhereinError, match="the query is 5, which is no text"):
            workspace.search(not_text)
        for line in (0, -1, 8, "4"):
            with pytest.raises(wherein.WhereinError, match="line"):
                workspace.similar("src/retry.py", line)  # type: ignore[arg-type]
        assert workspace.search("retry_request", limit=1).hits


def test_a_home_must_be_absolute() -> None:
    with pytest.raises(wherein.WhereinError, match="starts wherever one stands"):
        wherein.Settings(home=Path("index"))


def test_the_library_has_the_settings_of_the_folder(
    shop: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHEREIN_HOME", str(tmp_path / "library"))
    monkeypatch.setenv("HOME", str(tmp_path))
    shop.write("wherein.toml", 'deny = ["src/retry.py"]\n')
    with wherein.Workspace(shop.root) as workspace:
        assert workspace.settings.deny == ("src/retry.py",)
        hits = workspace.search("retry_request").hits
    assert hits
    assert "src/retry.py" not in [hit.path for hit in hits]
    with wherein.Workspace(shop.root, wherein.Settings(home=tmp_path / "library")) as workspace:
        assert workspace.search("retry_request").hits[0].path == "src/retry.py"
