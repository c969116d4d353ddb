import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from wherein.settings import Settings
from wherein.store.collect import RECORD_DAYS, TREE_DAYS, collect, has_leftovers
from wherein.store.layout import Layout
from wherein.store.lock import FileLock
from wherein.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "tree"
    root.mkdir()
    for number in range(5):
        (root / f"f{number}.py").write_text(f"def fn_{number}():\n    pass\n")
    opened = Workspace(root, Settings(home=tmp_path / "home", use_history=False))
    opened.refresh()
    return opened


def today(workspace: Workspace) -> int:
    return workspace.refresh().manifest.head.day


def n_records(layout: Layout) -> int:
    with closing(sqlite3.connect(layout.records)) as database:
        return int(database.execute("SELECT count(*) FROM records").fetchone()[0])


def test_what_is_used_stays(workspace: Workspace) -> None:
    found = collect(workspace.layout, today(workspace))
    assert found is not None
    assert (found.n_segments, found.n_trees, found.n_records) == (0, 0, 0)
    assert workspace.search("fn_3").hits[0].symbol == "fn_3"


def test_segments_no_tree_names_and_leftovers_of_the_dead_go(workspace: Workspace) -> None:
    layout, day = workspace.layout, today(workspace)
    (layout.segments / "unused").mkdir()
    (layout.segments / "unused" / "segment.bin").write_bytes(b"x")
    (layout.segments / "half.tmp-123").mkdir()
    (layout.tree / "manifest.tmp-123").write_bytes(b"x")
    (layout.family / "format.tmp-123").write_bytes(b"x")
    assert has_leftovers(layout)
    found = collect(layout, day)
    assert found is not None
    assert found.n_segments == 2
    assert not has_leftovers(layout)
    assert not (layout.segments / "unused").exists()


def test_nothing_is_collected_while_somebody_writes(workspace: Workspace) -> None:
    day = today(workspace)
    (workspace.layout.segments / "being_written").mkdir()
    with FileLock(workspace.layout.use_lock, is_shared=True):
        assert collect(workspace.layout, day) is None
    assert (workspace.layout.segments / "being_written").exists()


def test_records_unused_for_long_go_and_those_in_use_stay(workspace: Workspace) -> None:
    layout, day = workspace.layout, today(workspace)
    (workspace.root / "f0.py").write_text("def other():\n    pass\n")
    workspace.refresh()
    assert n_records(layout) == 6
    found = collect(layout, day + RECORD_DAYS + 1)
    assert found is not None
    assert (found.n_records, n_records(layout)) == (1, 5)


def test_a_tree_whose_folder_is_gone_goes_after_a_while(
    workspace: Workspace, tmp_path: Path
) -> None:
    layout, day = workspace.layout, today(workspace)
    shutil.move(workspace.root, tmp_path / "away")
    found = collect(layout, day + TREE_DAYS - 1)
    assert found is not None
    assert found.n_trees == 0
    found = collect(layout, day + TREE_DAYS)
    assert found is not None
    assert (found.n_trees, found.n_segments) == (1, 1)
    assert layout.tree_folders() == []
