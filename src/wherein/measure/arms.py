"""The searchers a replay compares: what each is given, and what it must say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from wherein.measure.replay_trees import TextTree
from wherein.measure.requests import Request

__all__ = ["ARM_HELP", "Arm", "Found", "Opened"]

ARM_HELP: Mapping[str, str] = {
    "grep": "a scripted searcher: rarest-looking word first, narrows, up to six rounds",
    "glossary": "the same with the team's glossary",
    "lexical": "Wherein's terms and names alone",
    "semantic": "Wherein's vectors alone",
    "history": "earlier commits alone",
    "hybrid": "all of Wherein, as search answers",
}
"""The built-in arms. The user's own are read by `arms_own.parse_arm`."""


@dataclass(frozen=True, slots=True)
class Opened:
    """One file a searcher put before the asker."""

    path: str
    tokens: int
    """Model tokens of what it showed of the file."""
    round: int
    """The round it came in, from 1."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a searcher answered to one request."""

    opened: tuple[Opened, ...]
    """Files in the order it showed them; each once."""
    overhead_tokens: tuple[int, ...] = ()
    """Tokens of each round's own output (lists of files), by round."""
    n_rounds: int = 1
    seconds: float = 0.0
    """CPU or wall time of the search itself."""
    note: str = ""
    """Why there is no answer, when there is none (``timed out``…)."""
    words: tuple[str, ...] = field(default=())
    """What was searched in each round."""

    @property
    def paths(self) -> list[str]:
        """The files in the order shown."""
        return [item.path for item in self.opened]


class Arm(Protocol):
    """A searcher."""

    @property
    def name(self) -> str:
        """What the report calls it."""
        ...

    def prepare(self, tree: TextTree) -> None:
        """Get ready to search ``tree``; called when the tree changes."""
        ...

    def search(self, request: Request) -> Found:
        """Answer one request in the tree prepared last."""
        ...

    def close(self) -> None:
        """Remove what `prepare` made."""
        ...


def until_target(found: Found, targets: Sequence[str]) -> tuple[int, int] | None:
    """Return the tokens and the rounds spent until a target was shown, None when none was."""
    wanted = set(targets)
    tokens = 0
    for item in found.opened:
        tokens += item.tokens
        if item.path in wanted:
            return tokens + sum(found.overhead_tokens[: item.round]), item.round
    return None
