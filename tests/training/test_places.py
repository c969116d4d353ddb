from pathlib import Path

from tests.walk.repositories import git
from training.rank.places import changed_lines


def commit(root: Path, text: str) -> str:
    (root / "a.py").write_text(text)
    git(root, "add", "a.py")
    git(root, "commit", "-qm", "change")
    return git(root, "rev-parse", "HEAD").decode().strip()


def numbered(first: int, last: int) -> str:
    return "".join(f"line_{number} = {number}\n" for number in range(first, last + 1))


def test_changed_lines_are_carried_back_over_what_came_between(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    snapshot = commit(tmp_path, numbered(1, 30))
    commit(tmp_path, "new = 0\n" * 5 + numbered(1, 9) + numbered(13, 30))  # 5 more, 10 to 12 gone
    changed = commit(
        tmp_path, "new = 0\n" * 5 + numbered(1, 9) + numbered(13, 30).replace("= 20", "= 99")
    )
    assert changed_lines(tmp_path, snapshot, changed, "a.py") == {20}


def test_an_insertion_counts_for_its_neighbours_and_lines_the_snapshot_lacks_for_none(
    tmp_path: Path,
) -> None:
    git(tmp_path, "init", "-q")
    snapshot = commit(tmp_path, numbered(1, 6))
    inserted = commit(tmp_path, numbered(1, 3) + "more = 1\n" + numbered(4, 6))
    assert changed_lines(tmp_path, snapshot, inserted, "a.py") == {3, 4}
    edited = commit(tmp_path, numbered(1, 3) + "more = 2\n" + numbered(4, 6))
    assert changed_lines(tmp_path, snapshot, edited, "a.py") == frozenset()


def test_imports_and_blank_lines_do_not_count(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    snapshot = commit(tmp_path, "import os\nfrom a import b\n\nx = 1\ny = 2\n")
    changed = commit(tmp_path, "import sys\nfrom a import c\n\n\nx = 1\ny = 3\n")
    assert changed_lines(tmp_path, snapshot, changed, "a.py") == {5}
