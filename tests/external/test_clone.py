"""Git URLs cloned into the cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from wherein.errors import ExternalError
from wherein.external.clone import clone
from wherein.external.run import run


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    done = run(["git", *arguments], cwd=folder, timeout_s=60, stdin=stdin)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().strip()


def commit_by_hand(folder: Path, tree: str, identity: str) -> None:
    text = f"tree {tree}\nauthor {identity}\ncommitter {identity}\n\nold\n".encode()
    commit = git(folder, "hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=text)
    git(folder, "update-ref", "refs/heads/main", commit)


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    folder = tmp_path / "origin"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.py").write_text("def alpha(): ...\n")
    git(folder, "add", "a.py")
    return folder


@pytest.mark.parametrize(
    "identity",
    [
        "n <a@b> 1313584730 +051800000",
        "n<a@b> 1313584730 +0000",
        "<a@b> 1313584730 +0000",
        "n a@b 1313584730 +0000",
        "n <a@b>1313584730 +0000",
        "n <a@b> 01313584730 +0000",
        "n <a@b> 99999999999999999999 +0000",
        "n <a <b>> 1313584730 +0000",
    ],
)
def test_commits_that_old_programs_wrote_are_cloned_like_any(
    origin: Path, tmp_path: Path, identity: str
) -> None:
    commit_by_hand(origin, git(origin, "write-tree"), identity)

    folder = clone(origin.as_uri(), tmp_path / "clones")

    assert (folder / "a.py").read_text() == "def alpha(): ...\n"


def test_a_zero_padded_file_mode_is_cloned(origin: Path, tmp_path: Path) -> None:
    blob = bytes.fromhex(git(origin, "hash-object", "a.py"))
    raw = b"0100644 a.py\0" + blob
    tree = git(origin, "hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=raw)
    commit_by_hand(origin, tree, "n <a@b> 1313584730 +0000")

    assert (clone(origin.as_uri(), tmp_path / "clones") / "a.py").is_file()


def test_a_tree_that_would_write_into_the_git_folder_is_refused_with_the_reason(
    origin: Path, tmp_path: Path
) -> None:
    blob = bytes.fromhex(git(origin, "hash-object", "a.py"))
    raw = b"100644 .git\0" + blob
    tree = git(origin, "hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=raw)
    commit_by_hand(origin, tree, "n <a@b> 1313584730 +0000")

    with pytest.raises(ExternalError, match="hasDotgit"):
        clone(origin.as_uri(), tmp_path / "clones")

    assert list((tmp_path / "clones").iterdir()) == []


def test_the_reason_is_the_first_line_and_a_password_is_not_shown(tmp_path: Path) -> None:
    with pytest.raises(ExternalError) as caught:
        clone("http://me:hunter2@127.0.0.1:1/x.git", tmp_path / "clones")

    assert "hunter2" not in str(caught.value)
    assert "unable to access" in str(caught.value)
    with pytest.raises(ExternalError, match=r"does not (exist|appear)"):
        clone((tmp_path / "nowhere").as_uri(), tmp_path / "clones")
