"""Git's id is used only where it names exactly the bytes on disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.walk.repositories import commit_all, git, listing, write

from wherein.external.git_index import RACY_NS
from wherein.walk.blob import blob_id


def aged_repository(root: Path) -> Path:
    """Make a repository whose index is clearly younger than its files."""
    write(root, "a.py", "one\n")
    write(root, "sub/b.py", "two\n")
    git(root, "init", "-q")
    commit_all(root)
    return root


def make_index_young(root: Path) -> None:
    stamp = (root / "a.py").stat().st_ctime_ns + 100 * RACY_NS
    os.utime(root / ".git/index", ns=(stamp, stamp))


def ids(root: Path) -> dict[str, str | None]:
    return {f.file.path: f.blob_id for f in listing(root).files}


def test_a_clean_file_has_gits_id_without_being_read(tmp_path: Path) -> None:
    root = aged_repository(tmp_path / "r")
    make_index_young(root)
    assert ids(root) == {"a.py": blob_id(b"one\n"), "sub/b.py": blob_id(b"two\n")}


def test_a_file_as_new_as_the_index_is_not_vouched_for(tmp_path: Path) -> None:
    root = aged_repository(tmp_path / "r")
    stamp = (root / "a.py").stat().st_ctime_ns
    os.utime(root / ".git/index", ns=(stamp, stamp))
    assert ids(root)["a.py"] is None


def test_a_changed_an_untracked_and_a_newly_meant_file_have_no_id(tmp_path: Path) -> None:
    root = aged_repository(tmp_path / "r")
    write(root, "a.py", "six\n")
    write(root, "new.py")
    write(root, "meant.py")
    git(root, "add", "-N", "meant.py")
    make_index_young(root)
    found = ids(root)
    assert (found["a.py"], found["new.py"], found["meant.py"]) == (None, None, None)


@pytest.mark.parametrize(
    "attributes",
    [
        "* text=auto\n",
        "*.py eol=lf\n",
        "*.py filter=lfs\n",
        "*.py ident\n",
        "*.py working-tree-encoding=UTF-16\n",
        "[attr]odd text\n",
    ],
)
def test_where_git_may_convert_its_id_is_not_used(tmp_path: Path, attributes: str) -> None:
    root = aged_repository(tmp_path / "r")
    write(root, ".gitattributes", attributes)
    make_index_young(root)
    assert set(ids(root).values()) == {None}


def test_attributes_that_convert_nothing_do_not_matter(tmp_path: Path) -> None:
    root = aged_repository(tmp_path / "r")
    write(root, ".gitattributes", "*.py diff=python linguist-generated\n# text=auto is not set\n")
    make_index_young(root)
    assert ids(root)["a.py"] is None or ids(root)["a.py"] == blob_id(b"one\n")


@pytest.mark.parametrize("value", ["true", "input"])
def test_line_end_settings_count(tmp_path: Path, value: str) -> None:
    root = aged_repository(tmp_path / "r")
    git(root, "config", "core.autocrlf", value)
    make_index_young(root)
    assert set(ids(root).values()) == {None}


@settings(derandomize=True, max_examples=50)
@given(st.binary(max_size=200))
def test_the_id_is_gits_hash_of_the_bytes(data: bytes) -> None:
    assert len(blob_id(data)) == 40


def test_the_id_equals_what_git_computes(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    for data in (b"", b"x\n", b"\0\xff" * 100, "é\r\n".encode()):
        write(tmp_path, "f", data)
        assert git(tmp_path, "hash-object", "--no-filters", "f").decode().strip() == blob_id(data)
