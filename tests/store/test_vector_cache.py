import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from wherein.store.vector_cache import VectorCache

Row = tuple[np.ndarray[tuple[int], np.dtype[np.int8]], np.float32]


def rows(n: int) -> dict[str, Row]:
    return {
        f"text {i}": (np.full(300, i % 100, np.int8), np.float32(1 / (i + 1))) for i in range(n)
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with VectorCache.open(tmp_path / "vectors.sqlite", "model", 100) as cache:
        cache.put(rows(200))
    return tmp_path / "vectors.sqlite"


def test_a_vector_is_found_again_by_its_text_and_model(path: Path) -> None:
    with VectorCache.open(path, "model", 100) as cache:
        found = cache.find([*rows(200), "another text"])
        assert sorted(found) == sorted(rows(200))
        np.testing.assert_array_equal(found["text 7"][0], rows(8)["text 7"][0])
        assert found["text 7"][1] == np.float32(1 / 8)
    with VectorCache.open(path, "another model", 100) as cache:
        assert cache.find(list(rows(200))) == {}


def test_what_is_found_is_in_use_and_what_is_not_found_is_dropped(path: Path) -> None:
    with VectorCache.open(path, "model", 130) as cache:
        cache.find(["text 3", "text 4"])
        assert cache.drop_unused(120) == 198
        assert sorted(cache.find(list(rows(200)))) == ["text 3", "text 4"]


def test_a_row_whose_bytes_changed_is_not_there(path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE vectors SET vector = zeroblob(304) WHERE rowid <= 100")
    with VectorCache.open(path, "model", 100) as cache:
        assert len(cache.find(list(rows(200)))) == 100


def test_a_cache_that_is_damaged_inside_is_begun_anew_when_vectors_come(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] + b"\xff" * (len(data) // 2))  # opening reads the first
    with VectorCache.open(path, "model", 100) as cache:
        cache.put(rows(200))
        assert sorted(cache.find(list(rows(200)))) == sorted(rows(200))
