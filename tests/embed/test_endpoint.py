from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from wherein.embed.departure import Departure, ModelAccess, Notice, departure, is_loopback
from wherein.embed.endpoint import EndpointEmbedder
from wherein.embed.http import Endpoint, JsonClient
from wherein.embed.load import endpoint_of, load_embedder, load_reranker
from wherein.embed.protocol import text_embedder
from wherein.errors import ProviderError, SettingsError
from wherein.settings import Settings
from wherein.types import ChunkTerms

NO_TERMS = ChunkTerms(
    np.zeros(1, np.int32), np.zeros(0, np.uint64), np.zeros((0, 5), np.uint8),
    np.zeros((0, 5), np.uint16),
)  # fmt: skip


class Waits:
    """Counts the pauses instead of taking them."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.now = 100.0

    def pause(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        return self.now


def connect(server: Any, waits: Waits | None = None, **changes: Any) -> EndpointEmbedder:
    waits = waits or Waits()
    endpoint = Endpoint(**{"url": server.url, "model": "m", **changes})
    return EndpointEmbedder(JsonClient(endpoint, pause=waits.pause, clock=waits.clock))


def embed(embedder: EndpointEmbedder, *texts: str) -> np.ndarray:
    return embedder.embed_chunks(NO_TERMS, {}, texts)


def test_vectors_come_back_in_the_order_of_the_texts_and_at_unit_length(
    server: Any, replies: ModuleType
) -> None:
    vectors = embed(connect(server), "parse the header", "e", "retry")
    for text, vector in zip(["parse the header", "e", "retry"], vectors, strict=True):
        expected = np.array(replies.embedding(text))
        np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), rtol=1e-6)


def test_a_blank_text_is_zero_and_is_not_sent(server: Any) -> None:
    vectors = embed(connect(server), "", "e", " \n")
    assert not vectors[0].any()
    assert not vectors[2].any()
    assert server.requests[-1]["input"] == ["e"]


def test_texts_go_out_in_bounded_batches(server: Any) -> None:
    embed(connect(server), *(f"text {i}" for i in range(150)))
    sizes = [len(request["input"]) for request in server.requests]
    assert sizes == [1, 64, 64, 22]  # the first asks for the number of dimensions


def test_long_texts_are_cut_and_batches_bounded_in_characters(server: Any) -> None:
    embed(connect(server), *(["x" * 50_000] * 20))
    sent = [sum(map(len, request["input"])) for request in server.requests[1:]]
    assert sent == [120_000, 40_000]


def test_a_query_is_embedded_once(server: Any) -> None:
    embedder = connect(server)
    first = embedder.embed_query("where is it")
    first[:] = 0
    assert embedder.embed_query("where is it").any()
    assert len(server.requests) == 1


def test_an_overloaded_server_is_asked_again_after_the_time_it_names(
    server: Any, replies: ModuleType
) -> None:
    waits = Waits()
    server.replies += [
        replies.answer({"error": "slow down"}, 429, Retry_After="7"),
        replies.answer({"error": "oops"}, 500),
        replies.answer({"error": "busy"}, 503, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"),
    ]
    assert connect(server, waits).dim == 4
    assert waits.seconds == [7.0, 1.0, 2.0]


def test_a_server_that_keeps_failing_is_given_up_with_its_last_words(
    server: Any, replies: ModuleType
) -> None:
    server.replies += [replies.answer({"error": "cold start"}, 503)] * 3
    with pytest.raises(ProviderError, match=r"failed 3 times: status 503.*cold start"):
        _ = connect(server, attempts=3).dim


def test_a_wait_is_never_longer_than_half_a_minute(server: Any, replies: ModuleType) -> None:
    waits = Waits()
    server.replies += [replies.answer({}, 429, Retry_After="86400")]
    assert connect(server, waits).dim == 4
    assert waits.seconds == [30.0]


def test_a_server_that_hangs_is_timed_out_and_asked_again(server: Any) -> None:
    server.replies.append(server.hang)
    assert connect(server, timeout_s=0.2).dim == 4
    assert len(server.requests) == 2


def test_nobody_listening_is_an_error_of_ours() -> None:
    endpoint = Endpoint("http://127.0.0.1:9/v1", attempts=2)
    embedder = EndpointEmbedder(JsonClient(endpoint, pause=lambda _: None))
    with pytest.raises(ProviderError, match="failed 2 times"):
        embedder.embed_query("x")


def test_a_refusal_is_not_tried_again_and_names_the_remedy(
    server: Any, replies: ModuleType
) -> None:
    server.replies.append(replies.answer({"error": "bad key sekrit"}, 401))
    with pytest.raises(ProviderError) as caught:
        _ = connect(server, api_key="sekrit").dim
    assert "status 401" in caught.value.message
    assert "sekrit" not in caught.value.message
    assert caught.value.hint == "check the key in the environment"
    assert len(server.requests) == 1


def test_a_redirect_is_not_followed(server: Any, replies: ModuleType) -> None:
    server.replies.append(replies.answer({}, 307, Location="http://127.0.0.1:9/v1"))
    with pytest.raises(ProviderError, match="status 307"):
        _ = connect(server).dim


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([], "0 vectors for 1 texts"),
        ([{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}], "2 vectors"),
        ([{"index": 3, "embedding": [1.0, 2.0]}], "1 vectors for 1 texts"),
        ([{"index": 0, "embedding": []}], "different dimensions"),
        ([{"index": 0, "embedding": "AAAA"}], "did not send embeddings"),
        ([{"index": 0, "embedding": [1.0, None]}], "did not send embeddings"),
    ],
)
def test_an_answer_that_does_not_fit_the_question_is_refused(
    server: Any, replies: ModuleType, data: object, says: str
) -> None:
    server.replies.append(replies.answer({"data": data}))
    with pytest.raises(ProviderError, match=says):
        _ = connect(server).dim


def test_not_a_number_is_refused(server: Any) -> None:
    server.replies.append(lambda _: (200, {}, b'{"data":[{"embedding":[1e39, 2.0]}]}'))
    with pytest.raises(ProviderError, match="not finite"), np.errstate(over="ignore"):
        _ = connect(server).dim
    server.replies.append(lambda _: (200, {}, b'{"data":[{"embedding":[NaN, 2.0]}]}'))
    with pytest.raises(ProviderError, match="did not answer in JSON"):
        _ = connect(server).dim


def test_a_vector_too_long_to_be_measured_is_refused(server: Any) -> None:
    server.replies.append(lambda _: (200, {}, b'{"data":[{"embedding":[1e30, 2.0]}]}'))
    with pytest.raises(ProviderError, match="not finite"):
        _ = connect(server).dim


def test_a_server_that_sends_nothing_but_zeros_is_refused(server: Any, replies: ModuleType) -> None:
    embedder = connect(server)
    zeros = [{"index": place, "embedding": [0.0] * 4} for place in range(2)]
    server.replies.append(replies.answer({"data": zeros}))
    with pytest.raises(ProviderError, match="nothing but zeros"):
        embedder.embed_texts(["one text", "another"])
    one = [{"index": 0, "embedding": [0.0] * 4}, {"index": 1, "embedding": [1.0] * 4}]
    server.replies.append(replies.answer({"data": one}))
    vectors = embedder.embed_texts(["…", "another"])
    assert not vectors[0].any()
    np.testing.assert_allclose(np.linalg.norm(vectors[1]), 1.0, atol=1e-6)


def test_a_model_that_changes_its_dimensions_is_refused(server: Any, replies: ModuleType) -> None:
    embedder = connect(server)
    assert embedder.dim == 4
    server.replies.append(replies.answer({"data": [{"index": 0, "embedding": [1.0, 2.0]}]}))
    with pytest.raises(ProviderError, match="2 dimensions where it had sent 4"):
        embed(embedder, "text")


def test_requests_keep_the_rate_that_was_set(server: Any) -> None:
    waits = Waits()
    embed(connect(server, waits, requests_per_minute=30), *(f"text {i}" for i in range(130)))
    assert waits.seconds == [2.0, 2.0, 2.0]


def test_the_key_is_sent_and_never_shown(server: Any) -> None:
    endpoint = endpoint_of(f"{server.url}#m", {"WHEREIN_API_KEY": "sekrit"})
    assert "sekrit" not in repr(endpoint)
    embedder = EndpointEmbedder(JsonClient(endpoint))
    assert embedder.dim == 4
    assert server.keys == ["Bearer sekrit"]
    assert "sekrit" not in embedder.fingerprint + embedder.name


def test_a_providers_key_goes_to_that_provider_only() -> None:
    keys = {"OPENAI_API_KEY": "o", "VOYAGE_API_KEY": "v", "HTTPS_PROXY": "http://proxy:3128"}
    assert endpoint_of("https://api.openai.com/v1#text-embedding-3-small", keys).api_key == "o"
    assert endpoint_of("https://api.voyageai.com/v1#voyage-code-3", keys).api_key == "v"
    assert endpoint_of("https://example.com/v1#m", keys).api_key == ""
    assert endpoint_of("https://example.com/v1#m", keys).proxies == {"https": "http://proxy:3128"}
    assert not endpoint_of("https://localhost/v1#m", keys).proxies


def test_the_key_of_the_model_follows_to_no_other_host(tmp_path: Any) -> None:
    keys = {"WHEREIN_API_KEY": "sekrit", "WHEREIN_RERANKER_API_KEY": "judge", "CO_API_KEY": "co"}
    access = ModelAccess(keys, announce=lambda _: None)

    def key_of(model: str, reranker: str, without: str = "") -> str:
        given = ModelAccess({k: v for k, v in keys.items() if k != without}, access.announce)
        found: Any = load_reranker(settings(tmp_path, model=model, reranker=reranker), given)
        return found._client.endpoint.api_key

    elsewhere, judge = "https://a.example/v1#m", "https://api.cohere.com/v2#r"
    assert key_of(elsewhere, judge) == "judge"
    assert key_of(elsewhere, judge, "WHEREIN_RERANKER_API_KEY") == "co"
    assert key_of(elsewhere, "https://b.example/v1#r", "WHEREIN_RERANKER_API_KEY") == ""
    assert key_of(elsewhere, "https://a.example/v1#r", "WHEREIN_RERANKER_API_KEY") == "sekrit"
    assert "sekrit" not in repr(access)


@pytest.mark.parametrize(
    ("host", "stays"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("127.0.0.1.example.org", False),
        ("127.example.org", False),
        ("localhost.example.org", False),
        ("10.0.0.1", False),
        ("0.0.0.0", False),
    ],
)
def test_only_this_machine_is_this_machine(host: str, *, stays: bool) -> None:
    assert is_loopback(host) is stays


def test_a_proxy_is_gone_round_where_the_environment_says_so() -> None:
    proxied = {"HTTPS_PROXY": "http://proxy:3128"}
    direct = {**proxied, "NO_PROXY": "intern.example,.lan"}
    assert endpoint_of("https://m.intern.example/v1#m", proxied).proxies
    assert not endpoint_of("https://m.intern.example/v1#m", direct).proxies
    assert endpoint_of("https://other.example/v1#m", direct).proxies


@pytest.mark.parametrize(
    "url", ["https://me:sekrit@a.example/v1", "https://a.example/v1?key=sekrit"]
)
def test_a_key_in_an_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ProviderError) as caught:
        JsonClient(Endpoint(url))
    assert "sekrit" not in caught.value.message
    assert "WHEREIN_API_KEY" in caught.value.hint


def test_a_server_that_is_down_is_left_alone_for_a_while(server: Any, replies: ModuleType) -> None:
    waits = Waits()
    embedder = connect(server, waits, attempts=2)
    server.replies += [replies.answer({}, 503)] * 2
    for _ in range(3):
        with pytest.raises(ProviderError, match="failed 2 times"):
            embedder.embed_query("q")
    assert len(server.requests) == 2
    waits.now += 20
    assert embedder.embed_query("q").any()


def test_an_answer_that_breaks_off_or_drips_is_asked_for_again(
    server: Any, replies: ModuleType
) -> None:
    server.replies.append(lambda _: (200, {"Content-Length": "999999"}, b'{"data":'))
    with pytest.raises(ProviderError, match="failed"):
        connect(server, attempts=1, timeout_s=1.0).embed_query("q")


def test_a_text_that_is_too_long_for_the_model_is_cut(server: Any, replies: ModuleType) -> None:
    def short(payload: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        texts = payload["input"]
        is_short = all(len(text) <= 2_000 for text in texts)
        return replies.good(payload) if is_short else (400, {}, b"maximum context length")

    server.replies += [short] * 12
    vectors = embed(connect(server), "a" * 7_000, "e")
    assert vectors.any(axis=1).all()
    lengths = [[len(text) for text in request["input"]] for request in server.requests]
    assert lengths == [[7], [7000, 1], [7000], [3500], [1750], [1]]


def test_a_query_and_a_passage_are_marked_as_the_model_was_trained(server: Any) -> None:
    embedder = connect(server, model="nomic-embed-text:latest")
    embed(embedder, "def f(): pass")
    embedder.embed_query("where is f")
    sent = [text for request in server.requests for text in request["input"]]
    assert sent[-2:] == ["search_document: def f(): pass", "search_query: where is f"]


def settings(tmp_path: Any, **changes: object) -> Settings:
    return Settings(home=tmp_path).replace(**changes)


def test_no_text_leaves_the_machine_unless_somebody_is_told(tmp_path: Any) -> None:
    with pytest.raises(ProviderError, match=r"would leave this machine for 'api\.openai\.com'"):
        load_embedder(settings(tmp_path, model="https://api.openai.com/v1#text-embedding-3-small"))


def test_the_first_departure_is_announced_with_host_amount_and_cost(tmp_path: Any) -> None:
    told: list[Departure] = []

    def refuse(departure: Departure) -> None:
        told.append(departure)
        message = "not wanted"
        raise ProviderError(message)

    embedder = load_embedder(
        settings(tmp_path, model="https://embed.invalid/v1#text-embedding-3-small"),
        ModelAccess(announce=refuse),
    )
    sender = text_embedder(embedder)
    assert sender is not None
    sender.expect(3_300_000)
    with pytest.raises(ProviderError, match="not wanted"):
        sender.embed_query("where")
    assert told[0].sentence() == (
        "source text leaves this machine for embed.invalid (model text-embedding-3-small): "
        "up to about 1,000,000 tokens, about $0.02"
    )


def test_plain_http_to_another_machine_is_said(tmp_path: Any) -> None:
    told: list[Departure] = []

    def refuse(departure: Departure) -> None:
        told.append(departure)
        message = "not wanted"
        raise ProviderError(message)

    embedder = load_embedder(
        settings(tmp_path, model="http://embed.invalid/v1#m"), ModelAccess(announce=refuse)
    )
    assert embedder is not None
    with pytest.raises(ProviderError, match="not wanted"):
        embedder.embed_query("where")
    assert "embed.invalid (model m) over http, which can be read on the way" in told[0].sentence()


def test_small_departures_are_told_once_in_a_repository_and_large_ones_each_time(
    tmp_path: Any,
) -> None:
    told: list[Departure] = []
    notice = Notice(told.append, lambda: tmp_path / "family" / "departures")
    for n_chars in (5_000, 9_000, 400_000, 400_000, 7):
        notice(departure("a.example", "m", n_chars))
    assert [item.n_chars for item in told] == [5_000, 400_000, 400_000]
    again = Notice(told.append, lambda: tmp_path / "family" / "departures")
    again(departure("a.example", "m", 5))
    again(departure("a.example", "other", 5))
    assert [item.model for item in told[3:]] == ["other"]


def test_a_model_on_this_machine_is_reached_by_its_setting(server: Any, tmp_path: Any) -> None:
    embedder = load_embedder(settings(tmp_path, model=f"{server.url}#nomic-embed-text"))
    assert embedder is not None
    assert embedder.name == "nomic-embed-text at 127.0.0.1"
    assert embedder.embed_query("x").shape == (4,)
    assert server.requests[0]["model"] == "nomic-embed-text"
    assert server.paths[0] == "/v1/embeddings"


def test_another_model_at_the_same_address_has_another_fingerprint(server: Any) -> None:
    assert connect(server, model="a").fingerprint != connect(server, model="b").fingerprint
    assert connect(server, model="a").fingerprint == connect(server, model="a").fingerprint


def test_a_model_that_is_no_name_and_no_folder_is_refused(tmp_path: Any) -> None:
    with pytest.raises(SettingsError, match="unknown model 'best'"):
        load_embedder(settings(tmp_path, model="best"))
    assert load_embedder(settings(tmp_path, model="none")) is None
