"""Only regular files inside the root are read, whatever links are swapped in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.walk.repositories import write

from wherein.errors import PathError
from wherein.walk.paths import inside, parse_path, show_path
from wherein.walk.reading import TreeReader, read_file


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    write(made, "real.py", "inside\n")
    write(made, "sub/deep.py", "deep\n")
    write(tmp_path, "outside/secret.txt", "treasure\n")
    (made / "out.txt").symlink_to("../outside/secret.txt")
    (made / "dir").symlink_to("../outside")
    (made / "inner.py").symlink_to("real.py")
    (made / "back").symlink_to("sub")
    os.mkfifo(made / "pipe.py")
    return made


@pytest.mark.parametrize(
    "path",
    ["out.txt", "dir/secret.txt", "sub/../../outside/secret.txt", "pipe.py", "sub", "back/deep.py",
     "gone.py", "inner.py", "", "."],
)  # fmt: skip
def test_what_is_no_regular_file_inside_is_not_read(root: Path, path: str) -> None:
    with pytest.raises(PathError):
        read_file(root, path)


def test_neighbours_and_other_folders_are_read_by_one_reader(root: Path) -> None:
    write(root, "sub/other.py", "other\n")
    with TreeReader(root) as reader:
        texts = [reader.read(path).data for path in ("sub/deep.py", "sub/other.py", "real.py")]
        cut = reader.read("real.py", 3)
    assert texts == [b"deep\n", b"other\n", b"inside\n"]
    assert (cut.data, cut.is_whole) == (b"ins", False)


def test_a_link_swapped_in_while_reading_never_leads_out(root: Path, tmp_path: Path) -> None:
    target = root / "race.py"
    with TreeReader(root) as reader:
        for i in range(300):
            target.unlink(missing_ok=True)
            if i % 2:
                target.symlink_to("../outside/secret.txt")
            else:
                target.write_text("fine\n")
            try:
                assert b"treasure" not in reader.read("race.py").data
            except PathError:
                assert i % 2


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("out.txt", "leaves the root"), ("dir/secret.txt", "leaves the root"),
        ("../outside/secret.txt", "outside"), ("/etc/hostname", "outside"), ("gone", "no file"),
        ("dir/../secret.txt", "no file"), ("a\0b", "NUL"), ("x" * 300, "cannot be opened"),
    ],
)  # fmt: skip
def test_a_path_that_leads_out_is_refused_with_the_reason(root: Path, path: str, word: str) -> None:
    with pytest.raises(PathError, match=word):
        inside(root, path)


def test_a_path_inside_is_resolved_also_through_links(root: Path) -> None:
    assert inside(root, "inner.py") == (root / "real.py").resolve()
    assert inside(root, root / "sub/deep.py") == (root / "sub/deep.py").resolve()
    assert inside(root, "back/../real.py") == (root / "real.py").resolve()
    assert inside(root, ".") == root.resolve()


@settings(derandomize=True, max_examples=300)
@given(st.binary(min_size=1, max_size=60).filter(lambda name: b"\0" not in name))
def test_any_name_is_shown_on_one_line_and_comes_back(name: bytes) -> None:
    path = os.fsdecode(name)
    shown = show_path(path)
    assert len(shown.splitlines()) == 1
    shown.encode()
    assert "\x1b" not in shown
    assert parse_path(shown) == path


@settings(derandomize=True, max_examples=200)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40))
def test_any_text_is_shown_without_characters_that_reorder_or_hide(text: str) -> None:
    shown = show_path(text)
    assert not {"\u202e", "\u200b", "\u2066", "\U000e0041", "\n", "\r"} & set(shown)
    assert parse_path(shown) == text
