"""Changes applied to an earlier listing give what listing again gives."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from tests.walk.repositories import commit_all, git, settings, write

from wherein.types import FileStat
from wherein.walk.changes import Changes, list_changes
from wherein.walk.walker import list_files, look_unchanged

SEEDS = 12
FOLDERS = ["", "a", "a/b", "c", "out", "new/deep"]
NAMES = ["x.py", "y.go", "z.log", "w.md", ".env", "logo.png", "Makefile"]


def settled_signature(root: Path) -> bytes:
    """Return a signature of the same tree in which nothing is too new to tell."""
    probe = root.parent / "clock"
    for _ in range(100):
        found = list_files(root, settings(root))
        if look_unchanged(root, settings(root), found.signature):
            return found.signature
        probe.write_bytes(b"")
        first = probe.stat().st_ctime_ns
        while probe.stat().st_ctime_ns < first + 15_000_000:
            probe.write_bytes(b"")
    pytest.fail("the tree never settled")


def state(root: Path) -> tuple[dict[str, tuple[FileStat, str | None]], set[str], str | None]:
    found = list_files(root, settings(root))
    files = {f.file.path: (f.file.stat, f.file.language) for f in found.files}
    return files, {s.path for s in found.skipped}, found.head


def apply(
    files: dict[str, tuple[FileStat, str | None]], skipped: set[str], changes: Changes
) -> None:
    for path in (*changes.removed, *(s.path for s in changes.skipped)):
        files.pop(path, None)
        skipped.discard(path)
    for listed in changes.listed:
        skipped.discard(listed.file.path)
        files[listed.file.path] = (listed.file.stat, listed.file.language)
    skipped.update(s.path for s in changes.skipped)


def disturb(root: Path, chance: random.Random) -> None:
    """Do one thing that happens to trees."""
    folder = root / chance.choice(FOLDERS)
    path = folder / chance.choice(NAMES)
    kind = chance.randrange(10)
    if kind <= 3:
        if path.is_dir() or any(p.is_file() for p in path.parents):
            return
        write(root, str(path.relative_to(root)), f"x = {chance.random()}\n")
    elif kind == 4 and path.is_file():
        path.unlink()
    elif kind == 5 and folder.is_dir() and folder != root:
        target = root / f"moved{chance.randrange(3)}"
        if not target.exists():
            folder.rename(target)
    elif kind == 6 and path.is_file():
        path.unlink()
        path.symlink_to("elsewhere")
    elif kind == 7 and folder.is_dir() and folder != root:
        shutil.rmtree(folder)
    elif (root / ".git").is_dir():
        if kind == 8:
            commit_all(root)
        else:
            git(root, "checkout", "-q", "-f", chance.choice(["main", "side"]))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_changes_lead_where_a_new_listing_leads(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    root = tmp_path / "r"
    for folder in FOLDERS[:4]:
        for name in chance.sample(NAMES, 4):
            write(root, f"{folder}/{name}".removeprefix("/"))
    write(root, ".gitignore", "out/\n*.log\n!w.log\n")
    if seed % 4:
        git(root, "init", "-q", "-b", "main")
        commit_all(root)
        git(root, "checkout", "-q", "-b", "side")
        write(root, "a/only_on_side.py")
        write(root, "side/deep/s.py")
        commit_all(root)
    signature = settled_signature(root)
    files, skipped, _ = state(root)
    n_told = 0
    for _ in range(4):
        for _ in range(chance.randint(1, 3)):
            disturb(root, chance)
        changes = list_changes(root, settings(root), signature)
        wanted = state(root)
        if changes is None:
            files, skipped, _ = wanted
        else:
            n_told += 1
            apply(files, skipped, changes)
            assert (files, skipped, changes.head) == wanted
        fresh = settled_signature(root)
        later = list_changes(root, settings(root), signature)
        signature = fresh
        if later is not None:  # what it leaves behind vouches for exactly this tree
            assert look_unchanged(root, settings(root), later.signature)
            signature = later.signature
    assert n_told or seed % 4 == 0


def test_an_edit_and_a_new_file_are_told_without_a_listing(tmp_path: Path) -> None:
    root = tmp_path / "r"
    write(root, "a.py")
    write(root, "sub/b.py")
    write(root, ".gitignore", "*.log\n")
    git(root, "init", "-q")
    commit_all(root)
    signature = settled_signature(root)
    write(root, "a.py", "changed\n")
    write(root, "sub/new.rs")
    write(root, "sub/new.log")
    write(root, "sub/.env")
    (root / "sub/b.py").unlink()
    changes = list_changes(root, settings(root), signature)
    assert changes is not None
    assert [f.file.path for f in changes.listed] == ["a.py", "sub/new.rs"]
    assert [(s.path, s.reason) for s in changes.skipped] == [("sub/.env", "secret-like name")]
    assert changes.removed == ("sub/b.py",)


@pytest.mark.parametrize("path", [".gitignore", "sub/.gitignore", ".ignore", ".git/info/exclude"])
def test_a_change_of_rules_asks_for_a_listing(tmp_path: Path, path: str) -> None:
    root = tmp_path / "r"
    write(root, "a.py")
    write(root, "sub/b.py")
    git(root, "init", "-q")
    commit_all(root)
    signature = settled_signature(root)
    write(root, path, "b.py\n")
    assert list_changes(root, settings(root), signature) is None


def test_nothing_changed_is_told_as_nothing(tmp_path: Path) -> None:
    root = tmp_path / "r"
    write(root, "a.py")
    signature = settled_signature(root)
    changes = list_changes(root, settings(root), signature)
    assert changes is not None
    assert changes.is_empty
    assert list_changes(root, settings(root), b"damaged") is None
