"""Patterns with many stars are decided at once, and as they were; else these ran for years."""

from __future__ import annotations

import re
from itertools import product

import pytest

from wherein.tools.globbing import GlobSet
from wherein.walk.ignore import IgnoreRules, parse_rules


@pytest.mark.parametrize(
    ("line", "path"),
    [
        (b"*a" * 60 + b"b", b"a" * 200),
        (b"/" + b"*a" * 60 + b"b", b"a" * 200),
        (b"**/a/" * 40 + b"b", b"a/" * 100 + b"c"),
        (b"*" * 2_000 + b"x", b"a" * 200),
    ],
)
def test_patterns_with_many_stars_are_decided_at_once(line: bytes, path: bytes) -> None:
    assert IgnoreRules(parse_rules(line)).decide(path, is_folder=False) is None
    assert not GlobSet.of([line.decode()]).admits(path.decode())


def test_stars_mean_what_they_meant() -> None:
    names = ["".join(letters) for n in range(6) for letters in product("ab", repeat=n)]
    naive = {"*": ".*", "?": ".", "a": "a", "b": "b"}
    for n in range(1, 6):
        for parts in product("ab*?", repeat=n):
            expected = re.compile("".join(naive[part] for part in parts))
            rules = IgnoreRules(parse_rules("".join(parts).encode()))
            globs = GlobSet.of(["".join(parts)])
            for name in names[1:]:
                matches = expected.fullmatch(name) is not None
                assert (rules.decide(name.encode(), is_folder=False) is not None) == matches
                assert globs.admits(name) == matches


@pytest.mark.parametrize("glob", ["**/a/**/b*b", "**/a*b/**/{c,**/a}/b", "a/**/b/**", "{a*,b}*a"])
def test_folders_at_any_depth_mean_what_they_meant(glob: str) -> None:
    naive = glob.replace("{", "(?:").replace("}", ")").replace(",", "|")
    naive = naive.replace("/**", "/\0").replace("**/", "\1").replace("*", "[^/]*")
    naive = naive.replace("/\0/", "/(?:[^/]*/)*").replace("\0", ".*").replace("\1", "(?:[^/]*/)*")
    expected = re.compile(naive if "/" in glob else f"(?:[^/]*/)*(?:{naive})")
    globs = GlobSet.of([glob])
    names = ["a", "b", "c", "ab", "bb", "aba"]
    paths = ["/".join(parts) for n in range(1, 5) for parts in product(names, repeat=n)]
    assert any(globs.admits(path) for path in paths)
    for path in paths:
        assert globs.admits(path) == (expected.fullmatch(path) is not None), path
