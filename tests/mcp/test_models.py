"""Models elsewhere, through the real server process."""

from __future__ import annotations

import subprocess  # noqa: TID251 - tests start the real server
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.embed.server import ModelServer, answer, model_server
from tests.mcp.servers import Server, call, environment, write_shop


@pytest.fixture
def models() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


class ModelsServer(Server):
    """A server whose user has set a model."""

    def __init__(self, root: Path, home: Path, variables: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "wherein", "mcp"],
            cwd=root,
            env={**environment(home), **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def search(self, request_id: int, query: str, **more: object) -> str:
        self.send(call(request_id, "search", query=query, **more))
        result: dict[str, Any] = self.answer(request_id)["result"]
        assert not result["isError"], result
        return "\n".join(block["text"] for block in result["content"])


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "shop").mkdir()
    return write_shop(tmp_path / "shop")


def test_the_server_uses_models_elsewhere_and_says_where_text_went(
    shop: Path, models: ModelServer
) -> None:
    variables = {
        "WHEREIN_MODEL": "http://models.invalid/v1#voyage-code-3",
        "WHEREIN_RERANKER": "http://judges.invalid/v1#rerank-2.5",
        "WHEREIN_API_KEY": "model-key",
        "WHEREIN_RERANKER_API_KEY": "judge-key",
        "http_proxy": models.url.removesuffix("/v1"),
    }
    with ModelsServer(shop, shop.parent / "home", variables) as server:
        server.greet()
        first = server.search(2, "send a request again", explain=True)
        second = server.search(3, "send a request again", explain=True)
        server.close_input()
        assert server.process.stderr is not None
        log = server.process.stderr.read().decode()
    for text in (first, log):
        assert "leaves this machine for models.invalid (model voyage-code-3)" in text
        assert "leaves this machine for judges.invalid (model rerank-2.5)" in text
    assert "leaves this machine" not in second
    assert "reranker " in first
    keys = dict(zip(models.paths, models.keys, strict=True))
    assert keys == {
        "http://models.invalid/v1/embeddings": "Bearer model-key",
        "http://judges.invalid/v1/rerank": "Bearer judge-key",
    }
    assert "-key" not in first + second + log


def test_the_server_answers_while_the_model_is_down(shop: Path, models: ModelServer) -> None:
    variables = {"WHEREIN_MODEL": f"{models.url}#m"}
    models.replies += [answer({"error": "bad key"}, 401)] * 40
    with ModelsServer(shop, shop.parent / "home", variables) as server:
        server.greet()
        text = server.search(2, "retry_request")
        assert "src/retry.py" in text
        assert "the model gave no vectors for what is new" in text
        assert "status 401" in text
        models.replies.clear()
        assert "note:" not in server.search(3, "retry_request")
