"""Models elsewhere, through the real command and a real server that misbehaves."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess  # noqa: TID251 - tests start the real program
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.sandbox import Sandbox
from tests.embed.server import ModelServer, answer, good, model_server

N_FILES = 150
PROBE = "wherein: what this text is embedded as tells whether the model is still the same"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


@pytest.fixture
def project(sandbox: Sandbox) -> Sandbox:
    """A repository whose every file is one chunk, in more files than two batches hold."""
    sandbox.git("init", "-q", "-b", "main")
    for number in range(N_FILES):
        sandbox.write(
            f"src/part_{number}.py",
            f"def handle_{number}(request):\n    return request.send({'x' * (number % 7)!r})\n",
        )
    return sandbox


def here(server: ModelServer, **more: str) -> dict[str, str]:
    return {"WHEREIN_MODEL": f"{server.url}#m", **more}


def elsewhere(server: ModelServer, **more: str) -> dict[str, str]:
    """A model on another machine, reached through a proxy that is our server."""
    return {
        "WHEREIN_MODEL": "http://models.invalid/v1#text-embedding-3-small",
        "WHEREIN_API_KEY": "sekrit-key",
        "http_proxy": server.url.removesuffix("/v1"),
        **more,
    }


def sent(server: ModelServer) -> list[str]:
    """Return all texts that were sent to be embedded, the probe left out."""
    texts: list[str] = []
    for request in server.requests:
        inputs = request.get("input", [])
        assert isinstance(inputs, list)
        texts += [text for text in inputs if text != PROBE]
    return texts


def test_texts_go_out_in_batches_once_and_a_search_uses_the_vectors(
    project: Sandbox, server: ModelServer
) -> None:
    assert project.run("index", **here(server)).exit_code == 0
    texts = sent(server)
    assert len(texts) == len(set(texts)) == N_FILES
    assert len(server.requests) == 3
    server.requests.clear()
    rows = project.run("search", "handle 7", "--explain", "--json", **here(server)).rows()
    assert sent(server) == ["handle 7"]
    assert any(name.startswith("d_") for name in rows[0]["signals"])
    status = project.run("status", **here(server)).stdout
    assert "model: m at 127.0.0.1" in status
    assert "up to date" in status


def test_an_edit_sends_the_changed_text_alone(project: Sandbox, server: ModelServer) -> None:
    body = "".join(
        f"def step_{number}(order):\n" + f"    order.check_{number}()\n" * 30 + "\n\n"
        for number in range(6)
    )
    project.write("src/steps.py", body)
    project.run("index", **here(server))
    server.requests.clear()
    project.write("src/steps.py", body.replace("check_3", "verify_3"))
    assert project.run("index", **here(server)).exit_code == 0
    (text,) = sent(server)
    assert "verify_3" in text


def test_text_leaves_only_after_the_user_was_told_and_the_key_is_written_nowhere(
    project: Sandbox, server: ModelServer
) -> None:
    variables = elsewhere(server)
    before = project.run("status", **variables)
    assert "text-embedding-3-small at models.invalid" in before.stdout
    assert not server.requests
    first = project.run("index", **variables)
    said = re.search(r"note: source text leaves this machine for (.*)", first.stderr)
    assert said is not None
    assert re.fullmatch(
        r"models\.invalid \(model text-embedding-3-small\) over http, which can be read on the "
        r"way: up to about [\d,]+ tokens, less than \$0\.01",
        said.group(1),
    )
    n_tokens = int(re.sub(r"\D", "", said.group(1).split("up to about")[1].split("tokens")[0]))
    assert n_tokens >= sum(map(len, sent(server))) / 4
    assert set(server.keys) == {"Bearer sekrit-key"}
    assert server.paths[0] == "http://models.invalid/v1/embeddings"
    again = project.run("search", "handle 7", **variables)
    assert again.stderr == ""
    for folder in (project.home, project.root):
        for path in folder.rglob("*"):
            assert not path.is_file() or b"sekrit-key" not in path.read_bytes()


def test_nobody_is_told_by_a_library_so_nothing_leaves(tmp_path: Path) -> None:
    from wherein import Settings, Workspace
    from wherein.errors import ProviderError

    settings = Settings(home=tmp_path / "home", model="https://models.invalid/v1#m")
    with pytest.raises(ProviderError, match="without notice"):
        Workspace(tmp_path, settings)


def test_a_repository_switches_on_no_model(project: Sandbox, server: ModelServer) -> None:
    project.write(
        "wherein.toml",
        f'model = "{server.url}#m"\nreranker = "{server.url}#r"\nrerank_files = 60\n'
        "rerank_weight = 9.0\nmodel_timeout_seconds = 1.0\nmodel_requests_per_minute = 1.0\n",
    )
    screen = project.run("search", "handle 7")
    assert screen.exit_code == 0
    assert not server.requests
    assert screen.stderr.count("only the user's own settings can") == 6
    assert "127.0.0.1" not in project.run("status").stdout


def test_an_overloaded_server_is_asked_again(project: Sandbox, server: ModelServer) -> None:
    server.replies += [
        answer({"error": "slow down"}, 429, Retry_After="0.1"),
        answer({"error": "oops"}, 500),
        server.hang,
    ]
    screen = project.run("index", **here(server, WHEREIN_MODEL_TIMEOUT_SECONDS="2"))
    assert screen.exit_code == 0, screen.stderr
    assert len(server.requests) >= 6
    assert sorted(sent(server)[-N_FILES:]) == sorted(set(sent(server)))


def test_a_batch_that_is_too_much_goes_in_parts(project: Sandbox, server: ModelServer) -> None:
    def few(payload: dict[str, object]) -> tuple[int, dict[str, str], bytes]:
        texts = payload["input"]
        assert isinstance(texts, list)
        return good(payload) if len(texts) <= 32 else (413, {}, b"batch size > 32")

    server.replies += [few] * 20
    assert project.run("index", **here(server)).exit_code == 0
    assert "up to date" in project.run("status", **here(server)).stdout


BROKEN = {
    "other dimensions": (answer({"data": [{"index": 0, "embedding": [1.0, 2.0]}]}), "vectors for"),
    "not a number": (lambda _: (200, {}, b'{"data":[{"embedding":[NaN]}]}'), "not answer in JSON"),
    "half an answer": (lambda _: (200, {}, b'{"data":[{"embedding":[0.5,'), "not answer in JSON"),
    "no such model": (answer({"error": "no model m"}, 404), "status 404"),
    "a bad key": (answer({"error": "bad key"}, 401), "status 401"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_answer_ends_the_build_and_the_next_goes_on_from_there(
    project: Sandbox, server: ModelServer, what: str
) -> None:
    broken, says = BROKEN[what]
    server.replies += [good, broken]
    screen = project.run("index", **here(server))
    assert screen.exit_code == 2
    assert says in screen.stderr
    assert "hint:" in screen.stderr
    kept = set(sent(server)[:64])
    server.requests.clear()
    assert project.run("index", **here(server)).exit_code == 0
    assert not kept & set(sent(server))
    assert len(sent(server)) == N_FILES - 64


def test_killed_in_the_middle_nothing_is_embedded_again_but_the_batch_under_way(
    project: Sandbox, server: ModelServer
) -> None:
    server.replies += [good, server.hang]
    process = subprocess.Popen(
        project.argv("index"),
        cwd=project.root,
        env=project.environment(**here(server)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while len(server.requests) < 2:
            assert process.poll() is None
            time.sleep(0.02)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)
    done = set(sent(server)[:64])
    server.requests.clear()
    server.hold.set()
    assert project.run("index", **here(server)).exit_code == 0
    assert not done & set(sent(server))
    assert len(sent(server)) == len(set(sent(server))) == N_FILES - 64
    assert "up to date" in project.run("status", **here(server)).stdout


def test_another_model_embeds_again_and_going_back_sends_nothing(
    project: Sandbox, server: ModelServer
) -> None:
    other = {"WHEREIN_MODEL": f"{server.url}#other"}
    project.run("index", **here(server))
    server.requests.clear()
    assert "another model" in project.run("status", **other).stdout
    assert project.run("index", **other).exit_code == 0
    assert len(sent(server)) == N_FILES
    assert {request["model"] for request in server.requests} == {"other"}
    server.requests.clear()
    assert project.run("index", **here(server)).exit_code == 0
    assert not server.requests


def test_a_model_that_changed_behind_its_address_is_refused(
    project: Sandbox, server: ModelServer
) -> None:
    project.run("index", **here(server))

    def turned(payload: dict[str, object]) -> tuple[int, dict[str, str], bytes]:
        texts = payload["input"]
        assert isinstance(texts, list)
        items = [{"index": i, "embedding": [0.0, 0.0, 0.0, 1.0]} for i in range(len(texts))]
        return 200, {}, json.dumps({"data": items}).encode()

    project.write("src/new.py", "def brand_new():\n    return 1\n")
    server.replies.append(turned)
    screen = project.run("index", **here(server))
    assert screen.exit_code == 2
    assert "is not the model any more" in screen.stderr
    assert "wherein clear" in screen.stderr
    assert project.run("clear", **here(server)).exit_code == 0
    assert project.run("index", **here(server)).exit_code == 0


def test_a_search_does_without_a_server_that_is_gone_and_says_so(
    project: Sandbox, server: ModelServer
) -> None:
    project.run("index", **here(server))
    gone = {"WHEREIN_MODEL": f"{server.url}#m", "WHEREIN_MODEL_TIMEOUT_SECONDS": "0.3"}
    server.replies += [answer({"error": "down"}, 401)]
    found = project.run("search", "handle_7", **gone)
    assert found.exit_code == 0
    assert found.stdout.startswith("src/part_7.py")
    assert "ranked without vectors: '127.0.0.1' refused with status 401" in found.stdout
    project.write("src/fresh.py", "def zebra_crossing():\n    return 1\n")
    server.replies += [answer({"error": "down"}, 401)] * 2
    found = project.run("search", "zebra_crossing", **gone)
    assert "\nsrc/fresh.py:1-3\n" in found.stdout
    assert "the model gave no vectors for what is new" in found.stdout
    assert "not indexed yet: src/fresh.py" in found.stdout


def test_the_reranker_is_one_signal_and_its_failure_costs_only_itself(
    project: Sandbox, server: ModelServer
) -> None:
    project.write("docs/guide.md", "# Guide\n\nHow a parcel is sent.\n")
    variables = {"WHEREIN_RERANKER": f"{server.url}#r"}
    plain = project.run("search", "request send", "--json").rows()
    assert not server.requests
    rows = project.run("search", "request send", "--explain", "--json", **variables).rows()
    (request,) = server.requests
    documents = request["documents"]
    assert isinstance(documents, list)
    assert len(documents) == 50
    assert documents[0].startswith("src/part_")
    for row in rows:
        signals = row["signals"]
        assert isinstance(signals, dict)
        assert "reranker" in signals
        assert sum(signals.values()) == pytest.approx(row["score"], abs=1e-3)
    assert "reranker" in project.run("search", "request send", "--explain", **variables).stdout
    server.replies += [answer({"error": "down"}, 403)]
    failed = project.run("search", "request send", "--json", **variables)
    assert [row["path"] for row in failed.rows()] == [row["path"] for row in plain]
    server.replies += [answer({"error": "down"}, 403)]
    said = project.run("search", "request send", **variables).stdout
    assert "ranked without the reranker r at 127.0.0.1: '127.0.0.1' refused" in said
    assert "reranker: r at 127.0.0.1" in project.run("status", **variables).stdout


def test_the_doctor_asks_the_models_with_a_word_of_ours(
    project: Sandbox, server: ModelServer
) -> None:
    variables = here(server, WHEREIN_RERANKER=f"{server.url}#r")
    screen = project.run("doctor", **variables)
    assert "model: m at 127.0.0.1, 4 dimensions" in screen.stdout
    assert "reranker: r at 127.0.0.1 answers" in screen.stdout
    assert {json.dumps(request) for request in server.requests} == {
        '{"input": ["wherein"], "model": "m"}',
        '{"query": "wherein", "model": "r", "documents": ["wherein", "else"], "top_n": 2}',
    }
    server.replies += [answer({"error": "bad key"}, 401)]
    failed = project.run("doctor", **variables)
    assert failed.exit_code == 2
    assert "refused with status 401" in failed.stdout
