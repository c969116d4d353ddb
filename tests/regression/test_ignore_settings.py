"""Ignore rules that only git's settings name: every front end leaves the same files out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.exact import files_with, globbed
from tests.walk.repositories import GIT_ENVIRONMENT, git, git_paths, listing, paths, write


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty home folder of its own, for git and for us."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
        monkeypatch.setenv(name, GIT_ENVIRONMENT[name])
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    folder = tmp_path / "home-folder"
    folder.mkdir()
    monkeypatch.setenv("HOME", os.fspath(folder))
    return folder


def listed(root: Path) -> list[str]:
    return [file.path for file in globbed(root, "**").files]


def assert_same_everywhere(root: Path, expected: list[str]) -> None:
    assert git_paths(root) == expected
    assert paths(listing(root)) == expected
    assert listed(root) == expected
    assert files_with(root, "x = 1") == [path for path in expected if path != ".gitignore"]


def test_an_excludes_file_that_the_repository_itself_names(tmp_path: Path) -> None:
    root = tmp_path / "r"
    git(write(root, ".gitignore", "!kept.tmp\n").parent, "init", "-q")
    git(root, "config", "core.excludesFile", str(write(tmp_path, "rules", "*.tmp\n")))
    for name in ("a.py", "a.tmp", "kept.tmp", "b/c.tmp"):
        write(root, name)
    # a tracked file stays, and a rule of the tree wins over the user's
    assert_same_everywhere(root, [".gitignore", "a.py", "kept.tmp"])
    git(root, "add", "-f", "b/c.tmp")
    assert listed(root) == [".gitignore", "a.py", "b/c.tmp", "kept.tmp"]


def test_an_excludes_file_named_in_an_included_settings_file(tmp_path: Path) -> None:
    root = tmp_path / "r"
    git(write(root, "a.py").parent, "init", "-q")
    rules = write(tmp_path, "rules", "*.inc\n")
    write(tmp_path, "more/settings", f"[core]\n\texcludesFile = {rules}\n")
    git(root, "config", "include.path", "../../more/settings")
    write(root, "a.inc")
    assert_same_everywhere(root, ["a.py"])


def test_settings_that_include_themselves_end(tmp_path: Path) -> None:
    root = tmp_path / "r"
    git(write(root, "a.py").parent, "init", "-q")
    write(root, ".git/config", "[include]\n\tpath = config\n\tpath = config\n")
    assert listed(root) == ["a.py"]


def test_settings_of_one_working_tree(tmp_path: Path) -> None:
    main = tmp_path / "m"
    git(write(main, "a.py").parent, "init", "-q")
    git(main, "add", "-A")
    git(main, "commit", "-q", "-m", "a")
    git(main, "worktree", "add", "-q", "../w")
    git(main, "config", "extensions.worktreeConfig", "true")
    tree = tmp_path / "w"
    rules = write(tmp_path, "rules", "*.wt\n")
    git(tree, "config", "--worktree", "core.excludesFile", str(rules))
    for root in (main, tree):
        write(root, "b.wt")
    assert_same_everywhere(tree, ["a.py"])
    assert_same_everywhere(main, ["a.py", "b.wt"])


def test_rules_match_in_any_letter_case_where_git_was_told_so(tmp_path: Path) -> None:
    root = tmp_path / "r"
    git(write(root, ".gitignore", "Build/\n*.LOG\n").parent, "init", "-q")
    for name in ("build/a.py", "e.log", "k.py"):
        write(root, name)
    git(root, "config", "core.ignorecase", "true")
    assert_same_everywhere(root, [".gitignore", "k.py"])
    git(root, "config", "core.ignorecase", "false")
    assert_same_everywhere(root, [".gitignore", "build/a.py", "e.log", "k.py"])


def test_the_exclude_file_of_a_git_folder_that_lies_elsewhere(tmp_path: Path) -> None:
    root = tmp_path / "r"
    write(root, "a.py")
    git(root, "init", "-q", "--separate-git-dir", str(tmp_path / "gitdir"))
    write(tmp_path, "gitdir/info/exclude", "local.py\n")
    write(root, "local.py")
    assert_same_everywhere(root, ["a.py"])


def test_the_personal_file_git_was_told_not_to_read_hides_nothing(
    tmp_path: Path, home: Path
) -> None:
    root = tmp_path / "r"
    git(write(root, "a.py").parent, "init", "-q")
    rules = write(tmp_path, "rules", "*.py\n")
    write(home, ".gitconfig", f"[core]\n\texcludesFile = {rules}\n")
    assert_same_everywhere(root, ["a.py"])  # GIT_CONFIG_GLOBAL names another file
