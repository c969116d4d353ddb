import os
import random
import subprocess  # noqa: TID251 - git is a real program
import sys
from pathlib import Path

import pytest
from tests.mcp.servers import make_state, write_shop

from wherein.mcp.watch import TreeWatch, make_watch

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only inotify promises enough"
)


def watch_of(root: Path) -> TreeWatch:
    watch = make_watch(root, {"HOME": str(root.parent)})
    if watch is None:
        pytest.skip("this file system cannot be watched")
    return watch


def test_nothing_happened_is_known_and_said(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    write_shop(root)
    watch = watch_of(root)

    mark = watch.mark()

    assert mark is not None
    assert watch.is_quiet(mark)
    assert watch.is_quiet(mark)


def test_no_change_of_any_kind_passes_unseen(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    write_shop(root)
    chance = random.Random(11)
    steps = {
        "write": lambda: (root / "README.md").write_text(str(chance.random())),
        "same size and time": lambda: rewrite(root / "src/basket.py"),
        "new file": lambda: (root / f"n{chance.randrange(10**9)}.py").write_text("x"),
        "new folder": lambda: deep(root, chance).write_text("x"),
        "rename": lambda: renamed(root, chance),
        "delete": lambda: deep(root, chance).write_text("") and None,
        "mode": lambda: (root / "src/retry.py").chmod(chance.choice([0o600, 0o644, 0o640])),
        "link": lambda: (root / f"l{chance.randrange(10**9)}").symlink_to("README.md"),
    }
    watch = watch_of(root)

    for name in [chance.choice(sorted(steps)) for _ in range(80)]:
        mark = watch.mark()
        assert mark is not None
        steps[name]()
        assert not watch.is_quiet(mark), name


def rewrite(path: Path) -> None:
    stat = path.stat()
    path.write_bytes(path.read_bytes()[::-1])
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def deep(root: Path, chance: random.Random) -> Path:
    folder = root / "d" / str(chance.randrange(10**9)) / "e"
    folder.mkdir(parents=True)
    return folder / "f.py"


def renamed(root: Path, chance: random.Random) -> None:
    path = root / f"r{chance.randrange(10**9)}.py"
    path.write_text("x")
    path.rename(path.with_suffix(".txt"))


def test_a_file_in_a_folder_made_a_moment_ago_is_seen(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    watch = watch_of(root)

    for i in range(40):
        folder = root / f"new{i}" / "inner"
        folder.mkdir(parents=True)
        mark = watch.mark()
        assert mark is not None
        (folder / "late.py").write_text("x")
        assert not watch.is_quiet(mark)


def test_reading_files_is_no_change(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    write_shop(root)
    watch = watch_of(root)
    mark = watch.mark()
    assert mark is not None

    for path in root.rglob("*.py"):
        path.read_text()

    assert watch.is_quiet(mark)


def test_a_change_behind_more_events_than_the_queue_holds_is_seen(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    write_shop(root)
    size = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    watch = watch_of(root)
    mark = watch.mark()
    assert mark is not None

    for i in range(size // 2 + 100):
        (root / f"t{i}").touch()
        (root / f"t{i}").unlink()
    (root / "late").mkdir()
    assert not watch.is_quiet(mark)

    while (mark := watch.mark()) is None:  # it is watched anew only after a rest
        pass
    assert watch.is_quiet(mark)
    (root / "late" / "new.py").write_text("x")
    assert not watch.is_quiet(mark)


def test_what_happens_in_a_moved_folder_is_seen(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    (root / "a" / "b" / "c").mkdir(parents=True)
    watch = watch_of(root)

    (root / "a").rename(root / "z")
    (root / "z" / "b" / "d").mkdir()
    mark = watch.mark()
    assert mark is not None
    assert watch.is_quiet(mark)

    for folder in ("z/b/c", "z/b/d", "z"):
        (root / folder / "f.py").write_text("x")
        assert not watch.is_quiet(mark), folder
        mark = watch.mark()
        assert mark is not None


def test_another_tree_in_the_same_place_is_seen(tmp_path: Path) -> None:
    root = tmp_path / "above" / "tree"
    root.mkdir(parents=True)
    watch = watch_of(root)
    mark = watch.mark()
    assert mark is not None

    (tmp_path / "above").rename(tmp_path / "was")
    root.mkdir(parents=True)
    assert not watch.is_quiet(mark)

    while (mark := watch.mark()) is None:
        pass
    (root / "f.py").write_text("x")
    assert not watch.is_quiet(mark)


def test_the_users_git_settings_outside_the_tree_count(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    watch = watch_of(root)
    mark = watch.mark()
    assert mark is not None

    (tmp_path / ".gitconfig").write_text("[core]\n\texcludesFile = x\n")

    assert not watch.is_quiet(mark)


def test_a_subfolder_of_a_repository_is_not_watched(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "sub").mkdir()

    assert make_watch(tmp_path / "sub", {"HOME": str(tmp_path)}) is None


def test_a_closed_watch_is_never_quiet(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    watch = watch_of(root)
    mark = watch.mark()
    assert mark is not None

    watch.close()

    assert not watch.is_quiet(mark)
    assert watch.mark() is None


def test_a_watched_workspace_answers_from_the_files_as_they_are(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    state = make_state(write_shop(root))
    workspace = state.workspace(state.root)
    workspace.refresh()
    watch = watch_of(state.root)
    workspace.trust(watch)
    chance = random.Random(5)

    for i in range(25):
        name = f"word{chance.randrange(10**9)}"
        place = root / f"pkg{i % 7}" / f"m{i % 3}.py"
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"def {name}():\n    return {i}\n")
        hits = workspace.search(name, limit=1).hits
        assert [hit.symbol for hit in hits] == [name]
        again = workspace.search(name, limit=1)
        assert [hit.symbol for hit in again.hits] == [name]
    assert workspace.search("retry_request", limit=1).counters.files_indexed == 0
    state.workspace(state.root).close()


def test_a_file_written_through_a_name_outside_is_answered_as_it_is(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    state = make_state(write_shop(root))
    workspace = state.workspace(state.root)
    workspace.refresh()
    watch = watch_of(state.root)
    workspace.trust(watch)
    other = tmp_path / "other.py"
    workspace.search("basket", limit=1)
    os.link(root / "src" / "retry.py", other)

    for i in range(3):
        name = f"word{i}{os.getpid()}"
        workspace.search(name, limit=1)
        other.write_text(f"def {name}():\n    return 1\n")
        assert [hit.symbol for hit in workspace.search(name, limit=1).hits] == [name]
    state.workspace(state.root).close()


def git(folder: Path, *args: str) -> None:
    subprocess.run(["git", "-C", folder, *args], check=True)


def test_ignore_rules_named_later_are_watched_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    root = tmp_path / "tree"
    root.mkdir()
    git(root, "init", "-q")
    (tmp_path / ".gitconfig").write_text("[include]\n\tpath = more\n")
    watch = watch_of(root)
    for config in (tmp_path / "more", tmp_path / ".gitconfig", root / ".git" / "config"):
        rules = tmp_path / f"rules of {config.parent.name}{config.name}"
        mark = watch.mark()
        assert mark is not None
        with config.open("a") as file:
            file.write(f'[core]\n\texcludesFile = "{rules}"\n')
        assert not watch.is_quiet(mark), config
        mark = watch.mark()
        assert mark is not None
        rules.write_text("*.md\n")
        assert not watch.is_quiet(mark), rules


def test_a_repository_made_above_ends_the_watch(tmp_path: Path) -> None:
    root = tmp_path / "a" / "tree"
    root.mkdir(parents=True)
    watch = watch_of(root)
    mark = watch.mark()
    assert mark is not None

    git(tmp_path, "init", "-q")

    assert not watch.is_quiet(mark)
    assert watch.mark() is None


@pytest.mark.parametrize(
    ("mounts", "is_watched"),
    [
        ("{root} ext4", True),
        ("{root} nfs4", False),
        ("{root} ext4\n{root}/sub fuse.sshfs", False),
        ("{root} ext4\n{root}/sub tmpfs", True),
        ("{root} ext4\n{root}beside nfs4", True),
    ],
)
def test_file_systems_that_tell_nobody_are_not_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mounts: str, *, is_watched: bool
) -> None:
    root = tmp_path / "my tree"  # the system writes the blank as \040
    root.mkdir()
    place = str(root).replace(" ", "\\040")
    lines = ["/ ext4", *mounts.format(root=place).splitlines()]
    listing = tmp_path / "mounts"
    listing.write_text("".join(f"device {line} rw 0 0\n" for line in lines))
    monkeypatch.setattr("wherein.mcp.surroundings.MOUNTS", listing)

    assert (make_watch(root, {"HOME": str(tmp_path)}) is not None) == is_watched
