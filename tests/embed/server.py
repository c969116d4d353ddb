"""A model server on loopback that misbehaves as a test asks it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Reply = Callable[[dict[str, object]], tuple[int, dict[str, str], bytes]]


def embedding(text: str, dim: int = 4) -> list[float]:
    """A vector that depends on the text alone."""
    return [float(len(text) + 1), *(float(text.count(letter)) for letter in "etaoinshr"[: dim - 1])]


def good(payload: dict[str, object]) -> tuple[int, dict[str, str], bytes]:
    if "query" in payload:
        return good_scores(payload)
    texts = payload["input"]
    assert isinstance(texts, list)
    items = [{"index": i, "embedding": embedding(text)} for i, text in enumerate(texts)]
    # Last first: the index decides, not the order.
    return 200, {}, json.dumps({"data": items[::-1]}).encode()


def good_scores(payload: dict[str, object]) -> tuple[int, dict[str, str], bytes]:
    """Relevance by the number of the query's words in a text, as Cohere and the like answer."""
    texts, query = payload["documents"], payload["query"]
    assert isinstance(texts, list)
    assert isinstance(query, str)
    scores = [sum(text.lower().count(word) for word in query.lower().split()) for text in texts]
    results = [{"index": i, "relevance_score": float(score)} for i, score in enumerate(scores)]
    return 200, {}, json.dumps({"results": results[::-1]}).encode()


def answer(value: object, status: int = 200, **headers: str) -> Reply:
    """Always this JSON, with underscores of header names as hyphens."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return lambda _: (status, named, json.dumps(value).encode())


@dataclass
class ModelServer:
    """Replies in turn, then well; every request is kept."""

    url: str
    replies: list[Reply] = field(default_factory=list)
    requests: list[dict[str, object]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    hold: threading.Event = field(default_factory=threading.Event)

    def hang(self, _: dict[str, object]) -> tuple[int, dict[str, str], bytes]:
        """Answer nothing until the test is over."""
        self.hold.wait(30)
        return 200, {}, b"{}"


@contextmanager
def model_server() -> Iterator[ModelServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append(payload)
            state.keys.append(self.headers.get("Authorization", ""))
            state.paths.append(self.path)
            reply = state.replies.pop(0) if state.replies else good
            status, headers, body = reply(payload)
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                return  # the client gave up, as the test meant it to

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        state = ModelServer(f"http://127.0.0.1:{server.server_port}/v1")
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield state
        finally:
            state.hold.set()
            server.shutdown()
            thread.join()
