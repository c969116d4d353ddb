"""Unknown terms of a shard become the rows of their pieces, each with its share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

TRAINING = Path(__file__).parents[2] / "training"


@pytest.fixture
def shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(TRAINING))
    import pairs as writer

    made = writer.Shard()
    for words in (("pars", "header", "zstd", "valu"), ("send", "request", "again", "now")):
        columns: list[dict[str, int]] = [dict.fromkeys(words, 2), {}, {}, {}, {}, {}]
        made.add_passage(columns, 0, 0)
    made.add_query("parse zstd header", 0, "documentation")
    made.add_query("send again", 1, "documentation")
    path = tmp_path / "one.npz"
    made.save(path)
    return path


def test_an_unknown_term_takes_part_as_its_pieces(shard: Path) -> None:
    import dataset

    vocabulary = dataset.Vocabulary(["pars", "header", "valu", "send", "request", "again"], 50)
    pairs = dataset.load_pairs([shard], vocabulary)
    # zstd: three pieces beside three known terms; now: two pieces beside three known terms.
    assert np.diff(pairs.passages.offsets).tolist() == [6, 5]
    sums = np.add.reduceat(pairs.shares, pairs.passages.offsets[:-1])
    np.testing.assert_allclose(sums, [4, 4], rtol=1e-6)
    assert (pairs.counts[:, 0] == 2).all()
    unknown = pairs.passages.values >= len(vocabulary.terms)
    np.testing.assert_allclose(pairs.shares[unknown], [1 / 3] * 3 + [1 / 2] * 2)
    assert set(pairs.passages.values[unknown][:3].tolist()) == set(vocabulary.rows_of("zstd"))
    # Joined neighbours are no identifiers of the vocabulary, so the queries have none.
    assert not pairs.joined.any()
    assert np.diff(pairs.queries.offsets).tolist() == [5, 2]
    assert pairs.query_passages.tolist() == [0, 1]


def test_what_was_saved_is_opened_again(shard: Path, tmp_path: Path) -> None:
    import dataset

    vocabulary = dataset.Vocabulary(["pars", "header"], 50)
    pairs = dataset.load_pairs([shard], vocabulary)
    dataset.save_pairs(pairs, vocabulary, tmp_path / "kept")
    opened, again = dataset.open_pairs(tmp_path / "kept")
    assert again.terms == vocabulary.terms
    np.testing.assert_array_equal(opened.shares, pairs.shares)
    np.testing.assert_array_equal(opened.query_shares, pairs.query_shares)
    np.testing.assert_array_equal(opened.passages.values, pairs.passages.values)
