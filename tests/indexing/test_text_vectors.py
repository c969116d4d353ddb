from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from wherein.errors import ProviderError
from wherein.indexing.freshness import Freshness
from wherein.indexing.progress import Clock
from wherein.settings import Settings
from wherein.store.records import RecordKey, RecordStore
from wherein.types import ChunkTerms

BATCH = 4


class Model:
    """Embeds by the letters of a text; counts what it is given, and fails when told to."""

    name = "letters"
    batch_texts = BATCH
    dim = 3

    def __init__(self, sign: float = 1.0) -> None:
        self.fingerprint = "letters"
        self.expected: list[int] = []
        self.given: list[str] = []
        self.left = 1_000_000
        self._sign = sign

    def expect(self, n_chars: int) -> None:
        self.expected.append(n_chars)

    def embed_texts(
        self, texts: Sequence[str], *, seconds: float | None = None
    ) -> NDArray[np.float32]:
        del seconds
        assert len(texts) <= BATCH + 1  # the probe goes along with the first
        if self.left <= 0:
            message = "the model is gone"
            raise ProviderError(message)
        self.left -= 1
        self.given += [text for text in texts if not text.startswith("wherein:")]
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        counts = np.array([1 + text.count("a"), text.count("e"), len(text)], np.float32)
        counts[0] *= self._sign
        return counts / np.linalg.norm(counts)

    def embed_chunks(
        self, terms: ChunkTerms, strings: Mapping[int, str], texts: Sequence[str]
    ) -> NDArray[np.float32]:
        raise AssertionError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    for number in range(10):
        (folder / f"f{number}.py").write_text(f"def area_{number}():\n    return 'e' * {number}\n")
    (folder / "blank.py").write_text("\n\n")
    (folder / "twin.py").write_text((folder / "f3.py").read_text())
    return folder


def freshness(root: Path, model: Model) -> Freshness:
    return Freshness(root, Settings(home=root.parent / "home"), model)


def vectors_of(found: Freshness) -> dict[str, NDArray[np.float32]]:
    """Return the vector of each file's first chunk, by path."""
    manifest = found.stored()
    assert manifest is not None
    entries = manifest.entries
    paths = [entry.file.path for entry in entries.tree_entries()]
    keys = [RecordKey(entry.blob_id, entry.file.language) for entry in entries.tree_entries()]
    with RecordStore.open(found.layout.records, found.recipe) as records:
        stored = dict(records.load(keys))
    return {
        path: stored[key].vectors[0] * stored[key].scales[0]
        for path, key in zip(paths, keys, strict=True)
        if stored[key].vectors.shape[1]
    }


def test_each_text_is_embedded_once_in_full_batches(root: Path) -> None:
    model = Model()
    found = freshness(root, model)
    found.refresh(Clock())
    assert sorted(model.given) == sorted({(root / f"f{n}.py").read_text() for n in range(10)})
    assert model.expected == [sum(path.stat().st_size for path in root.iterdir())]
    for path, vector in vectors_of(found).items():
        expected = model.embed_query((root / path).read_text())
        np.testing.assert_allclose(vector, expected, atol=0.01)
    assert len(vectors_of(found)) == 11


def test_a_failure_keeps_what_was_embedded_and_the_next_refresh_goes_on(root: Path) -> None:
    model = Model()
    model.left = 2
    coverage = freshness(root, model).refresh(Clock())
    assert coverage.failure is not None
    assert coverage.not_covered
    assert len(model.given) == 2 * BATCH
    model.left = 100
    done = freshness(root, model).refresh(Clock())
    assert done.failure is None
    assert not done.not_covered
    assert len(model.given) == len(set(model.given)) == 10


def test_a_deadline_ends_the_build_and_every_call_gets_on(root: Path) -> None:
    model = Model()

    class OneBatch(Clock):
        """The time is up after the first batch."""

        def __init__(self) -> None:
            super().__init__()
            self._n_given = len(model.given)

        @property
        def is_over(self) -> bool:
            return len(model.given) > self._n_given

    sizes: list[int] = []
    while freshness(root, model).refresh(OneBatch()).not_covered:
        sizes.append(len(model.given))
    assert sizes[0] == BATCH
    assert len(model.given) == len(set(model.given)) == 10


def test_another_model_behind_the_same_name_is_never_mixed_in(root: Path) -> None:
    freshness(root, Model()).refresh(Clock())
    (root / "new.py").write_text("def fresh():\n    pass\n")
    turned = Model(sign=-400.0)
    coverage = freshness(root, turned).refresh(Clock())
    assert coverage.failure is not None
    assert "not the model any more" in coverage.failure.message
    assert coverage.not_covered == ("new.py",)
    assert "new.py" not in vectors_of(freshness(root, turned))


def test_other_dimensions_are_never_mixed_in(root: Path) -> None:
    freshness(root, Model()).refresh(Clock())
    (root / "new.py").write_text("def fresh():\n    pass\n")

    class Wider(Model):
        def embed_query(self, text: str) -> NDArray[np.float32]:
            return np.full(4, 0.5, np.float32)

    coverage = freshness(root, Wider()).refresh(Clock())
    assert coverage.failure is not None
    assert "sent 4 dimensions, the index has 3" in coverage.failure.message


def test_a_damaged_cache_costs_only_the_embedding(root: Path) -> None:
    model = Model()
    first = freshness(root, model)
    first.refresh(Clock())
    first.layout.vectors.write_bytes(b"no database at all" * 999)
    for suffix in ("-wal", "-shm"):
        Path(f"{first.layout.vectors}{suffix}").unlink(missing_ok=True)
    model.given.clear()
    (root / "new.py").write_text("def fresh():\n    pass\n")
    coverage = freshness(root, model).refresh(Clock())
    assert coverage.failure is None
    assert model.given == ["def fresh():\n    pass\n"]
