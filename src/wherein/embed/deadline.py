"""Ends a whole HTTP exchange in time: a socket's own timeout starts anew with every byte."""

from __future__ import annotations

import socket
from contextlib import suppress
from functools import partial
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from threading import Timer
from urllib.request import HTTPHandler, HTTPSHandler, Request

__all__ = ["Deadline", "TimedHandler", "TimedRequest", "TimedSecureHandler"]


class Deadline:
    """Shuts a connection when its time is over, whatever is waited for. Use as a context.

    Args:
        seconds: From now until then.
    """

    def __init__(self, seconds: float) -> None:
        self.is_over = False
        """Whether the time ran out: what was read is not the whole answer."""
        self._socket: socket.socket | None = None
        self._timer = Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Deadline:
        """Start the clock."""
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the clock."""
        self._timer.cancel()
        self._socket = None

    def hold(self, connected: socket.socket) -> None:
        """Be told what to shut."""
        self._socket = connected
        if self.is_over:
            self._end()

    def _end(self) -> None:
        self.is_over = True
        connected = self._socket
        if connected is not None:
            with suppress(OSError):  # it is closed already
                socket.socket.shutdown(connected, socket.SHUT_RDWR)  # beneath any encryption


class TimedRequest(Request):
    """A request with the deadline of its exchange."""

    deadline: Deadline


class _Connection(HTTPConnection):
    def __init__(self, host: str, *, deadline: Deadline, timeout: float) -> None:
        super().__init__(host, timeout=timeout)
        self._deadline = deadline

    def connect(self) -> None:
        super().connect()
        self._deadline.hold(self.sock)


class _SecureConnection(HTTPSConnection):
    def __init__(self, host: str, *, deadline: Deadline, timeout: float) -> None:
        super().__init__(host, timeout=timeout)
        self._deadline = deadline

    def connect(self) -> None:
        super().connect()
        self._deadline.hold(self.sock)


class TimedHandler(HTTPHandler):
    """Opens a `TimedRequest`."""

    def http_open(self, req: Request) -> HTTPResponse:
        """Return the answer once its headers are there."""
        assert isinstance(req, TimedRequest)  # noqa: S101 - the client sends no others
        return self.do_open(partial(_Connection, deadline=req.deadline), req)  # type: ignore[arg-type]


class TimedSecureHandler(HTTPSHandler):
    """Opens a `TimedRequest` to an ``https`` address."""

    def https_open(self, req: Request) -> HTTPResponse:
        """Return the answer once its headers are there."""
        assert isinstance(req, TimedRequest)  # noqa: S101 - the client sends no others
        return self.do_open(partial(_SecureConnection, deadline=req.deadline), req)  # type: ignore[arg-type]
