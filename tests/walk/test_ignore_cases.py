"""Which files git's rules, ours and the settings leave in the set."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.walk.repositories import (
    GIT_ENVIRONMENT,
    commit_all,
    git,
    git_paths,
    listing,
    paths,
    reasons,
    write,
)

from wherein.external.git import Git


@pytest.fixture(autouse=True)
def _no_user_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "HOME"):
        monkeypatch.setenv(name, GIT_ENVIRONMENT[name])
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


@pytest.fixture(params=["git", "alone"])
def lister(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Whether git lists, or we do because git is not on PATH."""
    if request.param == "alone":
        empty = tmp_path / "no-programs"
        empty.mkdir()
        monkeypatch.setenv("PATH", str(empty))
    return str(request.param)


def test_an_allow_list_keeps_what_it_names_at_any_depth(tmp_path: Path, lister: str) -> None:
    root = tmp_path / "r"
    write(root, ".gitignore", "*\n!*/\n!*.c\n!*.h\n!.gitignore\n")
    write(root, "src/deep/k.c")
    write(root, "build/o.bin", "x")
    write(root, "src/readme.txt")
    git(root, "init", "-q")
    assert paths(listing(root)) == [".gitignore", "src/deep/k.c"]


def test_the_repositorys_own_exclude_file_counts_in_linked_worktrees_too(
    tmp_path: Path, lister: str
) -> None:
    root = tmp_path / "r"
    write(root, "src/k.py")
    git(root, "init", "-q")
    commit_all(root)
    exclude = root / ".git/info/exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("scratch/\nlocal_notes.py\n")
    git(root, "worktree", "add", "-q", str(tmp_path / "w"))
    for tree in (root, tmp_path / "w"):
        write(tree, "scratch/s.py")
        write(tree, "local_notes.py")
        assert paths(listing(tree)) == ["src/k.py"]


def test_nested_rules_act_below_their_folder_and_win_over_outer_ones(
    tmp_path: Path, lister: str
) -> None:
    root = tmp_path / "r"
    git(write(root, ".gitignore", "dist/\n*.gen.js\n").parent, "init", "-q")
    write(root, "web/.gitignore", ".output\n!keep.gen.js\n")
    write(root, "web/.output/n.js")
    write(root, "api/.output/a.js")
    write(root, "web/keep.gen.js")
    write(root, "api/drop.gen.js")
    assert paths(listing(root)) == [
        ".gitignore",
        "api/.output/a.js",
        "web/.gitignore",
        "web/keep.gen.js",
    ]


def test_rules_above_the_root_still_count(tmp_path: Path, lister: str) -> None:
    root = tmp_path / "r"
    git(write(root, ".gitignore", ".terraform/\n/only_root.py\n").parent, "init", "-q")
    write(root, "app/.terraform/x/n.py")
    write(root, "app/main.py")
    write(root, "app/only_root.py")
    assert paths(listing(root / "app")) == ["main.py", "only_root.py"]


def test_a_root_that_git_ignores_is_listed_by_its_own_rules(tmp_path: Path, lister: str) -> None:
    root = tmp_path / "r"
    git(write(root, ".gitignore", "node_modules/\n*.log\n").parent, "init", "-q")
    write(root, "node_modules/left/index.js")
    write(root, "node_modules/left/.gitignore", "out\n")
    write(root, "node_modules/left/out/x.js")
    assert paths(listing(root)) == [".gitignore"]
    found = listing(root / "node_modules/left")
    assert paths(found) == [".gitignore", "index.js"]


def test_marks_line_ends_and_blanks_in_a_rule_file_are_read_as_git_does(
    tmp_path: Path, lister: str
) -> None:
    root = tmp_path / "r"
    rules = b"\xef\xbb\xbffirst.py\r\nsecond.py   \r\nthird.py\\ \nfourth.py\t\n"
    git(write(root, ".gitignore", rules).parent, "init", "-q")
    for name in ("first", "second", "third", "fourth", "ok"):
        write(root, f"{name}.py")
    assert paths(listing(root)) == [".gitignore", "fourth.py", "ok.py", "third.py"]


def test_nested_clones_are_listed_file_by_file_unless_ignored(tmp_path: Path, lister: str) -> None:
    root = tmp_path / "super"
    git(write(root, ".gitignore", "services/\nrefs/\n").parent, "init", "-q")
    write(root, "top.py")
    for clone in ("services/pay", "refs/big", "tools"):
        write(root, f"{clone}/m.py")
        write(root, f"{clone}/skip.log")
        write(root, f"{clone}/.gitignore", "*.log\n")
        git(root / clone, "init", "-q")
    own = [".gitignore", "tools/.gitignore", "tools/m.py", "top.py"]
    assert paths(listing(root)) == own
    added = ["services/pay/.gitignore", "services/pay/m.py"]
    assert paths(listing(root, include=["services/"])) == sorted([*own, *added])
    assert paths(listing(root, include=["services/pay/"])) == sorted([*own, *added])
    assert paths(listing(root, include=["refs/"], ignore=["tools/"])) == [
        ".gitignore",
        "refs/big/.gitignore",
        "refs/big/m.py",
        "top.py",
    ]


def test_an_ignored_folder_is_included_without_what_its_own_rules_ignore(
    tmp_path: Path, lister: str
) -> None:
    root = tmp_path / "r"
    git(write(root, ".gitignore", "build/\n*.gen\n").parent, "init", "-q")
    write(root, "build/api/client.py")
    write(root, "build/api/x.scratch")
    write(root, "build/.gitignore", "*.scratch\n")
    write(root, "build/tmp/t.py")
    write(root, "one.gen")
    assert paths(listing(root, include=["build/api/"])) == [
        ".gitignore",
        "build/api/client.py",
        "build/api/x.scratch",
    ]
    assert "build/api/x.scratch" not in paths(listing(root, include=["build/"]))
    assert "one.gen" in paths(listing(root, include=["*.gen"]))
    assert paths(listing(root, include=["build/"], deny=["client.py"])) == [
        ".gitignore",
        "build/.gitignore",
        "build/tmp/t.py",
    ]


def test_other_worktrees_of_the_same_repository_do_not_multiply_files(
    tmp_path: Path, lister: str
) -> None:
    root = tmp_path / "repo"
    write(root, "src/delegate.py")
    write(root, ".gitignore", ".agents/\n")
    git(root, "init", "-q")
    commit_all(root)
    for place in (".agents/w1", ".agents/w2", "beside"):
        git(root, "worktree", "add", "-q", "-b", f"b-{place[-2:]}", place)
    found = listing(root)
    assert paths(found) == [".gitignore", "src/delegate.py"]
    assert reasons(found) == {"beside": "linked worktree"}


def test_new_files_are_in_before_git_add(tmp_path: Path, lister: str) -> None:
    root = tmp_path / "r"
    write(root, "old.py")
    git(root, "init", "-q")
    commit_all(root)
    write(root, "new.py")
    write(root, ".gitignore", "private.txt\n")
    write(root, "private.txt")
    assert paths(listing(root)) == [".gitignore", "new.py", "old.py"]


def test_personal_rules_hide_untracked_files_only_and_the_rule_is_named(
    tmp_path: Path, lister: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, root = tmp_path / "home", tmp_path / "home/projects/repo"
    write(home, ".gitignore", "*\n")
    write(home, ".gitconfig", f"[core]\n\texcludesFile = {home}/.gitignore\n")
    write(home, "projects/.gitignore", "keep_*.py\n")
    write(root, "tracked.py")
    git(root, "init", "-q")
    git(root, "add", "-f", "tracked.py")
    write(root, "untracked.py")
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    monkeypatch.setenv("HOME", str(home))
    assert paths(listing(root)) == ["tracked.py"]
    if lister == "git":
        opened = Git.find(root)
        assert opened is not None
        assert opened.ignored_among(["untracked.py"]) == {"untracked.py": f"{home}/.gitignore:1:*"}
        assert any(".gitignore:1:*" in note for note in listing(root).notes)
    other = tmp_path / "home/projects/repo2"
    write(other, "keep_y.py")
    write(other, "y.py")
    git(other, "init", "-q")
    monkeypatch.setenv("HOME", str(tmp_path / "other"))
    assert paths(listing(other)) == ["keep_y.py", "y.py"]


def test_own_ignore_files_hide_tracked_files_and_never_bring_back_ignored_ones(
    tmp_path: Path, lister: str
) -> None:
    root = tmp_path / "r"
    write(root, ".gitignore", "private/\n*.log\n")
    write(root, ".ignore", "fixtures/\n!private/\n!debug.log\n!*.py\n")
    write(root, "sub/.whereinignore", "/gone.py\nkeep/\n")
    write(root, "sub/.ignore", "!gone.py\n")
    for name in (
        "a.py", "fixtures/big.py", "private/x.py", "debug.log", "sub/gone.py", "sub/keep/k.py",
        "sub/deep/gone.py",
    ):  # fmt: skip
        write(root, name)
    git(root, "init", "-q")
    commit_all(root)
    hidden = {"fixtures/big.py", "private/x.py", "debug.log", "sub/gone.py", "sub/keep/k.py"}
    listed = set(paths(listing(root)))
    assert listed == {
        ".gitignore", ".ignore", "a.py", "sub/.ignore", "sub/.whereinignore", "sub/deep/gone.py",
    }  # fmt: skip
    assert not hidden & listed


def test_settings_ignore_silently_and_deny_by_name(tmp_path: Path, lister: str) -> None:
    root = tmp_path / "r"
    for name in ("a.py", "gen/b.py", "keys/c.py", "d.txt"):
        write(root, name)
    found = listing(root, ignore=["gen/", "*.txt"], deny=["keys/"])
    assert paths(found) == ["a.py"]
    assert reasons(found) == {"keys/c.py": "denied"}


def test_submodules_are_listed_with_their_own_index_and_rules(tmp_path: Path, lister: str) -> None:
    inner, root = tmp_path / "inner", tmp_path / "r"
    write(inner, "lib.c")
    write(inner, ".gitignore", "*.o\n")
    git(inner, "init", "-q")
    commit_all(inner)
    write(root, "main.c")
    git(root, "init", "-q")
    git(root, "submodule", "--quiet", "add", str(inner), "deps/inner")
    commit_all(root)
    write(root, "deps/inner/new.c")
    write(root, "deps/inner/new.o")
    assert paths(listing(root)) == [
        ".gitmodules",
        "deps/inner/.gitignore",
        "deps/inner/lib.c",
        "deps/inner/new.c",
        "main.c",
    ]
    git(root, "submodule", "--quiet", "deinit", "-f", "deps/inner")
    assert paths(listing(root)) == [".gitmodules", "main.c"]


def test_a_sparse_checkout_has_only_what_is_on_disk(tmp_path: Path, lister: str) -> None:
    root = tmp_path / "r"
    for name in ("keep/a.py", "drop/b.py", "top.py"):
        write(root, name)
    git(root, "init", "-q")
    commit_all(root)
    git(root, "sparse-checkout", "set", "keep")
    assert paths(listing(root)) == ["keep/a.py", "top.py"]
    write(root, "drop/b.py", "back by hand\n")
    assert "drop/b.py" in paths(listing(root))


def test_a_sparse_index_lists_like_a_full_one(tmp_path: Path) -> None:
    root = tmp_path / "r"
    for name in ("keep/a.py", "drop/deep/b.py", "top.py"):
        write(root, name)
    git(root, "init", "-q")
    commit_all(root)
    git(root, "sparse-checkout", "set", "--cone", "--sparse-index", "keep")
    assert paths(listing(root)) == ["keep/a.py", "top.py"]


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_index_version_lists_the_same(tmp_path: Path, lister: str, version: str) -> None:
    root = tmp_path / "r"
    for name in ("a/b/c.py", "a/b/d.py", "a.py", "é.py", "x" * 200 + ".py"):
        write(root, name)
    git(root, "init", "-q")
    commit_all(root)
    git(root, "update-index", "--index-version", version)
    git(root, "update-index", "--assume-unchanged", "a.py")
    git(root, "update-index", "--skip-worktree", "a/b/c.py")
    write(root, "new.py")
    git(root, "add", "-N", "new.py")
    assert paths(listing(root)) == git_paths(root)


def test_a_split_index_and_sha256_are_left_to_git(tmp_path: Path) -> None:
    for kind in ("split", "sha256"):
        root = tmp_path / kind
        write(root, "a.py")
        write(root, "b/c.py")
        git(root, "init", "-q", *(["--object-format=sha256"] if kind == "sha256" else []))
        commit_all(root)
        if kind == "split":
            git(root, "update-index", "--split-index")
        write(root, "new.py")
        found = listing(root)
        assert paths(found) == ["a.py", "b/c.py", "new.py"]
        assert all(f.blob_id is None or len(f.blob_id) == 40 for f in found.files)


def test_a_repository_without_commits_and_one_in_conflict(tmp_path: Path, lister: str) -> None:
    root = tmp_path / "r"
    write(root, "a.py", "one\n")
    git(root, "init", "-q", "-b", "main")
    found = listing(root)
    assert (paths(found), found.head) == (["a.py"], None)
    commit_all(root)
    git(root, "checkout", "-q", "-b", "side")
    write(root, "a.py", "two\n")
    commit_all(root)
    git(root, "checkout", "-q", "main")
    write(root, "a.py", "three\n")
    commit_all(root)
    with pytest.raises(Exception, match="non-zero"):
        git(root, "merge", "side")
    found = listing(root)
    assert [(f.file.path, f.blob_id) for f in found.files] == [("a.py", None)]
    assert found.head == git(root, "rev-parse", "HEAD").decode().strip()


def test_a_tracked_file_in_an_ignored_folder_is_in_and_its_neighbours_are_not(
    tmp_path: Path, lister: str
) -> None:
    root = tmp_path / "r"
    write(root, ".gitignore", "build/\n")
    write(root, "build/kept.py")
    git(root, "init", "-q")
    git(root, "add", "-f", "build/kept.py")
    write(root, "build/other.py")
    assert paths(listing(root)) == [".gitignore", "build/kept.py"]


def test_a_folder_of_clones_lists_each_by_its_own_rules(tmp_path: Path, lister: str) -> None:
    root = tmp_path / "all"
    for name in ("one", "two"):
        write(root, f"{name}/a.py")
        write(root, f"{name}/.gitignore", "out/\n")
        write(root, f"{name}/out/x.py")
        git(root / name, "init", "-q")
    write(root, "notes.md")
    assert paths(listing(root)) == [
        "notes.md", "one/.gitignore", "one/a.py", "two/.gitignore", "two/a.py",
    ]  # fmt: skip


def test_a_repository_of_another_user_is_listed_alone_and_the_listing_says_so(
    tmp_path: Path,
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    root = tmp_path / "r"
    write(root, "a.py")
    write(root, ".gitignore", "*.log\n")
    write(root, "x.log")
    git(root, "init", "-q")
    commit_all(root)
    for path in (root, *root.rglob("*")):
        os.chown(path, 12345, 12345)
    found = listing(root)
    assert paths(found) == [".gitignore", "a.py"]
    assert any("another user" in note for note in found.notes)


def test_a_broken_git_folder_is_listed_as_a_plain_folder(tmp_path: Path, lister: str) -> None:
    for kind in ("empty", "pointer", "garbage"):
        root = tmp_path / kind
        write(root, "a.py")
        if kind == "empty":
            (root / ".git").mkdir()
        else:
            write(root, ".git", "gitdir: /nonexistent\n" if kind == "pointer" else "\0\1\2")
        assert paths(listing(root)) == ["a.py"]


def test_a_bare_repository_is_a_folder_like_any_other(tmp_path: Path, lister: str) -> None:
    root = tmp_path / "bare.git"
    root.mkdir()
    git(root, "init", "-q", "--bare")
    assert "HEAD" in paths(listing(root))


def test_a_working_tree_configured_elsewhere_is_not_followed(tmp_path: Path, lister: str) -> None:
    root, elsewhere = tmp_path / "r", tmp_path / "elsewhere"
    write(root, "a.py")
    write(elsewhere, "treasure.py")
    git(root, "init", "-q")
    git(root, "config", "core.worktree", str(elsewhere))
    assert paths(listing(root)) == ["a.py"]


def test_a_folder_with_an_ignore_files_name_is_a_folder(tmp_path: Path, lister: str) -> None:
    for name in (".gitignore", ".ignore", ".whereinignore"):
        write(tmp_path, f"{name}/inner.py")
    write(tmp_path, "a.py")
    assert "a.py" in paths(listing(tmp_path))
    if lister == "git":
        git(tmp_path, "init", "-q")
        assert "a.py" in paths(listing(tmp_path))
