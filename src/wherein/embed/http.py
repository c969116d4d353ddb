"""Posts JSON to a model server: retries what may pass, and keeps the key quiet."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPMessage, HTTPResponse
from math import inf
from typing import IO, cast
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, quote, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import msgspec

from wherein.embed.deadline import Deadline, TimedHandler, TimedRequest, TimedSecureHandler
from wherein.errors import ProviderError

__all__ = ["Endpoint", "JsonClient", "RefusedError"]

_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses that another try may not meet again; 529 is the overload answer of some providers."""

_MOST_RESPONSE_BYTES = 256 << 20
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0

_REST_S = 20.0
"""After a failure that retrying did not mend, so long nothing is sent: an agent that searches ten
times must not wait ten times for a server that is down."""

_LONGEST_WAIT_S = 3600.0
_READ_BYTES = 1 << 16

_SHOWN_BYTES = 1 << 12
"""Of an answer that is quoted: more than is shown, or a key at the cut would be shown in part."""

_AS_THEY_ARE = ":/?#[]@!$&'()*+,;=%"

_LATE = "the answer did not end in time"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model server is, and how it wants to be asked."""

    url: str
    """Base URL up to and with the version (``http://localhost:11434/v1``)."""
    model: str = ""
    api_key: str = field(default="", repr=False)
    timeout_s: float = 60.0
    attempts: int = 5
    """Tries of one request, the first one counted."""
    requests_per_minute: float = 0.0
    """0 is no limit of our own."""
    proxies: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def host(self) -> str:
        """The host that text would be sent to."""
        return urlsplit(self.url).hostname or ""

    @property
    def is_readable(self) -> bool:
        """Whether what is sent can be read on the way."""
        return urlsplit(self.url).scheme == "http"


class RefusedError(ProviderError):
    """The server does not take this request, however often it is sent."""

    def __init__(self, message: str, *, hint: str = "", status: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.status = status


class _NoRedirect(HTTPRedirectHandler):
    """A redirect would carry the text, and the key, to a host that nobody named."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Follow nothing."""


class JsonClient:
    """Sends requests to one endpoint, one at a time.

    Args:
        endpoint: Where to.
        pause: Waits that many seconds; `time.sleep` unless a test counts the waits.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        pause: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        parts = _split(endpoint.url)
        if parts.username or parts.password or parts.query:
            message = f"the address of {endpoint.host!r} holds a name, a key or a query"
            hint = "give the bare URL; keys come from the environment (WHEREIN_API_KEY)"
            raise ProviderError(message, hint=hint)
        if parts.scheme not in ("http", "https") or not endpoint.host:
            message = f"{endpoint.url!r} is no http address"
            raise ProviderError(message, hint="give a URL such as http://localhost:11434/v1#model")
        self.endpoint = endpoint
        self.n_requests = 0
        self._pause = pause
        self._clock = clock
        self._next_at = 0.0
        self._failure: tuple[float, ProviderError] | None = None
        self._opener = build_opener(
            ProxyHandler(dict(endpoint.proxies)),
            _NoRedirect(),
            TimedHandler(),
            TimedSecureHandler(),
        )

    def post(
        self, path: str, payload: Mapping[str, object], *, seconds: float | None = None
    ) -> object:
        """Return the decoded answer of ``POST url/path``.

        Args:
            path: Below the endpoint's URL.
            payload: What to send.
            seconds: How long somebody waits for it, all tries together; None waits for them all.

        Raises:
            RefusedError: The server refuses.
            ProviderError: The server fails as often as it may be tried, or has just done so.
        """
        if self._failure is not None and self._clock() < self._failure[0]:
            raise self._failure[1]
        try:
            answer = self._post(path, _encoded(payload), seconds)
        except RefusedError:
            raise
        except ProviderError as error:
            self._failure = (self._clock() + _REST_S, error)
            raise
        self._failure = None
        return answer

    def _post(self, path: str, body: bytes, seconds: float | None) -> object:
        end = inf if seconds is None else self._clock() + seconds
        for attempt in range(1, self.endpoint.attempts + 1):
            self._wait_for_turn()
            try:
                return self._send(path, body, max(end - self._clock(), 0.05))
            except _PassingError as error:
                waiting = min(_FIRST_PAUSE_S * 2 ** (attempt - 1), _LONGEST_PAUSE_S)
                waiting = max(waiting, min(error.retry_after_s, _LONGEST_PAUSE_S))
                is_last = attempt >= min(self.endpoint.attempts, error.attempts)
                if is_last or self._clock() + waiting >= end:
                    times = "once" if attempt == 1 else f"{attempt} times"
                    message = f"{self.endpoint.host!r} failed {times}: {error}"
                    raise ProviderError(message, hint=error.hint) from error
                self._pause(waiting)
        message = f"{self.endpoint.attempts!r} attempts are none"
        raise ProviderError(message, hint="allow at least one attempt")

    def _wait_for_turn(self) -> None:
        if self.endpoint.requests_per_minute > 0:
            now = self._clock()
            if now < self._next_at:
                self._pause(self._next_at - now)
            spacing = 60.0 / self.endpoint.requests_per_minute
            self._next_at = max(now, self._next_at) + spacing

    def _send(self, path: str, body: bytes, seconds: float) -> object:
        """Send once; a failure that may pass raises `_PassingError`."""
        timeout = min(self.endpoint.timeout_s, seconds, _LONGEST_WAIT_S)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.endpoint.api_key:
            headers["Authorization"] = f"Bearer {self.endpoint.api_key}"
        url = f"{quote(self.endpoint.url.rstrip('/'), _AS_THEY_ARE)}/{path}"
        request = TimedRequest(url, body, headers, method="POST")  # scheme checked above
        self.n_requests += 1
        with Deadline(timeout) as request.deadline:
            try:
                data = self._exchange(request, timeout)
            except (_PassingError, RefusedError) as error:
                if not request.deadline.is_over:
                    raise
                raise _PassingError(_LATE) from error
        if request.deadline.is_over:
            raise _PassingError(_LATE)
        return self._decoded(data)

    def _exchange(self, request: TimedRequest, timeout: float) -> bytes:
        """Return the body of the answer."""
        try:
            with self._opener.open(request, timeout=timeout) as response:
                data = self._read(cast("HTTPResponse", response), self._clock() + timeout)
        except HTTPError as error:
            with error:
                raise self._refusal(error) from error
        except URLError as error:
            if isinstance(error.reason, ConnectionRefusedError):
                raise _NobodyError from error
            raise _PassingError(self._quietly(str(error.reason))) from error
        except (OSError, HTTPException) as error:
            raise _PassingError(self._quietly(str(error)) or type(error).__name__) from error
        except ValueError as error:  # an address that has no meaning, ours or one it moved to
            message = f"{self.endpoint.host!r} cannot be asked: {self._quietly(str(error))}"
            raise RefusedError(message, hint="check the URL") from error
        return data

    def _decoded(self, data: bytes) -> object:
        if len(data) > _MOST_RESPONSE_BYTES:
            message = f"the answer of {self.endpoint.host!r} is too large"
            raise RefusedError(message, hint="send fewer texts at once", status=413)
        try:
            return msgspec.json.decode(data)
        except (msgspec.DecodeError, RecursionError) as error:
            said = self._quietly(data[:_SHOWN_BYTES].decode("utf-8", "replace"))[:80]
            message = f"{self.endpoint.host!r} did not answer in JSON: {said!r}"
            raise ProviderError(message, hint="check the URL, with its version path") from error

    def _read(self, response: HTTPResponse, end: float) -> bytes:
        """Return the whole answer; a server that drips it slowly is out of time too."""
        blocks: list[bytes] = []
        n_bytes = 0
        while block := response.read1(_READ_BYTES):
            blocks.append(block)
            n_bytes += len(block)
            if n_bytes > _MOST_RESPONSE_BYTES:
                break
            if self._clock() >= end:
                raise TimeoutError(_LATE)
        if n_bytes <= _MOST_RESPONSE_BYTES and response.length:
            message = f"the answer ended {response.length} bytes early"
            raise HTTPException(message)
        return b"".join(blocks)

    def _refusal(self, error: HTTPError) -> Exception:
        """Return what a status means."""
        body = b""
        with suppress(OSError, HTTPException):  # a connection that is reset: the status says enough
            body = error.read(_SHOWN_BYTES)
        said = self._quietly(body.decode("utf-8", "replace"))[:300]
        if error.code in _PASSING:
            after = _seconds(error.headers.get("Retry-After", ""))
            return _PassingError(f"status {error.code} {said}".strip(), retry_after_s=after)
        hints = {
            401: "check the key in the environment",
            403: "check the key in the environment",
            404: "check the URL and the model's name",
            413: "send fewer or shorter texts at once",
        }
        moved = "redirects are not followed; give the final address"
        hint = hints.get(error.code, moved if 300 <= error.code < 400 else "")
        message = f"{self.endpoint.host!r} refused with status {error.code}: {said}"
        return RefusedError(message, hint=hint, status=error.code)

    def _quietly(self, text: str) -> str:
        """Return ``text`` on one line without the key, should the server echo it."""
        key = self.endpoint.api_key
        return " ".join((text.replace(key, "[key]") if key else text).split())


def _encoded(payload: Mapping[str, object]) -> bytes:
    """Return JSON; half characters, which a name of a file may hold, are no text anywhere else."""
    try:
        return msgspec.json.encode(payload)
    except UnicodeEncodeError:
        return json.dumps(payload).encode()


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        parts.netloc.encode("ascii")
        _ = parts.port
    except ValueError:
        message = "the model's address is no http address"  # not shown: it may hold a key
        hint = "give a URL such as http://localhost:11434/v1#model (a host in its ASCII form)"
        raise ProviderError(message, hint=hint) from None
    return parts


class _PassingError(Exception):
    attempts = 1_000_000
    """Tries at most, whatever the endpoint allows."""
    hint = "what was done is kept; try again later"

    def __init__(self, what: str, *, retry_after_s: float = 0.0) -> None:
        super().__init__(what)
        self.retry_after_s = retry_after_s


class _NobodyError(_PassingError):
    attempts = 2
    hint = "start the model's server, or mend the address in the setting"

    def __init__(self) -> None:
        super().__init__("nobody listens there (connection refused)")


def _seconds(retry_after: str) -> float:
    """Return a ``Retry-After`` value in seconds; 0 when there is none or it is a date gone by."""
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0
