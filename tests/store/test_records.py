import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.records import record
from wherein.store.record_format import (
    decode_record,
    decode_references,
    encode_record,
    encode_references,
)
from wherein.store.records import RecordKey, RecordStore, StoredRecord
from wherein.types import Import, Record, Reference

KEYS = [RecordKey(f"{number:040x}", "python") for number in range(40)]


def sample(number: int = 0) -> Record:
    made = record(
        [{"body": f"def fn_{number} apply discount", "names": f"fn_{number}", "signature": "def"}]
        * 3,
        blob=number,
    )
    references = (Reference("apply", "call", 2, "self"), Reference("Größe", "type", 3))
    return replace(made, references=references, imports=(Import("os", ("path", "sep"), 1),))


def stored(number: int) -> StoredRecord:
    made = sample(number)
    return StoredRecord(KEYS[number], encode_record(made), encode_references(made))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RecordStore]:
    with RecordStore.open(tmp_path / "records.sqlite", "recipe") as opened:
        opened.put([stored(number) for number in range(40)], 100)
        yield opened


def assert_same(one: Record, two: Record) -> None:
    for name in Record.__dataclass_fields__:
        left, right = getattr(one, name), getattr(two, name)
        if name == "terms":
            for part in ("offsets", "term_ids", "counts", "lengths"):
                np.testing.assert_array_equal(getattr(left, part), getattr(right, part))
        elif isinstance(left, np.ndarray):
            np.testing.assert_array_equal(left, right)
            assert left.dtype == right.dtype
        else:
            assert left == right


words = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)


@settings(derandomize=True, max_examples=30, deadline=None)
@given(
    st.lists(st.fixed_dictionaries({"body": words, "names": words, "enclosing": words}), max_size=4)
)
def test_a_record_survives_the_way_to_bytes_and_back(fields: list[dict[str, str]]) -> None:
    made = record(fields)
    assert_same(decode_record(encode_record(made), encode_references(made)), made)


def test_references_and_imports_survive_too() -> None:
    made = sample()
    assert_same(decode_record(encode_record(made), encode_references(made)), made)
    assert decode_record(encode_record(made)).references == ()


@pytest.mark.parametrize("damage", [b"", b"\0" * 50, b"\x93\x01\x02\x03"])
def test_bytes_that_are_no_record_are_refused(damage: bytes) -> None:
    with pytest.raises(ValueError, match="record"):
        decode_record(damage)
    if damage:
        with pytest.raises(ValueError, match="references"):
            decode_references(damage)


def test_records_are_found_by_content_and_language(store: RecordStore) -> None:
    other = RecordKey(KEYS[0].blob_id, "rust")
    assert store.known([KEYS[0], other, RecordKey("f" * 40, None)]) == {KEYS[0]}
    found = dict(store.load([KEYS[3], other], with_references=True))
    assert list(found) == [KEYS[3]]
    assert_same(found[KEYS[3]], sample(3))


def test_another_recipe_sees_none_of_them(store: RecordStore, tmp_path: Path) -> None:
    with RecordStore.open(tmp_path / "records.sqlite", "another model") as other:
        assert other.known(KEYS) == set()
        other.put([stored(0)], 100)
        assert other.known(KEYS) == {KEYS[0]}
    assert store.known(KEYS) == set(KEYS)


def test_more_keys_than_a_statement_takes_are_asked_in_turns(store: RecordStore) -> None:
    many = [*KEYS, *(RecordKey(f"{number:040x}", "c") for number in range(2500))]
    assert store.known(many) == set(KEYS)


def test_a_row_whose_bytes_changed_is_not_there(store: RecordStore, tmp_path: Path) -> None:
    raw = sqlite3.connect(tmp_path / "records.sqlite")
    with raw:
        raw.execute(
            "UPDATE records SET core = zeroblob(10) WHERE key = ?", (store.key_bytes(KEYS[1]),)
        )
        raw.execute("UPDATE records SET refs = 7 WHERE key = ?", (store.key_bytes(KEYS[2]),))
    raw.close()
    found = dict(store.load(KEYS[:4], with_references=True))
    assert sorted(found) == [KEYS[0], KEYS[3]]
    assert sorted(dict(store.load(KEYS[:4]))) == [KEYS[0], KEYS[2], KEYS[3]]


def test_records_no_tree_used_for_long_are_dropped(store: RecordStore) -> None:
    store.mark_used(KEYS[:5], 130)
    store.mark_used(KEYS[:1], 90)
    assert store.drop_unused(120) == 35
    assert store.known(KEYS) == set(KEYS[:5])


@pytest.mark.parametrize("damage", ["delete", "cut", "zeros", "garbage"])
def test_a_damaged_database_is_made_anew_or_gives_what_is_whole(
    tmp_path: Path, damage: str
) -> None:
    path = tmp_path / "records.sqlite"
    with RecordStore.open(path, "r") as store:
        store.put([stored(number) for number in range(40)], 1)
    data = bytearray(path.read_bytes())
    if damage == "delete":
        path.unlink()
    elif damage == "garbage":
        path.write_bytes(b"not a database at all" * 100)
    elif damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    else:
        data[0:4096] = bytes(4096)
        path.write_bytes(data)
    with RecordStore.open(path, "r") as store:
        for key, found in store.load(KEYS):
            assert_same(found, replace(sample(KEYS.index(key)), references=()))
        store.put([stored(7)], 1)
        assert store.known([KEYS[7]]) == {KEYS[7]}
