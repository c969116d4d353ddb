from pathlib import Path

import numpy as np
import pytest

from tests.store.records import record, source_file
from wherein.errors import CorruptIndexError, NewerIndexError, StoreError
from wherein.store.segment import Segment
from wherein.store.segment_writing import write_segment
from wherein.types import FileFlag, FileKind

CART = record(
    [
        {"body": "def apply_discount(cart)", "names": "apply_discount", "signature": "def apply"},
        {"body": "return cart total", "enclosing": "Cart Total"},
    ],
    blob=7,
)
ODD = record([{"body": "x", "names": "X x Größe"}], blob=8)
FILES = [
    (source_file("shop/cart.py"), CART),
    (source_file("a/\udcff\n.py", language=None, flags=FileFlag.TEST), ODD),
    (source_file("empty.py"), record([])),
]


def test_a_segment_gives_back_what_was_written(tmp_path: Path) -> None:
    write_segment(tmp_path / "s", FILES)
    segment = Segment.open(tmp_path / "s")
    assert (segment.n_files, segment.n_chunks, segment.n_definitions) == (3, 3, 4)
    assert segment.n_bytes == (tmp_path / "s" / "segment.bin").stat().st_size
    assert segment.paths == ["a/\udcff\n.py", "empty.py", "shop/cart.py"]
    assert [segment.path(i) for i in range(3)] == segment.paths
    assert [segment.language(i) for i in range(3)] == [None, "python", "python"]
    assert segment.flags(0) == FileFlag.TEST
    assert segment.file_kind(2) is FileKind.CODE
    assert segment.blob_id(2) == CART.blob_id
    assert tuple(segment.chunk(row) for row in (1, 2)) == CART.chunks
    assert tuple(segment.definition(row) for row in range(3)) == ODD.definitions
    assert segment.definition(3) == CART.definitions[0]


def test_definitions_are_found_by_exact_name_or_without_case(tmp_path: Path) -> None:
    write_segment(tmp_path / "s", FILES)
    segment = Segment.open(tmp_path / "s")
    assert segment.definition_rows("X").tolist() == [0]
    assert segment.definition_rows("x", ignore_case=True).tolist() == [0, 1]
    assert segment.definition_rows("GRÖSSE").tolist() == []
    assert segment.definition_rows("größe", ignore_case=True).tolist() == [2]


def test_a_segment_of_no_files_opens(tmp_path: Path) -> None:
    write_segment(tmp_path / "s", [])
    segment = Segment.open(tmp_path / "s")
    assert (segment.n_files, segment.n_chunks, segment.paths) == (0, 0, [])


def test_the_order_of_the_files_does_not_show(tmp_path: Path) -> None:
    write_segment(tmp_path / "a", FILES)
    write_segment(tmp_path / "b", FILES[::-1])
    first, second = ((tmp_path / name / "segment.bin").read_bytes() for name in "ab")
    assert first == second


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "other").touch()
    with pytest.raises(OSError, match="not empty"):
        write_segment(tmp_path / "s", FILES)
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def _touch_everything(directory: Path) -> None:
    segment = Segment.open(directory)
    segment.verify()


def test_a_cut_file_is_reported_on_open(tmp_path: Path) -> None:
    write_segment(tmp_path / "s", FILES)
    file = tmp_path / "s" / "segment.bin"
    whole = file.read_bytes()
    for length in (0, 7, 20, 100, len(whole) - 1):
        file.write_bytes(whole[:length])
        with pytest.raises(CorruptIndexError, match="damaged") as raised:
            Segment.open(tmp_path / "s")
        assert raised.value.hint
    file.unlink()
    with pytest.raises(CorruptIndexError):
        Segment.open(tmp_path / "s")


def test_any_changed_byte_is_found_before_it_is_used(tmp_path: Path) -> None:
    write_segment(tmp_path / "s", FILES)
    file = tmp_path / "s" / "segment.bin"
    whole = file.read_bytes()
    unnoticed: list[int] = []
    for place in range(0, len(whole), 13):
        damaged = bytearray(whole)
        damaged[place] ^= 0x55
        file.write_bytes(damaged)
        try:
            _touch_everything(tmp_path / "s")
            unnoticed.append(place)
        except StoreError:
            pass
    # Only the padding between the header and the data is read by nobody.
    header_length = int.from_bytes(whole[16:24], "little")
    assert [
        place for place in unnoticed if not 24 + header_length <= place < 24 + header_length + 64
    ] == []


def test_a_zeroed_middle_is_found_when_it_is_read(tmp_path: Path) -> None:
    many = [
        (source_file(f"f{i}.py"), record([{"body": f"alpha{i} beta{i} gamma{i % 7}"}] * 40, blob=i))
        for i in range(60)
    ]
    write_segment(tmp_path / "s", many)
    file = tmp_path / "s" / "segment.bin"
    data = bytearray(file.read_bytes())
    data[len(data) // 3 : len(data) // 2] = bytes(len(data) // 2 - len(data) // 3)
    file.write_bytes(data)
    with pytest.raises(CorruptIndexError, match="checksum"):
        _touch_everything(tmp_path / "s")


def test_a_later_version_is_refused_as_newer(tmp_path: Path) -> None:
    write_segment(tmp_path / "s", FILES)
    file = tmp_path / "s" / "segment.bin"
    data = bytearray(file.read_bytes())
    data[8] = 99
    file.write_bytes(data)
    with pytest.raises(NewerIndexError):
        Segment.open(tmp_path / "s")


def test_records_without_vectors_stand_beside_records_with_them(tmp_path: Path) -> None:
    with_vectors = record([{"body": "a"}], vectors=np.array([[1, 2, 3]], np.int8), blob=1)
    write_segment(
        tmp_path / "s",
        [(source_file("a.py"), with_vectors), (source_file("b.py"), record([{}], dim=0))],
    )
    segment = Segment.open(tmp_path / "s")
    assert segment.dim == 3
    assert segment.arrays.array("vectors").tolist() == [[1, 2, 3], [0, 0, 0]]
