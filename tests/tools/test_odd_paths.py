"""Whatever is written where a path belongs is answered or refused, by every exact tool."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.exact import globbed, grep, read, write_tree
from wherein.errors import PathError, PatternError, WhereinError
from wherein.tools.file_set import git_of

LONG = "a" * 5000

ODD = [
    "file://[bad",
    "file://host:port/x",
    LONG,
    f"/{LONG}",
    f"{LONG}/*.py",
    "x/" * 3000 + "x",
    "\udcff",
    "\ud800",
    "x\0y",
    "C:\\x.py",
    "\\\\host\\share",
]


@pytest.mark.parametrize("name", ODD, ids=range(len(ODD)))
def test_an_odd_path_is_never_a_crash(tmp_path: Path, name: str) -> None:
    root = write_tree(tmp_path / "tree", {"a.py": "word\n"})
    n_refused = 0
    for ask in (
        lambda: grep(root, "word", name).lines(),
        lambda: grep(root, "word", globs=(name,)).lines(),
        lambda: read(root, name),
        lambda: globbed(root, name).files,
        lambda: globbed(root, "*", folder=name).files,
    ):
        try:
            assert not ask()
        except WhereinError:
            n_refused += 1
    assert n_refused >= 3


@pytest.mark.parametrize("text", ["a\0b", "\udcff"])
@pytest.mark.parametrize("field", ["globs", "types", "excluded_types"])
def test_no_argument_of_grep_crashes_the_program_it_is_for(
    tmp_path: Path, text: str, field: str
) -> None:
    root = write_tree(tmp_path / "tree", {"a.py": "word\n"})
    with pytest.raises(PatternError, match="half a character"):
        grep(root, "word", **{field: (text,)})  # type: ignore[arg-type]
    with pytest.raises(PatternError):
        grep(root, text)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe")
def test_a_pipe_in_the_place_of_git_is_not_waited_for(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "tree", {"a.py": "word\n"})
    os.mkfifo(root / ".git")

    assert git_of(root) is None
    assert grep(root, "word").lines() == ["a.py:1:word"]
    (root / ".git").unlink()
    (root / ".git").write_text(f"gitdir: {LONG}\n")
    assert git_of(root) is None


def test_what_may_not_be_read_is_said_to_be_so(tmp_path: Path) -> None:
    write_tree(tmp_path, {"locked/a.txt": "word\n", "b.txt": "word\n"})
    locked = tmp_path / "locked"
    locked.chmod(0)
    try:
        if os.access(locked, os.R_OK):
            pytest.skip("this user may read everything")
        listed = globbed(tmp_path, "*.txt")
        for target in ("locked", "locked/a.txt"):
            with pytest.raises(PathError, match="Permission denied"):
                read(tmp_path, target)
    finally:
        locked.chmod(0o700)

    assert listed.lines() == ["b.txt"]
    assert listed.notes == ("could not be read, files may be missing: locked",)
