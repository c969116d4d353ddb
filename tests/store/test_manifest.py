import random
from hashlib import sha1
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wherein.errors import CorruptIndexError, NewerIndexError
from wherein.store.entries import NO_SEGMENT, Entries, EntryRow
from wherein.store.layout import FORMAT_VERSION
from wherein.store.manifest import Head, Manifest, SegmentUse, read_manifest, write_manifest
from wherein.store.snapshot import folder_ids, updated_folder_ids
from wherein.types import FileFlag, FileKind, FileStat, Skipped, SourceFile


def row(path: str, blob: int = 1, *, language: str | None = "python", skip: str = "") -> EntryRow:
    stat = FileStat(blob, 2, 3, 2**63 + 5, 0o100644)
    file = SourceFile(path, stat, language, FileKind.CODE, FileFlag.TEST)
    segment = NO_SEGMENT if skip else 0
    return EntryRow(file, f"{blob:040x}", blob % 2 == 0, skip, segment, blob)


ROWS = [
    row("src/a.py", 3),
    row("src-old/o.py", 4, language=None),
    row("odd/\udcff\n.py", 5),
    row("big.bin", 6, skip="binary"),
]


def head(**changes: object) -> Head:
    values: dict[str, object] = {
        "root": b"/r",
        "anchor": b"/r/.git",
        "commit": None,
        "snapshot_id": "0" * 40,
        "recipe": "r",
        "listing_key": "k",
        "is_complete": True,
        "generation": 1,
        "day": 1,
        "segments": (SegmentUse("one", 3),),
        "n_files": 3,
        "n_pending": 0,
    }
    return Head(**(values | changes))  # pyright: ignore[reportArgumentType]


def written(path: Path) -> Manifest:
    entries = Entries.of(ROWS)
    manifest = Manifest.of(
        head(),
        path,
        entries=entries,
        folders=folder_ids(entries.paths, entries.blobs),
        skipped=[Skipped("big.bin", "binary"), Skipped("x\udcfe", "fifo", "detail")],
        pending=["later\udcff.py"],
        signature=b"seen",
    )
    write_manifest(manifest)
    return manifest


def test_a_manifest_gives_back_what_was_written(tmp_path: Path) -> None:
    made = written(tmp_path / "manifest")
    found = read_manifest(tmp_path / "manifest")
    assert found is not None
    assert found.head == made.head
    assert found.skipped == (Skipped("big.bin", "binary"), Skipped("x\udcfe", "fifo", "detail"))
    assert found.pending == ("later\udcff.py",)
    assert found.folders == made.folders
    assert found.signature == b"seen"
    assert found.entries.rows(range(4)) == made.entries.rows(range(4))
    assert [entry.file.path for entry in found.entries.tree_entries()] == sorted(
        item.file.path for item in ROWS
    )
    assert sorted(tmp_path.iterdir()) == [tmp_path / "manifest"]


def test_no_manifest_is_none_and_a_newer_one_is_refused(tmp_path: Path) -> None:
    assert read_manifest(tmp_path / "manifest") is None
    written(tmp_path / "manifest")
    data = bytearray((tmp_path / "manifest").read_bytes())
    data[8] = FORMAT_VERSION + 1
    (tmp_path / "manifest").write_bytes(data)
    with pytest.raises(NewerIndexError):
        read_manifest(tmp_path / "manifest")


def test_damage_anywhere_is_found(tmp_path: Path) -> None:
    path = tmp_path / "manifest"
    written(path)
    whole = path.read_bytes()
    chance = random.Random(5)
    for _ in range(60):
        start = chance.randrange(len(whole) - 1)
        data = bytearray(whole)
        size = min(chance.choice([1, 16, 4096]), len(whole) - start)
        damage = bytes(byte ^ 0x55 for byte in data[start : start + size])
        data[start : start + size] = damage
        path.write_bytes(data if chance.random() < 0.7 else whole[:start])
        with pytest.raises((CorruptIndexError, NewerIndexError)):
            read_all(path)
    path.write_bytes(whole)
    read_all(path)


def read_all(path: Path) -> None:
    found = read_manifest(path)
    assert found is not None
    assert len(found.entries) == 4
    assert found.folders
    assert len(found.skipped) == 2
    assert found.pending
    assert found.signature


def test_dead_files_survive_as_bits() -> None:
    use = SegmentUse("s", 11)
    assert use.dead_files() is None
    dead = np.zeros(11, np.bool_)
    dead[[0, 10]] = True
    again = use.with_dead(dead).dead_files()
    assert again is not None
    assert again.tolist() == dead.tolist()
    assert use.with_dead(np.zeros(11, np.bool_)).dead == b""


def test_entries_are_found_taken_and_joined() -> None:
    entries = Entries.of(ROWS)
    assert entries.find("src/a.py") is not None
    assert entries.find("src/a") is None
    kept = entries.take(np.array([0, 2], np.intp))
    added = Entries.of([row("m.rs", 9, language="rust"), row("a.txt", 8, skip="minified")])
    joined = kept.joined(added)
    assert joined.paths == sorted([*kept.paths, "m.rs", "a.txt"])
    by_path = {item.file.path: item for item in joined.rows(range(len(joined)))}
    assert by_path["m.rs"].file.language == "rust"
    assert by_path["a.txt"].skip_reason == "minified"
    assert by_path[kept.paths[0]] == entries.row(0)
    assert Entries.from_bytes(joined.to_bytes()).rows(range(4)) == joined.rows(range(4))
    assert len(Entries.from_bytes(Entries.empty().to_bytes())) == 0


names = st.sampled_from(["a", "b", "a-b", "a.b", "ab", "c\udcff"])
paths = st.lists(names, min_size=1, max_size=4).map("/".join)
trees = st.dictionaries(paths, st.integers(0, 3), max_size=12)


def consistent(tree: dict[str, int]) -> dict[str, int]:
    """Drop files that stand where another path has a folder."""
    return {p: b for p, b in tree.items() if not any(q.startswith(f"{p}/") for q in tree)}


def merkle_inputs(tree: dict[str, int]) -> tuple[list[str], np.ndarray]:
    ordered = sorted(tree)
    raw = b"".join(tree[path].to_bytes(20, "big") for path in ordered)
    return ordered, np.frombuffer(raw, np.uint8).reshape(-1, 20)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(trees, trees)
def test_folder_ids_after_a_change_are_those_of_a_fresh_count(
    before: dict[str, int], after: dict[str, int]
) -> None:
    before, after = consistent(before), consistent(after)
    known = folder_ids(*merkle_inputs(before))
    changed = {path for path in {*before, *after} if before.get(path) != after.get(path)}
    fresh = folder_ids(*merkle_inputs(after))
    assert updated_folder_ids(known, *merkle_inputs(after), changed) == fresh
    assert (known[""] == fresh[""]) == (before == after)


def test_the_empty_tree_has_an_id() -> None:
    nothing = sha1(b"", usedforsecurity=False).hexdigest()
    assert folder_ids(*merkle_inputs({}))[""].hex() == nothing
