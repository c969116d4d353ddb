"""A pattern of the repository's settings hides the same files, wherever below it is searched."""

import os
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wherein.settings_patterns import patterns_below
from wherein.walk.ignore import IgnoreRules, parse_rules

FOLDER = ("a", "b")
PATHS = ["/".join(names) for n in (1, 2, 3) for names in product(["a", "b", "c.py"], repeat=n)]


def is_hidden(pattern: str | None, path: str) -> bool:
    """Whether a rule names the path or a folder above it."""
    if pattern is None:
        return False
    rules = IgnoreRules(parse_rules(os.fsencode(pattern)), "settings")
    names = path.split("/")
    return any(
        (rule := rules.decide(os.fsencode("/".join(names[:n])), is_folder=n < len(names)))
        is not None
        and not rule.is_negated
        for n in range(1, len(names) + 1)
    )


segments = st.lists(
    st.sampled_from(["a", "b", "c.py", "*", "**", "a*", "?"]), min_size=1, max_size=4
)


@given(segments, st.booleans(), st.booleans())
@settings(derandomize=True, max_examples=400, deadline=None)
def test_a_pattern_hides_below_what_it_hides_from_above(
    names: list[str], is_anchored: bool, is_for_folders: bool
) -> None:
    pattern = f"{'/' if is_anchored else ''}{'/'.join(names)}{'/' if is_for_folders else ''}"
    for depth in (1, 2):
        folder = FOLDER[:depth]
        below = patterns_below([pattern], folder)
        for path in PATHS:
            whole = is_hidden(pattern, "/".join((*folder, path)))
            assert any(is_hidden(item, path) for item in below) == whole, (pattern, folder, path)


@pytest.mark.parametrize(
    ("pattern", "below"),
    [
        ("sub/deep/a.py", ("/deep/a.py",)),
        ("other/a.py", ()),
        ("*.log", ("*.log",)),
        ("sub", ("sub", "*")),
        ("!sub/x", ("!/x",)),
        ("**/sub/x", ("/**/sub/x", "/x")),
    ],
)
def test_what_is_tied_to_a_folder_loses_its_part(pattern: str, below: tuple[str, ...]) -> None:
    assert set(patterns_below([pattern], ["sub"])) == set(below)
