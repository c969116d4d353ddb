"""Our own walk and matcher give git's file set for generated trees and rules."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.walk.repositories import GIT_ENVIRONMENT, git, git_paths

from wherein.external.git import Git
from wherein.external.git_folder import find_git_folder
from wherein.walk.gather import gather_plain, gather_repository
from wherein.walk.gathered import Gathered
from wherein.walk.hidden import HidingRules
from wherein.walk.ignore import IgnoreRules, parse_rules

NAMES = ["a", "b", "ab", "foo", "x.c", "a b", "d", "é", "[x]", "a*b", "b\\c", "#h", "!n", "z ", "A"]
ATOMS = [
    "*", "**", "?", "a", "b", "ab", "foo", "/", "/", "[ab]", "[!a]", "[^x]", "[a-c]", "\\*", "\\ ",
    "é", "[[:alpha:]]", "[]a]", "[a", "c", "x", ".c", "*.c", "[x]", "\\", "!", "#", "b\\\\c", " ",
    "-", "[--0]", "[a-]", "[[:foo:]]", "[[:digit:]", "[\\]]", "[/]",
]  # fmt: skip

names = st.sampled_from(NAMES)
tree_paths = st.lists(names, min_size=1, max_size=4).map("/".join)
bodies = st.one_of(names, st.lists(st.sampled_from(ATOMS), min_size=1, max_size=5).map("".join))
patterns = st.tuples(
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "", "/"]),
    bodies,
    st.sampled_from(["", "", "", "/"]),
    st.sampled_from(["", "", "", "", " ", "  ", "\t", "\\ ", "\r"]),
).map("".join)
rule_files = st.lists(patterns, max_size=5).map("\n".join)


@pytest.fixture(autouse=True)
def _no_user_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "HOME"):
        monkeypatch.setenv(name, GIT_ENVIRONMENT[name])
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


def make_tree(root: Path, files: list[str], rules: dict[str, str]) -> None:
    for path in files:
        target = root / path
        if not os.path.lexists(target) and not any(p.is_file() for p in target.parents):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("x")
    for folder, text in rules.items():
        if (root / folder).is_dir():
            (root / folder / ".gitignore").write_text(text)


def gathered(root: Path, *, alone: bool) -> Gathered:
    found = Gathered(HidingRules())
    if alone:
        gather_plain(root, "", find_git_folder(root), found, None, 0)
    else:
        opened = Git.find(root)
        assert opened is not None
        gather_repository(opened, "", found, None, 0)
    return found


@settings(
    derandomize=True,
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    files=st.lists(tree_paths, min_size=1, max_size=12),
    tracked=st.integers(0, 12),
    rules=st.dictionaries(st.one_of(st.just(""), tree_paths), rule_files, max_size=3),
    exclude=st.one_of(st.just(""), rule_files),
)
def test_both_ways_of_listing_give_what_git_lists(
    files: list[str], tracked: int, rules: dict[str, str], exclude: str
) -> None:
    root = Path(tempfile.mkdtemp()).resolve() / "r"
    try:
        root.mkdir()
        git(root, "init", "-q")
        make_tree(root, files[:tracked], {})
        if tracked:
            git(root, "add", "-A")
        make_tree(root, files, rules)
        (root / ".git/info").mkdir(exist_ok=True)
        (root / ".git/info/exclude").write_text(exclude)
        wanted = git_paths(root)
        alone, with_git = gathered(root, alone=True), gathered(root, alone=False)
        assert sorted(p for p in alone.candidates if os.path.lexists(root / p)) == wanted
        assert sorted(p for p in with_git.candidates if os.path.lexists(root / p)) == wanted
        assert alone.folders == with_git.folders
    finally:
        shutil.rmtree(root.parent)


@pytest.mark.parametrize("ignore_case", [False, True])
def test_the_matcher_decides_each_path_as_git_check_ignore_does(
    tmp_path: Path, ignore_case: bool
) -> None:
    chance = random.Random(7)
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "core.ignoreCase", str(ignore_case).lower())
    rows: list[tuple[str, str]] = []
    for _ in range(300):
        body = "".join(chance.choices(ATOMS, k=chance.randint(1, 5)))
        pattern = (
            chance.choice(["", "/"]) + chance.choice([body, *NAMES]) + chance.choice(["", "/"])
        )
        path = "/".join(chance.choices(NAMES, k=chance.randint(1, 3)))
        rows.append((pattern, chance.choice([path, path.upper(), body.strip("/") or path])))
    rows = [(a, b) for a, b in rows if ".." not in b and "//" not in b]
    for i, (pattern, path) in enumerate(rows):
        (tmp_path / f"{i}/{path}").mkdir(parents=True)
        (tmp_path / f"{i}/.gitignore").write_text(pattern)
    opened = Git.find(tmp_path)
    assert opened is not None
    ignored = opened.ignored_among([f"{i}/{path}" for i, (_, path) in enumerate(rows)])
    for i, (pattern, path) in enumerate(rows):
        rules = IgnoreRules(parse_rules(pattern.encode(), ignore_case=ignore_case))
        parts = path.split("/")
        above = ["/".join(parts[:end]).encode() for end in range(1, len(parts) + 1)]
        ours = False
        for folder in above:
            rule = rules.decide(folder, is_folder=True)
            if rule is not None and not rule.is_negated:
                ours = True
                break
        assert ours == (f"{i}/{path}" in ignored), (pattern, path)
