"""What is said before text leaves the machine: where to, how much, and what it may cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from wherein.errors import ProviderError

__all__ = ["Announce", "Announcer", "Departure", "ModelAccess", "Notice", "is_loopback"]

_CHARS_PER_TOKEN = 3.3
"""Of source code under the byte-pair tokenizers of the paid models; prose has about 4.5."""

_LIST_PRICES = {
    "text-embedding-3-small": 0.02,
    "text-embedding-3-large": 0.13,
    "text-embedding-ada-002": 0.10,
    "voyage-code-3": 0.18,
    "voyage-3-large": 0.18,
    "voyage-3.5": 0.06,
    "voyage-3.5-lite": 0.02,
    "mistral-embed": 0.10,
    "codestral-embed": 0.15,
    "rerank-2.5": 0.05,
    "rerank-2.5-lite": 0.02,
}
"""Dollars for a million tokens as the providers listed them in 2025; an estimate, not a quote."""


@dataclass(frozen=True, slots=True)
class Departure:
    """Text about to be sent to another machine."""

    host: str
    model: str
    n_chars: int
    """Characters that are sent at most: a whole repository's when it is indexed."""
    n_tokens: int
    dollars: float | None
    """At list price; None when the price is not known."""
    is_readable: bool = False
    """True over plain http, where text and key can be read on the way."""

    def sentence(self) -> str:
        """Return it as the user is told."""
        if self.dollars is None:
            cost = "price not known"
        else:
            cost = f"about ${self.dollars:.2f}" if self.dollars >= 0.01 else "less than $0.01"
        model = f" (model {self.model})" if self.model else ""
        way = " over http, which can be read on the way" if self.is_readable else ""
        return (
            f"source text leaves this machine for {self.host}{model}{way}: "
            f"up to about {self.n_tokens:,} tokens, {cost}"
        )


Announce = Callable[[Departure], None]
"""Tells the user of a departure; it raises when the user does not want it."""


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """What reaching a model elsewhere takes; the faces give it, the core looks up nothing itself.

    Nothing of it is stored, shown or handed to another process.
    """

    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Where keys and proxies are looked up."""
    announce: Announce | None = None
    """Told before text leaves this machine; without one, none leaves."""


_MUCH_CHARS = 330_000
"""About 100,000 tokens: so much is told of each time, less only the first time."""


class Notice:
    """Tells of the first departure to a model, and of each large one, once for a repository.

    Args:
        announce: Whom to tell.
        path: Gives the file that remembers what was told; where it cannot be written, the next
            process tells again.
    """

    def __init__(self, announce: Announce, path: Callable[[], Path]) -> None:
        self._announce = announce
        self._path = path

    def __call__(self, departure: Departure) -> None:
        """Tell of ``departure`` unless that was done before; raises what the announcement does."""
        line = f"{departure.host} {departure.model}"
        path = self._path()
        told: list[str] = []
        with suppress(OSError):
            told = path.read_text("utf-8", "replace").splitlines()
        if line in told and departure.n_chars < _MUCH_CHARS:
            return
        self._announce(departure)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{item}\n" for item in dict.fromkeys([*told, line])), "utf-8")


class Announcer:
    """Sees to it that somebody is told of text before it leaves for a model.

    Args:
        host: Where the model is; what goes to this machine itself is told to nobody.
        model: Its name there.
        announce: Whom to tell.
        is_readable: Whether it is sent over plain http.

    Raises:
        ProviderError: The host is another machine and there is nobody to tell.
    """

    def __init__(
        self, host: str, model: str, announce: Announce | None, *, is_readable: bool = False
    ) -> None:
        self._host = host
        self._model = model
        self._is_readable = is_readable
        self._announce = None if is_loopback(host) else announce
        self._expected_chars = 0
        self._told_chars = -1
        if announce is None and not is_loopback(host):
            message = f"text would leave this machine for {host!r} without notice"
            raise ProviderError(message, hint="name the endpoint in your own settings")

    def expect(self, n_chars: int) -> None:
        """Be told how many characters a run will send at most; each run is announced."""
        self._expected_chars = n_chars
        self._told_chars = -1

    def tell(self, n_chars: int) -> None:
        """Announce a departure before it, and a larger one again; raises what that raises."""
        total = max(n_chars, self._expected_chars)
        if self._announce is not None and total > self._told_chars:
            found = departure(self._host, self._model, total, is_readable=self._is_readable)
            self._announce(found)
            self._told_chars = total


def is_loopback(host: str) -> bool:
    """Whether text sent to ``host`` stays on this machine: ``localhost``, or such an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name: 127.0.0.1.example.org is anybody's
        return host == "localhost"


def departure(host: str, model: str, n_chars: int, *, is_readable: bool = False) -> Departure:
    """Return what there is to say of sending ``n_chars`` characters."""
    tokens = round(n_chars / _CHARS_PER_TOKEN)
    price = _LIST_PRICES.get(model.rsplit("/", 1)[-1])
    dollars = None if price is None else tokens * price / 1_000_000
    return Departure(host, model, n_chars, tokens, dollars, is_readable)
