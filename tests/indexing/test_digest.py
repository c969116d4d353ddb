from pathlib import Path

import numpy as np
import pytest

from wherein.embed.load import load_embedder
from wherein.indexing.digest import digest, recipe
from wherein.settings import Settings
from wherein.walk.blob import blob_id

SETTINGS = Settings(home=Path("/home"))
TEXT = b"""class Cart:
    '''Holds things.'''

    def total(self):
        return sum(self.items)
"""


def test_a_record_holds_what_follows_from_the_bytes() -> None:
    record = digest(TEXT, "python", SETTINGS, load_embedder(SETTINGS))
    assert (record.blob_id, record.n_bytes, record.n_lines) == (blob_id(TEXT), len(TEXT), 5)
    assert [item.name for item in record.definitions] == ["Cart", "total"]
    assert [reference.name for reference in record.references] == ["sum"]
    assert len(record.vectors) == len(record.scales) == len(record.chunks)
    lengths = np.linalg.norm(record.vectors * record.scales[:, None], axis=1)
    np.testing.assert_allclose(lengths, 1, atol=0.02)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\0\1\2\3" * 40, "binary"),
        (b"-----BEGIN RSA PRIVATE KEY-----\n" + b"MIIEow" * 20 + b"\n", "secret"),
        (b"var a=1;" * 2000, "minified"),
    ],
)
def test_a_content_that_is_not_indexed_says_why(data: bytes, reason: str) -> None:
    record = digest(data, "javascript", SETTINGS, load_embedder(SETTINGS))
    assert (record.skip_reason, record.chunks, len(record.vectors)) == (reason, (), 0)


def test_the_beginning_of_a_large_file_is_cut_by_lines() -> None:
    small = SETTINGS.replace(max_file_bytes=1000)
    data = b"".join(b"def fn_%d(): pass\n" % number for number in range(500))
    record = digest(data, "python", small, None)
    assert record.blob_id == blob_id(data)
    assert record.n_bytes == len(data)
    assert record.definitions == ()
    assert 900 < record.chunks[-1].end_byte <= 1000
    assert data[: record.chunks[-1].end_byte].endswith(b"\n")


def test_no_embedder_gives_records_without_vectors() -> None:
    record = digest(TEXT, "python", SETTINGS, None)
    assert record.chunks
    assert record.vectors.shape == (len(record.chunks), 0)


def test_the_recipe_changes_with_what_a_record_depends_on() -> None:
    embedder = load_embedder(SETTINGS)
    known = recipe(SETTINGS, embedder)
    assert recipe(SETTINGS, embedder) == known
    assert recipe(SETTINGS, None) != known
    assert recipe(SETTINGS.replace(chunk_chars=700), embedder) != known
    assert recipe(SETTINGS.replace(max_file_bytes=700), embedder) != known
    assert recipe(SETTINGS.replace(ignore=["*.md"], workers=3), embedder) == known
