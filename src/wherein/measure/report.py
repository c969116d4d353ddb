"""Adds up what a replay found: rates by kind and arm, with intervals and paired differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

import numpy as np

from wherein.measure.arms import Found, until_target
from wherein.measure.fit import Collected, FitReport
from wherein.measure.requests import NAMED, PLAIN, Request
from wherein.metrics import Interval, hit_at, recall_at, reciprocal_rank

__all__ = [
    "CONTROL",
    "HITS",
    "ArmFigures",
    "Case",
    "Difference",
    "Miss",
    "Outcome",
    "RecallPoint",
    "ReplayReport",
    "SizeFigures",
    "figures",
    "fit_report",
    "interval_of",
    "make_report",
]

CONTROL = "grep"
"""What every other arm is compared with."""

HITS = (1, 5, 10)
_TOKEN_STEPS = (250, 500, 1000, 2000, 4000, 8000, 16000)
_ROUND_STEPS = (1, 3, 6)
_N_SAMPLES = 2000
_MAX_MISSES = 200
_SHOWN_PATHS = 10
_CHANGE_GROUPS: Mapping[str, Callable[[int], bool]] = {
    "1 file": lambda n: n == 1,
    "2-3 files": lambda n: n in {2, 3},
    "4+ files": lambda n: n >= 4,
}


@dataclass(frozen=True, slots=True)
class Case:
    """One request with what every arm answered, in the pool's paths."""

    request: Request
    found: Mapping[str, Found]
    is_in_words: bool = False
    """Whether a word of the request stands in a target, so that grep can find it at all."""


@dataclass(frozen=True, slots=True)
class RecallPoint:
    """The share of requests whose target was shown within so many tokens."""

    tokens: int
    share: float


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """One arm's figures over some requests."""

    arm: str
    group: str
    """``all``, ``named``, ``plain``, ``1 file``, ``2-3 files``, ``4+ files``."""
    n: int
    hit_at: Mapping[int, Interval]
    recall_at_10: float
    mrr: float
    mean_rounds: float
    """Rounds until a target was shown; all rounds used where none was."""
    within_rounds: Mapping[int, float]
    """Rounds to the share of requests whose target was shown by then."""
    median_tokens: float | None
    """Model tokens until a target was shown, over the requests where one was."""
    recall_by_tokens: tuple[RecallPoint, ...]
    mean_seconds: float


@dataclass(frozen=True, slots=True)
class Difference:
    """One arm less the control, request by request."""

    arm: str
    group: str
    k: int
    interval: Interval

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.interval.low > 0 or self.interval.high < 0


@dataclass(frozen=True, slots=True)
class SizeFigures:
    """hit@10 of one arm when the tree has a share of its files."""

    arm: str
    share: float
    n_files: int
    hit_at_10: float


@dataclass(frozen=True, slots=True)
class Miss:
    """A request that some arm did not answer in ten, with what each arm opened first."""

    request: Request
    opened: Mapping[str, tuple[str, ...]]
    ranks: Mapping[str, int | None]
    """Rank of the first target by arm, None when it was not found."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One request with where each arm had its first target, for further evaluation."""

    request: Request
    is_in_words: bool
    ranks: Mapping[str, int | None]
    rounds: Mapping[str, int | None]
    tokens: Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """All that a replay says."""

    repository: str
    mode: str
    """``snapshot`` or ``parent``."""
    history: str
    """How much history there is, in words; says when a clone is shallow."""
    snapshot: str
    n_files: int
    n_requests: int
    n_named: int
    n_plain: int
    skipped: Mapping[str, int]
    arms: tuple[str, ...]
    figures: tuple[ArmFigures, ...]
    differences: tuple[Difference, ...]
    sizes: tuple[SizeFigures, ...]
    misses: tuple[Miss, ...]
    outcomes: tuple[Outcome, ...]
    """Every request, oldest first."""
    notes: tuple[str, ...]
    cpu_seconds: float
    fit: FitReport | None = None
    """With ``--fit``: what weights fitted for the repository bring."""

    def figure(self, arm: str, group: str = "all") -> ArmFigures | None:
        """Return one arm's figures over one group."""
        return next((f for f in self.figures if f.arm == arm and f.group == group), None)


def make_report(
    cases: Sequence[Case],
    arms: Sequence[str],
    *,
    repository: str,
    mode: str,
    history: str,
    snapshot: str = "",
    n_files: int = 0,
    skipped: Mapping[str, int] | None = None,
    sizes: Sequence[SizeFigures] = (),
    notes: Sequence[str] = (),
    cpu_seconds: float = 0.0,
) -> ReplayReport:
    """Return the report over ``cases``."""
    groups = _groups(cases)
    return ReplayReport(
        repository=repository,
        mode=mode,
        history=history,
        snapshot=snapshot,
        n_files=n_files,
        n_requests=len(cases),
        n_named=sum(case.request.kind == NAMED for case in cases),
        n_plain=sum(case.request.kind == PLAIN for case in cases),
        skipped=dict(skipped or {}),
        arms=tuple(arms),
        figures=tuple(
            figures(arm, group, members) for group, members in groups.items() for arm in arms
        ),
        differences=_differences(groups, arms),
        sizes=tuple(sizes),
        misses=_misses(cases, arms),
        outcomes=tuple(_outcome(case, arms) for case in cases),
        notes=tuple(notes),
        cpu_seconds=cpu_seconds,
    )


def fit_report(repository: str, collected: Collected, fit: FitReport) -> ReplayReport:
    """Return the report of a fit: it has requests, and no arm."""
    kinds = collected.examples.categories
    return replace(
        make_report((), (), repository=repository, mode="parent", history=collected.history),
        n_requests=len(kinds),
        n_named=kinds.count(NAMED),
        n_plain=kinds.count(PLAIN),
        fit=fit,
    )


def figures(arm: str, group: str, cases: Sequence[Case]) -> ArmFigures:
    """Return one arm's figures over ``cases``, of which there is at least one."""
    answers = [(case.request, case.found[arm]) for case in cases]
    spent = [until_target(found, request.targets) for request, found in answers]
    rounds = [
        cost[1] if cost else found.n_rounds for cost, (_, found) in zip(spent, answers, strict=True)
    ]
    tokens = [cost[0] for cost in spent if cost is not None]
    return ArmFigures(
        arm=arm,
        group=group,
        n=len(answers),
        hit_at={k: interval_of(_hits(answers, k)) for k in HITS},
        recall_at_10=fmean(
            recall_at(found.paths, request.targets, 10) for request, found in answers
        ),
        mrr=fmean(reciprocal_rank(found.paths, request.targets, 10) for request, found in answers),
        mean_rounds=fmean(rounds),
        within_rounds={
            step: fmean(float(cost is not None and cost[1] <= step) for cost in spent)
            for step in _ROUND_STEPS
        },
        median_tokens=median(tokens) if tokens else None,
        recall_by_tokens=tuple(
            RecallPoint(step, sum(cost <= step for cost in tokens) / len(answers))
            for step in _TOKEN_STEPS
        ),
        mean_seconds=fmean(found.seconds for _, found in answers),
    )


def interval_of(values: Sequence[float]) -> Interval:
    """Return what `metrics.bootstrap_mean` does (Efron 1979), for the many samples of a report."""
    numbers = np.array(values, dtype=np.float64)
    draw = np.random.default_rng(0)
    chosen = draw.integers(0, len(numbers), size=(_N_SAMPLES, len(numbers)))
    means = np.sort(numbers[chosen].mean(axis=1))
    tail = int(0.025 * _N_SAMPLES)
    return Interval(fmean(values), float(means[tail]), float(means[-1 - tail]), len(values))


def _hits(answers: Sequence[tuple[Request, Found]], k: int) -> list[float]:
    return [hit_at(found.paths, request.targets, k) for request, found in answers]


def _groups(cases: Sequence[Case]) -> dict[str, list[Case]]:
    """Return the groups that have a member, in the order they are shown."""
    groups = {"all": list(cases)}
    for kind in (NAMED, PLAIN):
        groups[kind] = [case for case in cases if case.request.kind == kind]
    for name, admits in _CHANGE_GROUPS.items():
        groups[name] = [case for case in cases if admits(case.request.n_changed)]
    return {name: members for name, members in groups.items() if members}


def _differences(
    groups: Mapping[str, Sequence[Case]], arms: Sequence[str]
) -> tuple[Difference, ...]:
    found: list[Difference] = []
    if CONTROL not in arms:
        return ()
    for group, members in groups.items():
        for arm in arms:
            if arm == CONTROL:
                continue
            for k in HITS:
                ours = _hits([(case.request, case.found[arm]) for case in members], k)
                control = _hits([(case.request, case.found[CONTROL]) for case in members], k)
                paired = [a - b for a, b in zip(ours, control, strict=True)]
                found.append(Difference(arm, group, k, interval_of(paired)))
    return tuple(found)


def _misses(cases: Sequence[Case], arms: Sequence[str]) -> tuple[Miss, ...]:
    """Return the requests that some arm missed, those that most arms missed first."""
    found: list[Miss] = []
    for case in cases:
        ranks = {arm: _rank(case.found[arm], case.request) for arm in arms}
        if all(rank is not None and rank <= 10 for rank in ranks.values()):
            continue
        opened = {arm: tuple(case.found[arm].paths[:_SHOWN_PATHS]) for arm in arms}
        found.append(Miss(case.request, opened, ranks))
    found.sort(
        key=lambda miss: (
            -sum(rank is None or rank > 10 for rank in miss.ranks.values()),
            miss.request.time,
            miss.request.sha,
        )
    )
    return tuple(found[:_MAX_MISSES])


def _outcome(case: Case, arms: Sequence[str]) -> Outcome:
    spent = {arm: until_target(case.found[arm], case.request.targets) for arm in arms}
    return Outcome(
        request=case.request,
        is_in_words=case.is_in_words,
        ranks={arm: _rank(case.found[arm], case.request) for arm in arms},
        rounds={arm: cost[1] if cost is not None else None for arm, cost in spent.items()},
        tokens={arm: cost[0] if cost is not None else None for arm, cost in spent.items()},
    )


def _rank(found: Found, request: Request) -> int | None:
    targets = set(request.targets)
    return next((i for i, path in enumerate(found.paths, start=1) if path in targets), None)
