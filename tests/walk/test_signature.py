"""The quick look sees every change, and nothing where nothing changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.walk.repositories import commit_all, git, listing, paths, settings, write

from wherein.types import FileStat
from wherein.walk.signature import COARSE_NS, is_racy, look_unchanged, make_signature
from wherein.walk.walker import Listing, list_files


def append(root: Path) -> None:
    with (root / "a.py").open("a") as file:
        file.write("more\n")


def settled(root: Path) -> Listing:
    """List ``root`` until nothing is too new to tell."""
    for _ in range(400):
        found = listing(root)
        if look_unchanged(root, settings(root), found.signature):
            return found
        _wait_for_another_stamp(root)
    pytest.fail("the tree never settled")


def _wait_for_another_stamp(root: Path) -> None:
    """Let the file system's clock tick, by writing until the stamp differs."""
    probe = root.parent / "clock"
    probe.write_bytes(b"")
    first = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns < first + 10_000_000:
        probe.write_bytes(b"")


def make(root: Path, *, has_git: bool) -> None:
    write(root, "a.py", "def one(): pass\n")
    write(root, "sub/b.py", "def two(): pass\n")
    write(root, "sub/deep/c.py", "def six(): pass\n")
    write(root, ".gitignore", "out/\n*.log\n")
    write(root, "out/x.py")
    write(root, "debug.log")
    (root / "void/inner").mkdir(parents=True)
    if has_git:
        git(root, "init", "-q")
        commit_all(root)


def same_size_with_stamps_put_back(root: Path) -> None:
    path = root / "a.py"
    before = path.stat()
    with path.open("r+b") as file:
        file.write(b"def two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def atomic_save(root: Path) -> None:
    write(root, ".a.py.swp", "def one(): pass\n").rename(root / "a.py")


CHANGES: dict[str, Callable[[Path], object]] = {
    "edit": lambda root: write(root, "a.py", "changed\n"),
    "append": append,
    "same size, stamps put back": same_size_with_stamps_put_back,
    "atomic save": atomic_save,
    "new file": lambda root: write(root, "new.py"),
    "new file deep": lambda root: write(root, "sub/deep/new.py"),
    "new file in an empty folder": lambda root: write(root, "void/inner/new.py"),
    "new folder": lambda root: write(root, "fresh/new.py"),
    "delete": lambda root: (root / "sub/b.py").unlink(),
    "rename": lambda root: (root / "a.py").rename(root / "z.py"),
    "case-only rename": lambda root: (root / "a.py").rename(root / "A.py"),
    "move a folder": lambda root: (root / "sub").rename(root / "moved"),
    "chmod": lambda root: (root / "a.py").chmod(0o600),
    "link instead of a file": lambda root: (
        (root / "a.py").unlink(),
        (root / "a.py").symlink_to("sub/b.py"),
    ),
    "rules": lambda root: write(root, ".gitignore", "sub/\n"),
    "nested rules": lambda root: write(root, "sub/.gitignore", "*.py\n"),
    "own rules": lambda root: write(root, ".whereinignore", "sub/\n"),
    "nested clone": lambda root: git(root / "void", "init", "-q"),
}
GIT_CHANGES: dict[str, Callable[[Path], object]] = {
    "exclude file": lambda root: write(root, ".git/info/exclude", "a.py\n"),
    "add": lambda root: git(root, "add", "-f", "debug.log"),
    "remove from the index": lambda root: git(root, "rm", "-q", "--cached", "a.py"),
    "commit": lambda root: git(root, "commit", "-q", "--allow-empty", "-m", "x"),
    "branch": lambda root: git(root, "checkout", "-q", "-b", "other"),
    "excludes file in the settings": lambda root: git(
        root, "config", "core.excludesFile", str(root / "debug.log")
    ),
    "packed refs": lambda root: git(root, "pack-refs", "--all"),
    "skip-worktree": lambda root: git(root, "update-index", "--skip-worktree", "a.py"),
}


@pytest.mark.parametrize("has_git", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(tmp_path: Path, change: str, has_git: bool) -> None:
    root = tmp_path / "r"
    make(root, has_git=has_git)
    before = settled(root)
    CHANGES[change](root)
    assert not look_unchanged(root, settings(root), before.signature)


@pytest.mark.parametrize("change", GIT_CHANGES)
def test_a_change_of_gits_state_is_seen(tmp_path: Path, change: str) -> None:
    root = tmp_path / "r"
    make(root, has_git=True)
    before = settled(root)
    GIT_CHANGES[change](root)
    assert not look_unchanged(root, settings(root), before.signature)


@pytest.mark.parametrize("has_git", [True, False])
def test_what_is_ignored_does_not_disturb(tmp_path: Path, has_git: bool) -> None:
    root = tmp_path / "r"
    make(root, has_git=has_git)
    before = settled(root)
    write(root, "out/x.py", "changed\n")
    write(root, "out/more/y.py")
    with (root / "debug.log").open("a") as file:
        file.write("line\n")
    assert look_unchanged(root, settings(root), before.signature)


def test_assume_unchanged_hides_nothing_from_us(tmp_path: Path) -> None:
    root = tmp_path / "r"
    make(root, has_git=True)
    git(root, "update-index", "--assume-unchanged", "a.py")
    before = settled(root)
    write(root, "a.py", "changed behind git's back\n")
    assert not look_unchanged(root, settings(root), before.signature)
    assert {f.file.path: f.blob_id for f in listing(root).files}["a.py"] is None


def test_a_submodules_and_a_linked_worktrees_state_count(tmp_path: Path) -> None:
    inner, root = tmp_path / "inner", tmp_path / "r"
    make(inner, has_git=True)
    make(root, has_git=True)
    git(root, "submodule", "--quiet", "add", str(inner), "mod")
    commit_all(root)
    tree = tmp_path / "w"
    git(root, "worktree", "add", "-q", str(tree))
    before, linked = settled(root), settled(tree)
    write(root, "mod/new.py")
    assert not look_unchanged(root, settings(root), before.signature)
    assert look_unchanged(tree, settings(tree), linked.signature)
    git(tree, "commit", "-q", "--allow-empty", "-m", "x")
    assert not look_unchanged(tree, settings(tree), linked.signature)


def test_rules_above_a_subdirectory_count(tmp_path: Path) -> None:
    root = tmp_path / "r"
    make(root, has_git=True)
    before = settled(root / "sub")
    assert paths(before) == ["b.py", "deep/c.py"]
    write(root, ".gitignore", "deep/\n")
    assert not look_unchanged(root / "sub", settings(root / "sub"), before.signature)


def test_other_settings_another_root_or_damage_are_a_change(tmp_path: Path) -> None:
    root = tmp_path / "r"
    make(root, has_git=False)
    before = settled(root)
    assert not look_unchanged(root, settings(root, ignore=["sub/"]), before.signature)
    assert not look_unchanged(root / "sub", settings(root), before.signature)
    for damaged in (
        b"",
        b"x",
        before.signature[:-1],
        before.signature[: len(before.signature) // 2],
    ):
        assert not look_unchanged(root, settings(root), damaged)


def test_what_changed_during_the_look_is_looked_at_again(tmp_path: Path) -> None:
    root = tmp_path / "r"
    write(root, "a.py")
    stamp = (root / "a.py").stat().st_ctime_ns
    signature = make_signature(
        root, settings(root), [("a.py", (root / "a.py").lstat())], [], [], stamp
    )
    assert not look_unchanged(root, settings(root), signature)
    later = make_signature(
        root, settings(root), [("a.py", (root / "a.py").lstat())], [], [], stamp + COARSE_NS + 1
    )
    assert look_unchanged(root, settings(root), later)


def test_a_stamp_as_new_as_the_look_is_not_believed() -> None:
    def stamped(ctime_ns: int) -> FileStat:
        return FileStat(1, 0, ctime_ns, 1, 0o100644)

    second = 1_000_000_000
    assert is_racy(stamped(5 * second + 1), 5 * second)
    assert is_racy(stamped(5 * second + 1), 5 * second + 10_000_000)
    assert not is_racy(stamped(5 * second + 1), 6 * second)
    assert is_racy(stamped(5 * second), 6 * second)  # stamps in whole seconds
    assert not is_racy(stamped(5 * second), 8 * second)


def test_a_second_listing_takes_over_what_is_the_same(tmp_path: Path) -> None:
    root = tmp_path / "r"
    make(root, has_git=True)
    first = listing(root)
    write(root, "a.py", "changed\n")
    known = {f.file.path: f.file for f in first.files}
    second = list_files(root, settings(root), known)
    assert paths(second) == paths(first)
    same = [f.file.path for f in second.files if f.file is known[f.file.path]]
    assert same == [path for path in paths(first) if path != "a.py"]
