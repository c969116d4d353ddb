"""Servers to talk to: in memory over a tree, and a real process on its pipes."""

from __future__ import annotations

import json
import os
import subprocess  # noqa: TID251 - tests start the real server
import sys
from pathlib import Path
from typing import Any

from wherein.mcp.state import ServerState
from wherein.settings import Settings


def make_state(root: Path, **settings: object) -> ServerState:
    """Return the state of a server at ``root`` with an index folder beside it."""
    home = root.parent / f"{root.name}-index"
    return ServerState(Settings(home=home).replace(**settings), root.resolve())


def write_shop(root: Path) -> Path:
    """Write a small tree and return its folder."""
    files = {
        "src/retry.py": "def retry_request(request, attempts=3):\n"
        '    """Send a request again when the server is overloaded."""\n'
        "    for attempt in range(attempts):\n        request.send()\n",
        "src/basket.py": "def total_price(basket):\n    return sum(basket)\n",
        "README.md": "# Shop\n\nRequests are retried three times.\n",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def environment(home: Path) -> dict[str, str]:
    """Return what a client gives a server it starts."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "WHEREIN_HOME": str(home / "index")}


INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "0"},
    },
}
INITIALIZED: dict[str, Any] = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(request_id: int, name: str, **arguments: object) -> dict[str, Any]:
    """Return a ``tools/call`` request."""
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


class Server:
    """A real server process spoken to line by line."""

    def __init__(self, root: Path, home: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "wherein", "mcp", *words],
            cwd=root,
            env=environment(home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(10)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()

    def send(self, *messages: dict[str, Any] | bytes) -> None:
        assert self.process.stdin
        for message in messages:
            data = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
            self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def answer(self, request_id: int) -> dict[str, Any]:
        """Return the next message that answers ``request_id``."""
        while True:
            message = self.receive()
            if message.get("id") == request_id and "method" not in message:
                return message

    def greet(self) -> None:
        self.send(INITIALIZE, INITIALIZED)
        self.answer(1)

    def close_input(self) -> int:
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(10)
