"""What is said before text leaves the machine: where to, how much, and what it may cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Announce", "Departure", "estimate_tokens", "list_price"]

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
}
"""Dollars for a million tokens as the providers listed them in 2025; an estimate, not a quote."""


@dataclass(frozen=True, slots=True)
class Departure:
    """Text about to be sent to another machine for the first time."""

    host: str
    model: str
    n_chars: int
    """Characters known to be sent now; a whole repository's when the caller has said so."""
    n_tokens: int
    dollars: float | None
    """At list price; None when the price is not known."""

    def sentence(self) -> str:
        """Return it as the user is told."""
        cost = "price not known" if self.dollars is None else f"about ${self.dollars:.2f}"
        model = f" (model {self.model})" if self.model else ""
        return (
            f"source text leaves this machine for {self.host}{model}: "
            f"about {self.n_tokens:,} tokens, {cost}"
        )


Announce = Callable[[Departure], None]
"""Tells the user of a departure; it raises when the user does not want it."""


def estimate_tokens(n_chars: int) -> int:
    """Return about how many model tokens that much source text is."""
    return round(n_chars / _CHARS_PER_TOKEN)


def list_price(model: str) -> float | None:
    """Return dollars for a million tokens of a known model."""
    return _LIST_PRICES.get(model.rsplit("/", 1)[-1])


def departure(host: str, model: str, n_chars: int) -> Departure:
    """Return what there is to say of sending ``n_chars`` characters."""
    tokens, price = estimate_tokens(n_chars), list_price(model)
    dollars = None if price is None else tokens * price / 1_000_000
    return Departure(host, model, n_chars, tokens, dollars)
