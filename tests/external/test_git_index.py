"""The index reader gives what git prints, and refuses what it does not know."""

from __future__ import annotations

import os
import subprocess  # noqa: TID251 - tests start git directly
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wherein.external.git_index import (
    Index,
    UnknownIndexError,
    parse_debug_listing,
    parse_index,
    read_index_file,
)

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(folder: Path, *args: str) -> bytes:
    return subprocess.run(
        ("git", *args), cwd=folder, env=ENVIRONMENT, capture_output=True, check=True, timeout=60
    ).stdout


@pytest.fixture(params=["2", "3", "4"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    for i in range(120):
        path = tmp_path / f"folder{i % 7}" / ("n" * (i * 3 % 200) + f"{i}.py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"x = {i}\n")
    (tmp_path / "long").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    (tmp_path / "café\n").write_text("x")
    git(tmp_path, "add", "-A")
    git(tmp_path, "update-index", "--index-version", str(request.param))
    git(tmp_path, "update-index", "--skip-worktree", "link")
    (tmp_path / "meant").write_text("x")
    git(tmp_path, "add", "-N", "meant")
    return tmp_path


def test_reading_the_file_equals_reading_gits_listing(root: Path) -> None:
    ours = read_index_file(root / ".git")
    printed = git(root, "ls-files", "--stage", "--debug", "-z")
    assert ours == parse_debug_listing(printed, ours.written_ns)
    assert sum(entry.is_skip_worktree for entry in ours.entries) == 1
    assert [entry.path for entry in ours.entries if not entry.is_plain] == ["meant"]


def test_a_cut_or_changed_index_is_refused_or_read_but_never_fails(root: Path) -> None:
    data = (root / ".git/index").read_bytes()
    for end in range(0, len(data), 97):
        with pytest.raises(UnknownIndexError):
            parse_index(data[:end], 0)
    with pytest.raises(UnknownIndexError):
        parse_index(data.replace(b"DIRC", b"CRID"), 0)


@settings(derandomize=True, max_examples=100)
@given(st.binary(max_size=300))
def test_any_bytes_are_refused_or_read(data: bytes) -> None:
    try:
        found = parse_index(b"DIRC\0\0\0\2" + data, 0)
    except UnknownIndexError:
        return
    assert isinstance(found, Index)


def test_no_index_is_an_empty_one(tmp_path: Path) -> None:
    assert read_index_file(tmp_path) == Index((), 0)
