"""Tries lines of a glossary on requests later than all they were mined from; keeps those that help.

The control is the scripted grep searcher alone; a line has helped when a changed file is opened in
fewer rounds with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from wherein.budget import count_tokens
from wherein.glossary import GlossaryLine, format_line, said_terms, words_of
from wherein.measure.arms_grep import MAX_ROUNDS, GrepArm, search_words
from wherein.measure.glossary_mining import MinedPair
from wherein.measure.report import interval_of
from wherein.measure.requests import PLAIN, Request
from wherein.metrics import Interval

__all__ = ["ROUNDS", "Gain", "KeptLine", "Trial", "alone", "gain_of", "keep_lines", "value_of"]

ROUNDS = 3
"""Within three searches an agent has found it or begins to wander."""

_MAX_TRIED = 3000
"""Pairs tried, most promising first."""


@dataclass(frozen=True, slots=True)
class KeptLine:
    """A line with what it gained alone."""

    line: GlossaryLine
    origin: str
    n_said: int
    n_hits: int
    n_asked: int
    """Requests of the trial that say it."""
    n_helped: int
    n_harmed: int
    gain: Interval
    """Of the value of a request, alone against grep, over all requests of the trial."""
    tokens: int
    known_from: int = 0
    """Seconds since 1970; requests up to then say nothing of the line."""


@dataclass(frozen=True, slots=True)
class Gain:
    """What a whole glossary gives over some requests."""

    group: str
    n: int
    without: float
    """Share of requests whose changed file is opened within `ROUNDS` by grep alone."""
    with_glossary: float
    difference: Interval
    mean_rounds_without: float
    mean_rounds_with: float


class Trial:
    """Answers requests by the scripted searcher with one glossary or another.

    Args:
        parts: Requests with the arm prepared with the tree that is searched for them. A line that
            was not known before a request says from when on it is.
    """

    def __init__(self, parts: Sequence[tuple[GrepArm, Sequence[Request]]]) -> None:
        self.requests = tuple(request for _, requests in parts for request in requests)
        self._arms = [arm for arm, requests in parts for _ in requests]
        self._terms = [said_terms(request.text) for request in self.requests]
        self._plain = [self._rounds(at, None) for at in range(len(self.requests))]

    def asked(self, terms: frozenset[str], known_from: int = 0) -> list[int]:
        """Return the places of the requests that hold all of ``terms`` and are later."""
        return [
            at
            for at, (request, own) in enumerate(zip(self.requests, self._terms, strict=True))
            if terms <= own and request.time > known_from
        ]

    def plain_rounds(self, at: int) -> int | None:
        """Return the round in which grep alone opens a changed file."""
        return self._plain[at]

    def rounds(self, at: int, lines: Sequence[GlossaryLine]) -> int | None:
        """Return the round in which grep with ``lines`` opens a changed file."""
        spoken = [line for line in lines if said_terms(line.said) <= self._terms[at]]
        return self._rounds(at, words_of(spoken)) if spoken else self._plain[at]

    def _rounds(self, at: int, glossary: Mapping[str, Sequence[str]] | None) -> int | None:
        request = self.requests[at]
        targets = set(request.targets)
        for step in self._arms[at].rounds(search_words(request.text, glossary)):
            if targets.intersection(step.opened):
                return step.number
        return None


def value_of(rounds: int | None) -> float:
    """Return what finding it in so many rounds is worth: 1 at once, 0 after the third."""
    return max(0.0, (ROUNDS + 1 - rounds) / ROUNDS) if rounds is not None else 0.0


def keep_lines(
    pairs: Iterable[MinedPair], trial: Trial, *, max_tokens: int
) -> tuple[KeptLine, ...]:
    """Return the lines that help, best first, within a budget of model tokens.

    A line must help alone (mean above zero, interval not below it), and it must still help after
    those that were taken before it.
    """
    tried = [alone(pair, trial) for pair in list(pairs)[:_MAX_TRIED]]
    tried = [one for one in tried if one.gain.mean > 0 and one.gain.low >= 0]
    tried.sort(key=lambda one: (-one.gain.mean, -one.n_hits, one.line.said, one.line.name))
    taken: list[KeptLine] = []
    values = {at: value_of(trial.plain_rounds(at)) for at in range(len(trial.requests))}
    spent = 0
    for one in tried:
        if spent + one.tokens > max_tokens:
            continue
        new = {
            at: value_of(trial.rounds(at, _known([*taken, one], trial.requests[at].time)))
            for at in trial.asked(said_terms(one.line.said), one.known_from)
        }
        if sum(new.values()) <= sum(values[at] for at in new):
            continue
        values.update(new)
        taken.append(one)
        spent += one.tokens
    return tuple(taken)


def _known(lines: Sequence[KeptLine], time: int) -> list[GlossaryLine]:
    return [kept.line for kept in lines if kept.known_from < time]


def alone(pair: MinedPair, trial: Trial) -> KeptLine:
    """Return what the pair does alone, with no other line."""
    asked = trial.asked(pair.terms, pair.known_from)
    differences = [0.0] * len(trial.requests)
    for at in asked:
        with_line = value_of(trial.rounds(at, [pair.line]))
        differences[at] = with_line - value_of(trial.plain_rounds(at))
    gain = Interval(0.0, 0.0, 0.0, len(differences))
    if any(differences):
        gain = interval_of(differences)
    return KeptLine(
        line=pair.line,
        origin=pair.origin,
        n_said=pair.n_said,
        n_hits=pair.n_hits,
        n_asked=len(asked),
        n_helped=sum(difference > 0 for difference in differences),
        n_harmed=sum(difference < 0 for difference in differences),
        gain=gain,
        tokens=count_tokens(format_line(pair.line)) + 1,
        known_from=pair.known_from,
    )


def gain_of(lines: Sequence[GlossaryLine], trial: Trial) -> tuple[Gain, ...]:
    """Return what ``lines`` give over all requests of the trial, plain and named ones apart."""
    kinds = dict.fromkeys(request.kind for request in trial.requests)
    groups = ["all", *sorted(kinds, key=lambda kind: kind != PLAIN)]
    found: list[Gain] = []
    for group in groups:
        places = [
            at
            for at, request in enumerate(trial.requests)
            if group == "all" or request.kind == group
        ]
        if not places:
            continue
        before = [trial.plain_rounds(at) for at in places]
        after = [trial.rounds(at, lines) for at in places]
        found.append(_gain(group, before, after))
    return tuple(found)


def _gain(group: str, before: Sequence[int | None], after: Sequence[int | None]) -> Gain:
    old, new = ([float(_is_found(one)) for one in side] for side in (before, after))
    n = len(old)
    return Gain(
        group=group,
        n=n,
        without=sum(old) / n,
        with_glossary=sum(new) / n,
        difference=interval_of([b - a for a, b in zip(old, new, strict=True)]),
        mean_rounds_without=sum(_cost(one) for one in before) / n,
        mean_rounds_with=sum(_cost(one) for one in after) / n,
    )


def _is_found(rounds: int | None) -> bool:
    return rounds is not None and rounds <= ROUNDS


def _cost(rounds: int | None) -> int:
    return rounds if rounds is not None else MAX_ROUNDS
