"""Answers a client's first questions before the protocol library is loaded.

Importing the library takes 0.8 s of CPU; a client that starts ten servers would wait for all of
them. The handshake and the list of tools are known beforehand, so they are answered from here, in
40 ms; with anything else the whole conversation so far is handed to the library, which goes on as
if it had led it from the start.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, cast

from wherein import __version__
from wherein.mcp.listing import INSTRUCTIONS, TITLE, list_entries
from wherein.mcp.refusals import batch_of, refusal
from wherein.render.json_lines import dump

__all__ = [
    "FAST_VERSIONS",
    "Wire",
    "claim_wire",
    "discover_result",
    "initialize_result",
    "lead",
]

FAST_VERSIONS = frozenset({"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
"""Revisions with a handshake; an offer of any other is the library's to answer."""

_STATELESS_VERSION = "2026-07-28"
"""The revision without a handshake: each request says in its envelope who asks."""

_ENVELOPE = "io.modelcontextprotocol/"

_MAX_LINE_BYTES = 16_000_000
"""Of one message: more than any argument needs, and little enough to hold."""

_TOO_LONG = b'{"too long\n'
"""Stands for a line that was longer: no JSON, and answered as such."""

_GRACE_S = 2.0
"""Seconds in which answers may still be given after the client closed its end (it may have piped
its requests in); a client that left is gone by then anyway."""

_POLL_S = 0.01


@dataclass(slots=True)
class Wire:
    """The client's pipes, and what of the conversation the library has not seen.

    It is read and written like a text file, as the library expects of one.
    """

    source: BinaryIO
    sink: BinaryIO
    replay: list[bytes] = field(default_factory=list[bytes])
    """Lines the library is to read before the pipe."""
    answered_id: object = None
    """Id of the handshake that was answered here: the library's answer is dropped."""
    _pending: set[str] = field(default_factory=set[str])
    """Ids of the requests that are not answered yet."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def readline(self) -> str:
        """Return the next message of the conversation, the ones to replay first.

        What the library would drop without a word is answered here.
        """
        while line := self.replay.pop(0) if self.replay else self.take_line():
            text = line.decode("utf-8", "replace")
            batch = batch_of(text)
            refused = None if batch else refusal(text)
            if refused is not None:
                self.write(dump(refused) + "\n")
                self.flush()
            elif not batch:
                self._expect_answer(line)
                return text
            self.replay[:0] = batch
        self._wait_for_answers()
        return ""

    def _expect_answer(self, line: bytes) -> None:
        message = _read(line)
        if message is not None and "method" in message and "id" in message:
            self._pending.add(_id_of(message))

    def take_line(self) -> bytes:
        """Return the pipe's next line; of one that is too long only that it was."""
        line = self.source.readline(_MAX_LINE_BYTES)
        if len(line) < _MAX_LINE_BYTES or line.endswith(b"\n"):
            return line
        while line and not line.endswith(b"\n"):
            line = self.source.readline(_MAX_LINE_BYTES)
        return _TOO_LONG

    def _wait_for_answers(self) -> None:
        """Let what was asked be answered after the client closed its end, within reason."""
        deadline = time.monotonic() + _GRACE_S
        while self._pending and time.monotonic() < deadline:
            time.sleep(_POLL_S)

    def write(self, text: str) -> int:
        """Write one message, unless it answers what was answered already."""
        data = text.encode("utf-8", "backslashreplace")
        message = _read(data)
        is_answer = message is not None and "method" not in message
        if message is not None and is_answer:
            self._pending.discard(_id_of(message))
            if self.answered_id is not None and message.get("id") == self.answered_id:
                self.answered_id = None
                return len(text)
        with self._lock:
            self.sink.write(data)
        return len(text)

    def flush(self) -> None:
        """Send what was written."""
        with self._lock:
            self.sink.flush()


def claim_wire() -> Wire:
    """Take the client's pipes for ourselves.

    From here on the program's standard input is empty and its standard output is standard error,
    so no stray print and no child can disturb the protocol.
    """
    source = os.fdopen(os.dup(0), "rb")
    sink = os.fdopen(os.dup(1), "wb")
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    sys.stdout.flush()
    os.dup2(2, 1)
    return Wire(source, sink)


def initialize_result(version: str) -> dict[str, object]:
    """Return the answer to ``initialize`` at a revision of `FAST_VERSIONS`."""
    return {
        "capabilities": {"tools": {"listChanged": False}},
        "instructions": INSTRUCTIONS,
        "protocolVersion": version,
        "serverInfo": {"name": "wherein", "title": TITLE, "version": __version__},
    }


def discover_result() -> dict[str, object]:
    """Return the answer to ``server/discover`` of the revision without a handshake."""
    first = {
        "capabilities": {"tools": {"listChanged": False}},
        "instructions": INSTRUCTIONS,
        "supportedVersions": [_STATELESS_VERSION],
    }
    return _stateless(first)


def _stateless(result: Mapping[str, object]) -> dict[str, object]:
    server = {"name": "wherein", "title": TITLE, "version": __version__}
    return {
        **result,
        "cacheScope": "private",
        "resultType": "complete",
        "ttlMs": 0,
        "_meta": {f"{_ENVELOPE}serverInfo": server},
    }


def lead(wire: Wire) -> bool:
    """Lead the conversation as far as it goes here; return False when the client has left.

    On return, `Wire.replay` holds what the library has to read.
    """
    is_open = False
    while line := wire.take_line():
        message = _read(line)
        method = message.get("method") if message is not None else None
        if message is None or not isinstance(message.get("id", 0), int | str):
            wire.replay.append(line)
            return True
        if method == "initialize" and not is_open and _fast_version(message) in FAST_VERSIONS:
            _reply(wire, message, initialize_result(_fast_version(message)))
            wire.replay.append(line)
            wire.answered_id = message["id"]
            is_open = True
        elif method == "notifications/initialized" and is_open and len(wire.replay) == 1:
            wire.replay.append(line)
        elif method in {"ping", "tools/list"} and is_open and _is_plain(message):
            _reply(wire, message, {} if method == "ping" else {"tools": list_entries()})
        elif method == "server/discover" and not is_open and _is_stateless(message):
            _reply(wire, message, discover_result())
        elif method == "tools/list" and not is_open and _is_stateless(message):
            _reply(wire, message, _stateless({"tools": list_entries()}))
        else:
            wire.replay.append(line)
            return True
    return False


def _read(line: bytes) -> Mapping[str, object] | None:
    """Return the message; None for anything that is no JSON object of the protocol."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return None
    found = cast("dict[str, object]", message)
    return found if found.get("jsonrpc") == "2.0" else None


def _id_of(message: Mapping[str, object]) -> str:
    """Return the id in the form in which 7 and "7" are one, as the library treats them."""
    return str(message.get("id"))


def _parameters(message: Mapping[str, object]) -> Mapping[str, object]:
    found = message.get("params")
    return cast("dict[str, object]", found) if isinstance(found, dict) else {}


def _fast_version(message: Mapping[str, object]) -> str:
    """Return the revision an ``initialize`` offers, when its parameters are as they should be."""
    parameters = _parameters(message)
    client = parameters.get("clientInfo")
    is_whole = (
        "id" in message
        and isinstance(parameters.get("capabilities"), dict)
        and isinstance(client, dict)
        and {"name", "version"} <= client.keys()
    )
    return str(parameters.get("protocolVersion", "")) if is_whole else ""


def _is_plain(message: Mapping[str, object]) -> bool:
    """Return True for a request without paging or envelope, which need the library."""
    parameters = _parameters(message)
    return (
        "id" in message and set(parameters) <= {"_meta"} and message.get("params", {}) is not None
    )


def _is_stateless(message: Mapping[str, object]) -> bool:
    """Return True for a request with a whole envelope and nothing besides."""
    parameters = _parameters(message)
    found = parameters.get("_meta")
    if "id" not in message or set(parameters) != {"_meta"} or not isinstance(found, dict):
        return False
    envelope = cast("dict[str, object]", found)
    client = envelope.get(f"{_ENVELOPE}clientInfo")
    capabilities = envelope.get(f"{_ENVELOPE}clientCapabilities")
    return (
        envelope.get(f"{_ENVELOPE}protocolVersion") == _STATELESS_VERSION
        and isinstance(capabilities, dict)
        and all(
            isinstance(value, dict) for value in cast("dict[str, object]", capabilities).values()
        )
        and isinstance(client, dict)
        and all(isinstance(client.get(name), str) for name in ("name", "version"))
    )


def _reply(wire: Wire, message: Mapping[str, object], result: Mapping[str, object]) -> None:
    body = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    wire.write(dump(body) + "\n")
    wire.flush()
