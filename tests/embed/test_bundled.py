from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wherein.embed.arrays import normalised, weighted_sums
from wherein.embed.bundled import BundledEmbedder
from wherein.embed.hashing import HashingEmbedder
from wherein.embed.load import load_embedder
from wherein.embed.pieces import piece_buckets, term_pieces
from wherein.embed.protocol import Embedder
from wherein.embed.weights import MAGIC, Weights, open_weights, verify, write_weights
from wherein.embed.words import query_features
from wherein.errors import ProviderError, SettingsError
from wherein.settings import Settings
from wherein.tokens import count_terms, scan_words, term_id
from wherein.types import FIELDS, ChunkTerms

WORDS = ("pars", "header", "retri", "request", "session", "sessionstor", "store", "valu")


def small_weights(dim: int = 256, n_buckets: int = 16) -> Weights:
    rng = np.random.default_rng(3)
    n_rows = len(WORDS) + n_buckets
    return Weights(
        name="small",
        fingerprint="small-1",
        term_ids=np.sort(np.array([term_id(word) for word in WORDS], np.uint64)),
        table=rng.integers(-127, 128, (n_rows, dim)).astype(np.int8),
        query_weights=rng.random(n_rows).astype(np.float32),
        passage_weights=rng.random(n_rows).astype(np.float32),
        field_weights=np.array([1.0, 0.5, 0.4, 1.2, 0.6], np.float32),
        joined_weight=0.7,
    )


def chunk_terms(*texts: str) -> ChunkTerms:
    ids: list[int] = []
    counts: list[list[int]] = []
    offsets = [0]
    for text in texts:
        found = count_terms(scan_words(text))
        for term in sorted(found, key=term_id):
            ids.append(term_id(term))
            STRINGS[term_id(term)] = term
            counts.append([min(found[term], 255), 0, 0, 0, 0])
        offsets.append(len(ids))
    return ChunkTerms(
        np.array(offsets, np.int32),
        np.array(ids, np.uint64),
        np.array(counts, np.uint8).reshape(-1, len(FIELDS)),
        np.zeros((len(texts), len(FIELDS)), np.uint16),
    )


STRINGS: dict[int, str] = {}
"""The term behind each id that `chunk_terms` met."""

EMBEDDERS: list[Embedder] = [BundledEmbedder(small_weights()), HashingEmbedder()]


@pytest.mark.parametrize("embedder", EMBEDDERS)
@given(st.lists(st.text("abc dEF_1é漢", max_size=60), max_size=40))
@settings(derandomize=True, max_examples=40, deadline=None)
def test_every_chunk_has_length_one_or_is_zero(embedder: Embedder, texts: list[str]) -> None:
    vectors = embedder.embed_chunks(chunk_terms(*texts), STRINGS, texts)
    assert vectors.shape == (len(texts), 256)
    assert vectors.dtype == np.float32
    lengths = np.linalg.norm(vectors, axis=1)
    for text, length in zip(texts, lengths, strict=True):
        assert length == pytest.approx(1.0 if count_terms(scan_words(text)) else 0.0, abs=1e-5)


@pytest.mark.parametrize("embedder", EMBEDDERS)
@given(st.lists(st.text("abc dEF_1", max_size=60), min_size=1, max_size=70))
@settings(derandomize=True, max_examples=25, deadline=None)
def test_a_chunks_vector_does_not_depend_on_its_neighbours(
    embedder: Embedder, texts: list[str]
) -> None:
    together = embedder.embed_chunks(chunk_terms(*texts), STRINGS, texts)
    alone = [embedder.embed_chunks(chunk_terms(text), STRINGS, [text])[0] for text in texts]
    np.testing.assert_allclose(together, np.stack(alone), atol=2e-6)


@pytest.mark.parametrize("embedder", EMBEDDERS)
def test_what_shares_words_is_nearer_than_what_does_not(embedder: Embedder) -> None:
    near, far = embedder.embed_chunks(
        chunk_terms("def parse_header(value): pass", "while socket: poll()"), STRINGS, ["", ""]
    )
    query = embedder.embed_query("parse the header")
    assert near @ query > far @ query


@pytest.mark.parametrize("embedder", EMBEDDERS)
@pytest.mark.parametrize("text", ["", "  ", "()[]{}", "--- ..."])
def test_a_query_without_words_is_zero(embedder: Embedder, text: str) -> None:
    assert not embedder.embed_query(text).any()


def test_a_term_outside_the_vocabulary_still_tells_texts_apart() -> None:
    embedder = BundledEmbedder(small_weights())
    same, other = embedder.embed_chunks(chunk_terms("frobnicator", "quuxify"), STRINGS, ["", ""])
    query = embedder.embed_query("frobnicator")
    assert same @ query > 0.7
    assert other @ query < 0.5


def test_unknown_terms_with_pieces_in_common_are_near_one_another() -> None:
    embedder = BundledEmbedder(small_weights(n_buckets=4_096))
    near, far = embedder.embed_chunks(chunk_terms("frobnicators", "quuxify"), STRINGS, ["", ""])
    query = embedder.embed_query("frobnicatory")
    assert near @ query > 0.5
    assert abs(far @ query) < 0.3


def test_an_unknown_term_is_the_mean_of_its_pieces_beside_what_is_known() -> None:
    weights = small_weights()
    n = len(weights.term_ids)
    rows = [n + bucket for bucket in piece_buckets("zstd", weights.n_buckets)]
    assert len(rows) == 3
    place = int(np.searchsorted(weights.term_ids, np.uint64(term_id("header"))))
    table = weights.table.astype(np.float32)
    passage = weights.passage_weights
    made = (passage[rows] @ table[rows]) / 3 + passage[place] * table[place]
    found = BundledEmbedder(weights).embed_chunks(chunk_terms("zstd header"), STRINGS, [""])[0]
    np.testing.assert_allclose(found, made / np.linalg.norm(made), atol=1e-5)
    asked = weights.query_weights
    made = (asked[rows] @ table[rows]) / 3 + asked[place] * table[place]
    found = BundledEmbedder(weights).embed_query("zstd header")
    np.testing.assert_allclose(found, made / np.linalg.norm(made), atol=1e-5)


def test_terms_of_many_files_worth_of_unknown_words_are_put_together_in_blocks() -> None:
    words = [f"zq{chr(97 + i % 26)}{chr(97 + i // 26)}rb" for i in range(600)]
    embedder = BundledEmbedder(small_weights())
    together = embedder.embed_chunks(chunk_terms(*words), STRINGS, words)
    for place in (0, 511, 512, 599):
        alone = embedder.embed_chunks(chunk_terms(words[place]), STRINGS, [""])[0]
        np.testing.assert_allclose(together[place], alone, atol=2e-6)


@pytest.mark.parametrize(
    ("term", "pieces"),
    [
        ("a", ("<a>",)),
        ("io", ("<io>",)),
        ("zstd", ("<zst", "zstd", "std>")),
        ("frobnicator", ("<fro", "robn", "bnic", "nica", "cato", "tor>")),
    ],
)
def test_the_pieces_of_a_term_stay_what_the_model_was_trained_with(
    term: str, pieces: tuple[str, ...]
) -> None:
    assert term_pieces(term) == pieces
    assert len(piece_buckets(term, 20_192)) == len(pieces)


def test_neighbouring_words_find_the_identifier_they_make() -> None:
    plain, joined = query_features("get or create a session_store")
    assert plain == ["get", "or", "creat", "a", "session", "store", "sessionstore"]
    assert joined == ["getor", "orcreat", "getorcreat", "creata", "orcreata"]
    embedder = BundledEmbedder(small_weights())
    whole = embedder.embed_chunks(chunk_terms("sessionstor"), STRINGS, [""])[0]
    assert whole @ embedder.embed_query("session store") > whole @ embedder.embed_query("session")


def test_fewer_dimensions_are_the_first_of_them() -> None:
    weights = small_weights()
    terms = chunk_terms("parse header value")
    whole = BundledEmbedder(weights).embed_chunks(terms, STRINGS, [""])
    part = BundledEmbedder(weights, dim=64)
    np.testing.assert_allclose(
        part.embed_chunks(terms, STRINGS, [""]), normalised(whole[:, :64]), atol=1e-5
    )
    assert part.dim == 64
    assert part.fingerprint != BundledEmbedder(weights).fingerprint
    with pytest.raises(SettingsError, match="no 100 dimensions"):
        BundledEmbedder(weights, dim=100)


def test_a_weights_file_gives_back_what_was_written(tmp_path: Path) -> None:
    path, weights = tmp_path / "w.bin", small_weights()
    write_weights(path, weights, {"version": "1"})
    found = open_weights(path)
    for name in ("term_ids", "table", "query_weights", "passage_weights", "field_weights"):
        np.testing.assert_array_equal(getattr(found, name), getattr(weights, name))
    assert found.name == "small"
    assert found.joined_weight == weights.joined_weight
    assert verify(path)


def test_other_weights_have_another_fingerprint(tmp_path: Path) -> None:
    weights = small_weights()
    write_weights(tmp_path / "a.bin", weights, {})
    write_weights(tmp_path / "b.bin", weights, {"date": "later"})
    assert (
        open_weights(tmp_path / "a.bin").fingerprint == open_weights(tmp_path / "b.bin").fingerprint
    )
    weights.table[0, 0] ^= 1
    write_weights(tmp_path / "c.bin", weights, {})
    assert (
        open_weights(tmp_path / "a.bin").fingerprint != open_weights(tmp_path / "c.bin").fingerprint
    )


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: data[:20],
        lambda data: b"GIT LFS\n" + data,
        lambda data: MAGIC + b"\xff\xff\xff\xff" + data[12:],
    ],
)
def test_a_damaged_weights_file_is_refused_with_a_hint(tmp_path: Path, spoil: object) -> None:
    path = tmp_path / "w.bin"
    write_weights(path, small_weights(), {})
    path.write_bytes(spoil(path.read_bytes()))  # type: ignore[operator]
    with pytest.raises(ProviderError) as caught:
        open_weights(path)
    assert "reinstall" in caught.value.hint


def test_a_changed_byte_is_seen_by_verify(tmp_path: Path) -> None:
    path = tmp_path / "w.bin"
    write_weights(path, small_weights(), {})
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert not verify(path)


def test_the_bundled_model_is_there_and_whole(tmp_path: Path) -> None:
    from wherein.embed.bundled import WEIGHTS_PATH

    embedder = load_embedder(Settings(home=tmp_path))
    assert isinstance(embedder, BundledEmbedder)
    assert verify(WEIGHTS_PATH)
    assert WEIGHTS_PATH.stat().st_size <= 24_000_000


@pytest.mark.parametrize(
    ("query", "right", "wrong"),
    [
        ("remove a directory and all its contents", "def rmtree(path)", "def fsum(xs)"),
        ("open a network connection", "func Dial(addr string) (net.Conn, error)", "func Sqrt(x)"),
        ("convert text to upper case", "String toUpperCase(String s)", "closeSocket(int fd)"),
    ],
)
def test_the_bundled_model_knows_words_that_mean_the_same(
    query: str, right: str, wrong: str
) -> None:
    embedder = BundledEmbedder()
    first, second = embedder.embed_chunks(chunk_terms(right, wrong), STRINGS, ["", ""])
    vector = embedder.embed_query(query)
    assert first @ vector > second @ vector


@given(st.integers(1, 200), st.integers(1, 30))
@settings(derandomize=True, max_examples=20, deadline=None)
def test_weighted_sums_equal_the_plain_loop(n_chunks: int, n_terms: int) -> None:
    rng = np.random.default_rng(n_chunks * 31 + n_terms)
    table = rng.random((n_terms, 8)).astype(np.float32)
    columns, weights, offsets = [], [], [0]
    for _ in range(n_chunks):
        chosen = rng.permutation(n_terms)[: rng.integers(0, n_terms + 1)]
        columns.extend(chosen.tolist())
        weights.extend(rng.random(len(chosen)).tolist())
        offsets.append(len(columns))
    sums = weighted_sums(
        np.array(offsets, np.int32),
        np.array(columns, np.intp),
        np.array(weights, np.float32),
        table,
    )
    for chunk in range(n_chunks):
        expected = np.zeros(8)
        for row in range(offsets[chunk], offsets[chunk + 1]):
            expected += weights[row] * table[columns[row]]
        np.testing.assert_allclose(sums[chunk], expected, rtol=1e-4, atol=1e-5)
