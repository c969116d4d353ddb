"""Servers that answer what no server should: the caller always gets a `ProviderError`, in time."""

from __future__ import annotations

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from email.message import Message
from io import BytesIO
from typing import Any
from urllib.error import HTTPError

import pytest

from wherein.embed.endpoint import EndpointEmbedder
from wherein.embed.http import Endpoint, JsonClient
from wherein.errors import ProviderError

KEY = "sk-" + "k" * 60


@contextmanager
def raw_server(start: bytes, drip: bytes = b"") -> Generator[str]:
    """Send `start`, then `drip` again and again until nobody listens."""
    is_over = threading.Event()

    def serve(listener: socket.socket) -> None:
        while not is_over.is_set():
            with suppress(OSError):
                connection, _ = listener.accept()
                with connection:
                    connection.recv(1 << 16)
                    connection.sendall(start)
                    while drip and not is_over.wait(0.05):
                        connection.sendall(drip)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        finally:
            is_over.set()
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def ask(url: str, text: str = "hi", timeout_s: float = 30.0) -> None:
    endpoint = Endpoint(url, model="m", api_key=KEY, attempts=1, timeout_s=timeout_s)
    EndpointEmbedder(JsonClient(endpoint)).embed_texts([text])


def answered(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body


@pytest.mark.parametrize(
    "start",
    [
        answered(b"[" * 100_000),
        answered(b'{"data":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        answered(b'{"data":[{"embedding":[' + b"9" * 500 + b"]}]}"),
        answered(b'{"data":[{"embedding":[1e300]}]}'),
        answered(b"\x1f\x8b\x08\x00 a compressed body that nobody asked for"),
        b"HTTP/1.1 302 Found\r\nLocation: http://[bad\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n",
        b"\xff\xfe\x00\n\n",
        b"",
    ],
)
def test_whatever_comes_back_is_an_error_of_ours(start: bytes) -> None:
    with raw_server(start) as url, pytest.raises(ProviderError):
        ask(url)


@pytest.mark.parametrize(
    ("start", "drip"),
    [
        (b"HTTP/1.1 200 OK\r\n", b"A"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", b"A"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b" "),
    ],
    ids=["headers", "interim answers", "refusal", "body"],
)
def test_an_answer_that_drips_ends_with_the_time_for_it(start: bytes, drip: bytes) -> None:
    """Each byte comes in time; without an end to the whole this would go on for ever."""
    with raw_server(start, drip) as url, pytest.raises(ProviderError, match="in time"):
        ask(url, timeout_s=0.4)


@pytest.mark.parametrize(
    "start",
    [
        answered(b"x" * 60 + KEY.encode()),
        b"HTTP/1.1 403 No\r\n\r\n" + b"x" * 280 + KEY.encode(),
        b"bad status line " + KEY.encode() + b"\r\n\r\n",
    ],
    ids=["no JSON", "refusal", "status"],
)
def test_a_key_that_is_sent_back_is_not_shown_in_part_either(start: bytes) -> None:
    with raw_server(start) as url, pytest.raises(ProviderError) as caught:
        ask(url)

    assert "kkkkk" not in str(caught.value)


class _Reset(BytesIO):
    """The body of an answer whose connection is reset before it."""

    def read(self, size: int | None = -1) -> bytes:
        raise ConnectionResetError(size)


@pytest.mark.parametrize("status", [403, 503])
def test_a_refusal_whose_body_does_not_come_is_still_that_refusal(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = JsonClient(Endpoint("http://localhost:1/v1", attempts=1))

    def opened(*_: object, **__: object) -> None:
        raise HTTPError("http://localhost:1/v1", status, "No", Message(), _Reset())

    monkeypatch.setattr(client._opener, "open", opened)

    with pytest.raises(ProviderError, match=f"status {status}"):
        client.post("embeddings", {})


def test_half_characters_of_file_names_can_be_sent(server: Any) -> None:
    ask(server.url, "a\udcffb")

    assert server.requests[-1]["input"] == ["a\udcffb"]


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://u:secret@h:abc/v1", "http://h:99999/v1", "http://ü.example/v1"]
)
def test_an_address_without_meaning_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ProviderError) as caught:
        JsonClient(Endpoint(url))

    assert "secret" not in str(caught.value)
