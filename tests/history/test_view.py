from pathlib import Path

from tests.history.repositories import Step, make_repository

from wherein.history.open import History
from wherein.history.source import open_source, tree_paths
from wherein.history.view import HistoryView

BODY = "".join(f"line {i}\n" for i in range(30))


def view_of(folder: Path, steps: list[Step], *, until: int = -1) -> tuple[HistoryView, list[str]]:
    shas = make_repository(folder, steps)
    found = open_source(folder)
    assert found is not None
    paths = [path for path, _, _ in tree_paths(found, shas[until])]
    view = History(found).view(paths, shas[until])
    assert view is not None
    return view, shas


def changes(view: HistoryView, path: str) -> list[str]:
    rows = view.rows_changing(view.file_ids[path]).tolist()
    return [line.subject for line in view.lines(rows)]


def test_a_renamed_file_keeps_its_past_through_several_moves(tmp_path: Path) -> None:
    view, _ = view_of(
        tmp_path,
        [
            Step("one", {"a.py": BODY}),
            Step("two", moves={"a.py": "lib/b.py"}),
            Step("three", {"lib/b.py": BODY + "more\n"}),
            Step("four", moves={"lib/b.py": "lib/core/c.py"}),
        ],
    )
    assert changes(view, "lib/core/c.py") == ["four", "three", "two", "one"]


def test_a_new_file_at_an_old_name_does_not_take_the_moved_files_past(tmp_path: Path) -> None:
    view, _ = view_of(
        tmp_path,
        [
            Step("make core", {"core.py": BODY}),
            Step("move core", moves={"core.py": "engine.py"}),
            Step("write a facade", {"core.py": "import engine\n"}),
        ],
    )
    assert changes(view, "engine.py") == ["move core", "make core"]
    assert changes(view, "core.py") == ["write a facade"]


def test_commits_after_the_cut_are_not_seen(tmp_path: Path) -> None:
    view, shas = view_of(
        tmp_path,
        [
            Step("one", {"a.py": "1\n"}),
            Step("two", {"a.py": "2\n"}),
            Step("three", {"a.py": "3\n"}),
        ],
        until=1,
    )
    assert changes(view, "a.py") == ["two", "one"]
    assert view.rows_of(shas[2][:8]) == []
    assert len(view.rows_of(shas[1][:8])) == 1
    assert len(view.postings("three").commits) == 0


def test_a_deleted_file_speaks_for_no_file(tmp_path: Path) -> None:
    view, _ = view_of(
        tmp_path,
        [
            Step("add both", {"a.py": BODY, "b.py": "x\n"}),
            Step("drop a", {"a.py": None}),
        ],
    )
    rows, files = view.changes
    assert view.paths == ("b.py",)
    assert files.tolist() == [0]
    assert [line.subject for line in view.lines(rows.tolist())] == ["add both"]


def test_a_subfolder_sees_its_own_files_by_its_own_names(tmp_path: Path) -> None:
    make_repository(tmp_path, [Step("one", {"app/a.py": "1\n", "b.py": "1\n"})])
    found = open_source(tmp_path / "app")
    assert found is not None
    view = History(found).view(["a.py"])
    assert view is not None
    assert [line.subject for line in view.lines(view.rows_changing(0).tolist())] == ["one"]


def test_a_commit_with_a_wrong_clock_still_comes_after_its_parent(tmp_path: Path) -> None:
    from tests.history.repositories import FIRST_TIME, git

    make_repository(tmp_path, [Step("one", {"a.py": BODY})])
    git(tmp_path, "mv", "a.py", "b.py")
    git(tmp_path, "commit", "-q", "-m", "moved", time=FIRST_TIME - 10_000_000)
    found = open_source(tmp_path)
    assert found is not None
    view = History(found).view(["b.py"])
    assert view is not None
    assert changes(view, "b.py") == ["moved", "one"]
