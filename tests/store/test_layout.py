from pathlib import Path

import pytest

from wherein.errors import NewerIndexError
from wherein.store.layout import FORMAT_VERSION, Layout, path_id


def layout_in(home: Path, name: str = "tree") -> Layout:
    root = home.parent / name
    root.mkdir(exist_ok=True)
    return Layout.of(home, root, root)


def test_every_spelling_of_a_folder_has_one_id(tmp_path: Path) -> None:
    (tmp_path / "real" / "proj").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    spellings = ["real/proj", "link/proj", "real//proj/", "real/../link/./proj"]
    assert len({path_id(tmp_path / spelling) for spelling in spellings}) == 1
    assert path_id(tmp_path / "real") != path_id(tmp_path / "real" / "proj")


def test_names_do_not_grow_with_the_path(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["folder_with_a_long_name_" * 8] * 15)
    layout = Layout.of(tmp_path / "home", deep, deep)
    assert max(len(part) for part in layout.manifest.relative_to(tmp_path).parts) <= 20


def test_worktrees_of_one_repository_share_a_family_and_have_trees_of_their_own(
    tmp_path: Path,
) -> None:
    anchor = tmp_path / "repo" / ".git"
    one = Layout.of(tmp_path / "home", tmp_path / "repo", anchor)
    two = Layout.of(tmp_path / "home", tmp_path / "feature", anchor)
    assert one.records == two.records
    assert one.manifest != two.manifest
    one.prepare()
    two.prepare()
    assert one.tree_folders() == sorted([one.tree, two.tree])


def test_a_newer_index_is_refused_and_left_alone(tmp_path: Path) -> None:
    layout = layout_in(tmp_path / "home")
    layout.prepare()
    layout.records.write_bytes(b"theirs")
    (layout.family / "format").write_text(f"{FORMAT_VERSION + 1}\n")
    with pytest.raises(NewerIndexError) as caught:
        layout.prepare()
    assert "wherein clear" in caught.value.hint
    assert layout.records.read_bytes() == b"theirs"


def test_an_older_index_is_wiped_with_its_locks_kept(tmp_path: Path) -> None:
    layout = layout_in(tmp_path / "home")
    layout.prepare()
    layout.records.write_bytes(b"old")
    layout.manifest.write_bytes(b"old")
    layout.build_lock.touch()
    (layout.family / "format").write_text("0\n")
    layout.prepare()
    assert not layout.records.exists()
    assert not layout.manifest.exists()
    assert layout.build_lock.exists()
    assert layout.check_version() == FORMAT_VERSION


@pytest.mark.parametrize("damage", [b"", b"\0\0", b"nonsense\n", b"\xff\xfe"])
def test_a_damaged_format_mark_is_written_again(tmp_path: Path, damage: bytes) -> None:
    layout = layout_in(tmp_path / "home")
    layout.prepare()
    layout.records.write_bytes(b"kept")
    (layout.family / "format").write_bytes(damage)
    layout.prepare()
    assert layout.check_version() == FORMAT_VERSION
    assert layout.records.read_bytes() == b"kept"


def test_size_counts_every_file_of_the_family(tmp_path: Path) -> None:
    layout = layout_in(tmp_path / "home")
    layout.prepare()
    before = layout.size()
    (layout.segments / "one").mkdir()
    (layout.segments / "one" / "segment.bin").write_bytes(b"x" * 100)
    assert layout.size() == before + 100
    assert before == (layout.family / "format").stat().st_size
