"""Serves streamable HTTP at this machine's own address, behind a token and an Origin check."""

from __future__ import annotations

import hmac
import secrets
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.embed.departure import is_loopback
from wherein.errors import PathError, UsageError
from wherein.mcp.state import ServerState

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["serve_http"]

_PATH = "/mcp"
_TOKEN_BYTES = 32
_MIN_TOKEN_CHARS = 16
_GRACE_S = 2
_BACKLOG = 64


def serve_http(state: ServerState, host: str, port: int, token_file: Path | None) -> None:
    """Serve until interrupted; the address and a new token go to standard error.

    Raises:
        UsageError: Another address than loopback was named without a token of the user's own, or
            the address cannot be bound.
        PathError: The token file cannot be read.
    """
    if not is_loopback(host) and token_file is None:
        message = f"{host!r} can be reached from other machines"
        raise UsageError(
            message, hint="name a token of your own with --token-file, or leave --host"
        )
    token = _read_token(token_file) if token_file else secrets.token_urlsafe(_TOKEN_BYTES)
    listener = _listen(host, port)
    bound = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    sys.stderr.write(f"wherein: serving http://{shown}:{bound}{_PATH}\n")
    if token_file is None:
        sys.stderr.write(f"wherein: clients send the header Authorization: Bearer {token}\n")
    sys.stderr.flush()
    _run(state, listener, host, bound, token)


def _run(state: ServerState, listener: socket.socket, host: str, port: int, token: str) -> None:
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    from wherein.mcp.server import build_server

    names = {"127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host}
    hosts = sorted(f"{name}:{port}" for name in names)
    security = TransportSecuritySettings(
        allowed_hosts=hosts, allowed_origins=[f"http://{name}" for name in hosts]
    )
    app = build_server(state).streamable_http_app(
        streamable_http_path=_PATH, transport_security=security, host=host
    )
    config = uvicorn.Config(
        _TokenCheck(app, token),
        log_level="warning",
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=_GRACE_S,
    )
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        state.stopping.set()


def _read_token(path: Path) -> str:
    try:
        token = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        message = f"the token file {str(path)!r} cannot be read"
        raise PathError(message, hint="write a long random text of ASCII into it") from error
    if len(token) < _MIN_TOKEN_CHARS:
        message = f"the token in {str(path)!r} has {len(token)} characters"
        raise UsageError(message, hint=f"use at least {_MIN_TOKEN_CHARS}")
    return token


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        message = f"cannot listen on {host}:{port}: {error.strerror}"
        raise UsageError(
            message, hint="another program has the port? --port 0 takes a free one"
        ) from error
    listener.listen(_BACKLOG)
    return listener


class _TokenCheck:
    """Refuses every request without the token before anything else looks at it."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._is_allowed(scope):
            await self._app(scope, receive, send)
            return
        from starlette.responses import PlainTextResponse

        headers = {"WWW-Authenticate": "Bearer"}
        await PlainTextResponse("token missing or wrong", 401, headers)(scope, receive, send)

    def _is_allowed(self, scope: Scope) -> bool:
        if scope["type"] != "http":
            return False
        scheme, _, given = dict(scope["headers"]).get(b"authorization", b"").partition(b" ")
        is_bearer = scheme.lower() == b"bearer"  # a scheme has no letter case
        return is_bearer and hmac.compare_digest(given.strip(), self._expected)
