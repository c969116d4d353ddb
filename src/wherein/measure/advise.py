"""Says honestly whether a repository needs more than grep."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wherein.tools.context import Progress, ToolContext

if TYPE_CHECKING:
    from wherein.measure.report import Outcome, ReplayReport
    from wherein.metrics import Interval

__all__ = ["Advice", "ArmGain", "advise", "judge"]

GREP_IS_ENOUGH = "grep is enough"
WHEREIN_HELPS = "wherein helps"
NOT_CLEAR = "no clear difference"
UNKNOWN = "not known"

_ARMS = ("grep", "lexical", "semantic", "history", "hybrid")
_ROUNDS = 3
"""Within three searches an agent has found it or begins to wander."""

_ENOUGH_RATE = 0.9
_SMALL_TREE = 100
"""In fewer files ten are so large a part that a ranked list proves little."""

_CLEAR_GAIN = 0.05
"""Less gain than one request in twenty is not worth an index, however sure it is."""

_MIN_REQUESTS = 30
"""Fewer requests give intervals of a third and more: then nothing is claimed."""


@dataclass(frozen=True, slots=True)
class ArmGain:
    """What one searcher would add to grep."""

    arm: str
    rate: float
    """Share of requests with a changed file among its first ten."""
    gain: Interval
    """Less grep within three rounds, request by request."""
    one_file_gain: float | None
    """The same over commits that changed one file."""
    median_tokens: float | None
    seconds: float
    """CPU time of one request, on average: what an answer costs, the index aside."""


@dataclass(frozen=True, slots=True)
class Advice:
    """The answer to: do I need this here?"""

    verdict: str
    """``grep is enough``, ``wherein helps``, ``no clear difference`` or ``not known``."""
    reasons: tuple[str, ...]
    repository: str
    history: str
    n_files: int
    n_requests: int
    named_share: float
    """Share of requests that name code."""
    in_words_share: float
    """Share of requests of which a word stands in a changed file: grep can find no others."""
    grep_rate: float
    """Share that grep's script answers within three rounds."""
    grep_rounds: float
    grep_tokens: float | None
    gains: tuple[ArmGain, ...]
    seconds_to_index: float
    """CPU time of the replay in all, indexing included: an upper bound of the first index."""
    notes: tuple[str, ...] = ()


def advise(context: ToolContext, repository: str = "", *, commits: int = 150) -> Advice:
    """Ask whether this repository needs more than grep, before relying on it.

    Replays the repository's own commits and compares what grep by script finds within three rounds
    with what each searcher has among its first ten. Says when grep is enough: small repositories,
    requests that name the code, changes to one file.

    Raises:
        PathError: There is no git repository.
        ExternalError: Git failed.
    """
    from wherein.measure.replay import family_of
    from wherein.measure.replay_run import replay_repository
    from wherein.measure.replay_start import ReplayPlan
    from wherein.measure.requests import Wanted

    root = context.resolve_folder(repository) if repository else context.root

    def tell(step: str, n_done: int, n_total: int) -> None:
        context.stop_if_cancelled()
        context.on_progress(Progress(step, n_done, n_total, 0, None))

    started = time.process_time()
    without = {"semantic"} if context.settings.model == "none" else set[str]()
    arms = tuple(arm for arm in _ARMS if arm not in without)
    plan = ReplayPlan(wanted=Wanted(n=commits), arms=arms, with_sizes=False)
    report = replay_repository(
        root,
        context.settings,
        plan,
        family=family_of(context, root),
        progress=tell,
        access=context.access,
    )
    return judge(report, time.process_time() - started)


def judge(report: ReplayReport, seconds: float = 0.0) -> Advice:
    """Return the advice that a replay with grep and further arms gives."""
    n = report.n_requests
    gains = tuple(_gain(report, arm) for arm in report.arms if arm != "grep") if n else ()
    grep = report.figure("grep")
    rate = _share(report, [_is_found_by_grep(outcome) for outcome in report.outcomes])
    verdict, reasons = _verdict(report, rate, gains)
    return Advice(
        verdict=verdict,
        reasons=tuple(reasons),
        repository=report.repository,
        history=report.history,
        n_files=report.n_files,
        n_requests=n,
        named_share=_share(report, [o.request.kind == "named" for o in report.outcomes]),
        in_words_share=_share(report, [o.is_in_words for o in report.outcomes]),
        grep_rate=rate,
        grep_rounds=grep.mean_rounds if grep is not None else 0.0,
        grep_tokens=grep.median_tokens if grep is not None else None,
        gains=gains,
        seconds_to_index=seconds,
        notes=report.notes,
    )


def _verdict(
    report: ReplayReport, rate: float, gains: tuple[ArmGain, ...]
) -> tuple[str, list[str]]:
    if report.n_requests < _MIN_REQUESTS:
        return UNKNOWN, [f"only {report.n_requests} commits can be requests: too few to tell"]
    best = max(gains, key=lambda gain: gain.gain.mean)
    reasons = [
        f"grep by script finds a changed file within {_ROUNDS} rounds for {rate:.0%} of "
        f"{report.n_requests} requests in {report.n_files} source files",
        f"{best.arm} has one among its first ten for {best.rate:.0%}: "
        f"{best.gain.mean:+.0%} ({best.gain.low:+.0%} to {best.gain.high:+.0%})",
    ]
    six = report.figure("grep")
    if report.n_files < _SMALL_TREE and six is not None and six.within_rounds[6] >= _ENOUGH_RATE:
        reasons.append(
            f"with {report.n_files} source files the tree is small: six rounds of grep find one "
            f"for {six.within_rounds[6]:.0%}"
        )
        return GREP_IS_ENOUGH, reasons
    if best.one_file_gain is not None:
        reasons.append(f"for commits of one file the difference is {best.one_file_gain:+.0%}")
    if best.gain.low >= _CLEAR_GAIN:
        return WHEREIN_HELPS, reasons
    if rate >= _ENOUGH_RATE or best.gain.high <= _CLEAR_GAIN or best.gain.mean <= 0:
        return GREP_IS_ENOUGH, reasons
    return NOT_CLEAR, reasons


def _gain(report: ReplayReport, arm: str) -> ArmGain:
    from wherein.measure.report import interval_of

    pairs = [(_is_in_ten(outcome, arm), outcome) for outcome in report.outcomes]
    differences = [float(hit) - float(_is_found_by_grep(outcome)) for hit, outcome in pairs]
    single = [
        difference
        for difference, (_, outcome) in zip(differences, pairs, strict=True)
        if outcome.request.n_changed == 1
    ]
    figure = report.figure(arm)
    return ArmGain(
        arm=arm,
        rate=sum(hit for hit, _ in pairs) / len(pairs),
        gain=interval_of(differences),
        one_file_gain=sum(single) / len(single) if single else None,
        median_tokens=figure.median_tokens if figure is not None else None,
        seconds=figure.mean_seconds if figure is not None else 0.0,
    )


def _is_in_ten(outcome: Outcome, arm: str) -> bool:
    rank = outcome.ranks[arm]
    return rank is not None and rank <= 10


def _is_found_by_grep(outcome: Outcome) -> bool:
    rounds = outcome.rounds["grep"]
    return rounds is not None and rounds <= _ROUNDS


def _share(report: ReplayReport, marks: list[bool]) -> float:
    return sum(marks) / report.n_requests if report.n_requests else 0.0
