import os
import shutil
import subprocess  # noqa: TID251 - kills a real build
import sys
from pathlib import Path

import pytest

from wherein.errors import NewerIndexError, PathError, QueryError
from wherein.indexing.progress import Progress
from wherein.settings import Settings
from wherein.workspace import Workspace


def settings_in(home: Path, **changes: object) -> Settings:
    return Settings(home=home, use_history=False).replace(**changes)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "src").mkdir(parents=True)
    for number in range(12):
        (root / "src" / f"f{number}.py").write_text(
            f"def fn_{number}(x):\n    return x + {number}\n"
        )
    (root / "README.md").write_text("# Ledger import\n\nHow the ledger is imported.\n")
    return root


def paths(workspace: Workspace, query: str) -> list[str]:
    return [hit.path for hit in workspace.search(query).hits]


def test_a_folder_is_searched_without_any_set_up(tree: Path, tmp_path: Path) -> None:
    with Workspace(tree, settings_in(tmp_path / "home")) as workspace:
        answer = workspace.search("fn_7", limit=3)
    hit = answer.hits[0]
    assert (hit.path, hit.start_line, hit.symbol, hit.language) == (
        "src/f7.py",
        1,
        "fn_7",
        "python",
    )
    assert len(answer.snapshot_id) == 40
    assert answer.not_covered == ()
    assert answer.counters.files_indexed == 13


def test_a_second_search_reads_only_the_files_it_shows(tree: Path, tmp_path: Path) -> None:
    with Workspace(tree, settings_in(tmp_path / "home")) as workspace:
        workspace.refresh()
    with Workspace(tree, settings_in(tmp_path / "home")) as workspace:
        workspace.refresh()  # believes the stats once they are older than the clock's tick
        answer = workspace.search("fn_3", limit=2)
    assert answer.counters.files_indexed == 0
    assert answer.hits[0].path == "src/f3.py"


def test_every_spelling_of_a_folder_has_one_index(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tree)
    home = tmp_path / "home"
    for spelling in (tree, tmp_path / "link", f"{tree}//", tree / "src" / ".."):
        with Workspace(spelling, settings_in(home)) as workspace:
            assert paths(workspace, "fn_7")[0] == "src/f7.py"
    assert len(list(home.glob("families/*/trees/*/manifest"))) == 1


@pytest.mark.parametrize("name", ["absent", "README.md"])
def test_a_path_that_is_no_folder_is_an_error_with_a_hint(
    tree: Path, tmp_path: Path, name: str
) -> None:
    with pytest.raises(PathError) as caught:
        Workspace(tree / name, settings_in(tmp_path / "home"))
    assert caught.value.hint


def test_an_empty_folder_answers_with_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with Workspace(tmp_path / "empty", settings_in(tmp_path / "home")) as workspace:
        assert workspace.search("anything at all").hits == ()
        with pytest.raises(QueryError):
            workspace.search("  ")


@pytest.mark.parametrize("query", ["账本导入", "fn_7 " * 20_000, "\\w+(", "\0", "a" * 70_000])
def test_strange_queries_are_answered(tree: Path, tmp_path: Path, query: str) -> None:
    with Workspace(tree, settings_in(tmp_path / "home")) as workspace:
        workspace.search(query)


def test_progress_tells_files_chunks_and_time(tree: Path, tmp_path: Path) -> None:
    steps: list[Progress] = []
    with Workspace(tree, settings_in(tmp_path / "home")) as workspace:
        workspace.refresh(progress=steps.append)
    assert steps[-1].files_done == steps[-1].files_total == 13
    assert steps[-1].chunks >= 13
    assert steps[-1].seconds_left == 0


def test_an_interrupted_build_goes_on_where_it_stopped(tree: Path, tmp_path: Path) -> None:
    for number in range(600):
        (tree / f"g{number}.py").write_text(f"def g_{number}():\n    pass\n")

    def interrupt(step: Progress) -> None:
        if step.stage == "indexing" and step.files_done > 300:
            raise KeyboardInterrupt

    with Workspace(tree, settings_in(tmp_path / "home")) as workspace:
        with pytest.raises(KeyboardInterrupt):
            workspace.refresh(progress=interrupt)
        done: list[int] = []
        workspace.refresh(progress=lambda step: done.append(step.chunks))
        assert paths(workspace, "g_599")[0] == "g599.py"
        # Chunks are counted when they are made: those of before the interrupt are not made again.
        assert done[-1] <= 330


def test_a_first_build_that_takes_too_long_says_what_it_does_not_cover_and_scans_it(
    tree: Path, tmp_path: Path
) -> None:
    with Workspace(tree, settings_in(tmp_path / "home", refresh_seconds=0)) as workspace:
        answer = workspace.search("fn_7")
    assert "src/f7.py" in answer.not_covered
    assert answer.hits[0].path == "src/f7.py"
    assert answer.hits[0].start_line <= 1 <= answer.hits[0].end_line
    assert any("not in the index yet" in note for note in answer.notes)
    with Workspace(tree, settings_in(tmp_path / "home")) as workspace:
        assert workspace.search("fn_7").not_covered == ()


def test_status_names_what_is_indexed_and_what_is_not(tree: Path, tmp_path: Path) -> None:
    (tree / "logo.png").write_bytes(b"\x89PNG")
    (tree / "blob.py").write_bytes(b"\0\1\2\3")
    with Workspace(tree, settings_in(tmp_path / "home")) as workspace:
        before = workspace.status()
        assert (before.is_indexed, before.n_files) == (False, 0)
        workspace.refresh()
        status = workspace.status()
    assert (status.is_indexed, status.n_files, status.is_indexing) == (True, 13, False)
    assert status.languages == (("python", 13), ("markdown", 1))
    assert {(item.path, item.reason) for item in status.skipped} == {
        ("logo.png", "binary"),
        ("blob.py", "binary"),
    }
    assert status.skipped_by_reason == (("binary", 2),)
    assert status.n_bytes > 1000
    assert status.model


def test_clear_removes_the_index_and_the_next_search_builds_it_again(
    tree: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with Workspace(tree, settings_in(home)) as workspace:
        workspace.refresh()
        assert workspace.clear() > 1000
        left = [path for path in home.rglob("*") if path.is_file()]
        assert all(path.suffix == ".lock" for path in left)
        assert not workspace.status().is_indexed
        assert paths(workspace, "fn_7")[0] == "src/f7.py"


def test_an_index_of_a_newer_version_is_refused_and_clear_removes_it(
    tree: Path, tmp_path: Path
) -> None:
    with Workspace(tree, settings_in(tmp_path / "home")) as workspace:
        workspace.refresh()
        (workspace.layout.family / "format").write_text("999\n")
    with Workspace(tree, settings_in(tmp_path / "home")) as workspace:
        with pytest.raises(NewerIndexError) as caught:
            workspace.search("fn_7")
        assert "wherein clear" in caught.value.hint
        workspace.clear()
        assert paths(workspace, "fn_7")[0] == "src/f7.py"


def test_other_settings_of_what_is_listed_count_at_once(tree: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Workspace(tree, settings_in(home)) as workspace:
        assert "README.md" in paths(workspace, "ledger import")
    with Workspace(tree, settings_in(home, ignore=["*.md"])) as workspace:
        assert "README.md" not in paths(workspace, "ledger import")
    with Workspace(tree, settings_in(home, index_kinds=["code"])) as workspace:
        assert "README.md" not in paths(workspace, "ledger import")
        reasons = [item.reason for item in workspace.status().skipped]
        assert reasons == ["kind not indexed"]


_ASK = """
import sys
from pathlib import Path
from wherein.settings import Settings
from wherein.workspace import Workspace
root, home = map(Path, sys.argv[1:])
with Workspace(root, Settings(home=home, use_history=False)) as w:
    for query in ("fn_7", "only_new"):
        answer = w.search(query)
        is_noted = any("cannot be written" in note for note in answer.notes)
        print([hit.path for hit in answer.hits][:1], is_noted)
"""


def _as_anyone() -> list[str]:
    """Return what a command needs before it so that permissions hold for it, also as root."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root writes everywhere")
    powers = "-dac_override,-dac_read_search"
    return ["setpriv", f"--bounding-set={powers}", f"--inh-caps={powers}"]


@pytest.mark.parametrize("has_index", [True, False])
def test_a_home_that_cannot_be_written_answers_all_the_same(
    tree: Path, tmp_path: Path, has_index: bool
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    if has_index:
        with Workspace(tree, settings_in(home)) as workspace:
            workspace.refresh()
    (tree / "new.py").write_text("def only_new():\n    pass\n")
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*")}
    for path in (home, *home.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    done = subprocess.run(
        [*_as_anyone(), sys.executable, "-c", _ASK, os.fspath(tree), os.fspath(home)],
        capture_output=True,
        text=True,
    )
    for path in (home, *home.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert done.stdout == "['src/f7.py'] True\n['new.py'] True\n", done.stderr
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*")} == before


_FULL_DISK = """
import resource, signal, sys
from pathlib import Path
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from wherein.settings import Settings
from wherein.workspace import Workspace
from wherein.errors import StoreError
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
with Workspace(sys.argv[1], Settings(home=Path(sys.argv[2]), use_history=False)) as w:
    try:
        w.search("fn_7")
    except StoreError as error:
        print(error.message, "|", error.hint)
"""


def test_a_full_disk_is_a_clear_error_and_loses_nothing(tree: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = subprocess.run(
        [sys.executable, "-c", _FULL_DISK, os.fspath(tree), os.fspath(home)],
        capture_output=True,
        text=True,
    )
    assert "cannot be written" in done.stdout, done.stderr
    assert "free some space" in done.stdout
    with Workspace(tree, settings_in(home)) as workspace:
        assert paths(workspace, "fn_7")[0] == "src/f7.py"


def test_a_sibling_worktree_shares_records_and_segments(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    for number in range(30):
        body = "".join(f"    x += {line * number}  # step {line}\n" for line in range(300))
        (root / f"f{number}.py").write_text(f"def fn_{number}(x):\n{body}")
    _git(root, "init", "-q", "-b", "main")
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", "one")
    _git(root, "worktree", "add", "-q", "../sibling")
    (tmp_path / "sibling" / "f3.py").write_text("def changed_there():\n    pass\n")
    home = tmp_path / "home"
    with Workspace(root, settings_in(home)) as workspace:
        assert workspace.refresh().files_indexed == 30
        segments = set(workspace.layout.segments.iterdir())
        with Workspace(tmp_path / "sibling", settings_in(home)) as sibling:
            assert sibling.layout.family == workspace.layout.family
            assert sibling.refresh().files_indexed == 1
            assert segments < set(sibling.layout.segments.iterdir())
            assert paths(sibling, "changed_there")[0] == "f3.py"
            assert "fn_3" not in [hit.symbol for hit in sibling.search("fn_3").hits]
        assert workspace.search("fn_3").hits[0].symbol == "fn_3"


def _git(folder: Path, *args: str) -> None:
    names = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")
    environment = {**os.environ, **dict.fromkeys(names, "a"), "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *args], cwd=folder, env=environment, check=True)


def test_a_damaged_segment_that_siblings_share_is_mended_for_both(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    for number in range(30):
        body = "".join(f"    x += {line * number}  # step {line}\n" for line in range(300))
        (root / f"f{number}.py").write_text(f"def fn_{number}(x):\n{body}")
    _git(root, "init", "-q", "-b", "main")
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", "one")
    _git(root, "worktree", "add", "-q", "../sibling")
    home = tmp_path / "home"
    with Workspace(root, settings_in(home)) as workspace:
        workspace.refresh()
    with Workspace(tmp_path / "sibling", settings_in(home)) as sibling:
        sibling.refresh()
        for path in sorted(sibling.layout.segments.rglob("segment.bin")):
            data = bytearray(path.read_bytes())
            data[len(data) // 4 : -100] = bytes(len(data) - len(data) // 4 - 100)
            path.write_bytes(data)
    for place in (tmp_path / "sibling", root):
        with Workspace(place, settings_in(home)) as workspace:
            assert workspace.search("fn_3").hits[0].symbol == "fn_3"
            assert workspace.status().n_files == 30
