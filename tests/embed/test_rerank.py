from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from wherein.embed.load import load_reranker
from wherein.embed.protocol import Reranker
from wherein.errors import ProviderError
from wherein.settings import Settings


def open_reranker(tmp_path: Any, name: str) -> Reranker:
    reranker = load_reranker(Settings(home=tmp_path, reranker=name))
    assert reranker is not None
    return reranker


def test_scores_are_put_in_the_order_of_the_texts(
    server: Any, replies: ModuleType, tmp_path: Any
) -> None:
    results = [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]
    server.replies.append(replies.answer({"results": results}))
    scores = open_reranker(tmp_path, f"{server.url}#rerank-1").score("q", ["a", "b"])
    assert scores.tolist() == pytest.approx([0.1, 0.9])
    assert server.paths == ["/v1/rerank"]
    assert server.requests[0] == {
        "model": "rerank-1", "query": "q", "documents": ["a", "b"], "top_n": 2,
    }  # fmt: skip


def test_an_endpoint_without_a_model_is_asked_as_text_embeddings_inference(
    server: Any, replies: ModuleType, tmp_path: Any
) -> None:
    server.replies.append(replies.answer([{"index": 0, "score": 2.5}]))
    assert open_reranker(tmp_path, server.url).score("q", ["a"]).tolist() == [2.5]
    assert server.requests[0]["texts"] == ["a"]


@pytest.mark.parametrize(
    "value",
    [
        {"results": [{"index": 0, "relevance_score": 0.5}]},
        {"results": [{"index": 7, "relevance_score": 0.5}, {"index": 0, "relevance_score": 1}]},
        {"message": "no results"},
        {"results": "none"},
        [{"score": 1.0}],
    ],
)
def test_a_text_without_a_score_is_an_error_not_a_guess(
    server: Any, replies: ModuleType, tmp_path: Any, value: object
) -> None:
    server.replies.append(replies.answer(value))
    with pytest.raises(ProviderError, match="did not s"):
        open_reranker(tmp_path, f"{server.url}#m").score("q", ["a", "b"])


def test_nothing_to_rerank_asks_nobody(server: Any, tmp_path: Any) -> None:
    assert open_reranker(tmp_path, server.url).score("q", []).shape == (0,)
    assert not server.requests


def test_a_reranker_elsewhere_needs_somebody_to_tell(tmp_path: Any) -> None:
    with pytest.raises(ProviderError, match="without notice"):
        open_reranker(tmp_path, "https://api.cohere.com/v2#rerank-v3.5")
    assert load_reranker(Settings(home=tmp_path)) is None
