"""How far a build is, and when it must stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Clock", "Progress", "ProgressCallback"]

_REPORT_EVERY_S = 0.1
"""A screen shows no more; reporting each of 100,000 files would cost a second."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a build is."""

    stage: str
    """``listing``, ``reading``, ``indexing`` or ``writing``, or what a measurement does."""
    files_done: int
    files_total: int
    """0 while it is not known."""
    chunks: int
    seconds_left: float | None
    """Estimate from the bytes done so far, None while there is none."""
    unit: str = "files"
    """What is counted."""


ProgressCallback = Callable[[Progress], None]


class Clock:
    """Counts what is done, reports it, and knows when the time is up.

    Args:
        report: Told how far the build is; None tells nobody. It may raise to stop the build.
        deadline: `time.monotonic` after which no new work is begun; None means none.
    """

    def __init__(
        self, report: ProgressCallback | None = None, deadline: float | None = None
    ) -> None:
        self._report = report
        self.deadline = deadline
        self._stage = "listing"
        self._total_files = 0
        self._total_bytes = 0
        self._done_files = 0
        self._done_bytes = 0
        self._chunks = 0
        self._started = self._reported = time.monotonic()

    @property
    def is_over(self) -> bool:
        """True when the time is up."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the time is up, None when there is no limit."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def allow(self, seconds: float) -> None:
        """Grant at least ``seconds`` from now: looking alone must not use up all the time."""
        if self.deadline is not None:
            self.deadline = max(self.deadline, time.monotonic() + seconds)

    def begin(self, stage: str, n_files: int, n_bytes: int) -> None:
        """Begin a stage of ``n_files`` files with ``n_bytes`` bytes."""
        self._stage = stage
        self._total_files, self._total_bytes = n_files, n_bytes
        self._done_files = self._done_bytes = 0
        self._started = time.monotonic()
        self._tell()

    def advance(self, n_files: int, n_bytes: int, n_chunks: int = 0) -> None:
        """Note that files are done."""
        self._done_files += n_files
        self._done_bytes += n_bytes
        self._chunks += n_chunks
        is_last = self._done_files >= self._total_files
        if is_last or time.monotonic() - self._reported >= _REPORT_EVERY_S:
            self._tell()

    def wait(self) -> None:
        """Note that time passes in which nothing gets done: who is told may want to stop."""
        if time.monotonic() - self._reported >= _REPORT_EVERY_S:
            self._tell()

    def _tell(self) -> None:
        self._reported = time.monotonic()
        if self._report is None:
            return
        left: float | None = None
        if self._done_bytes:
            rate = (self._reported - self._started) / self._done_bytes
            left = max(0, self._total_bytes - self._done_bytes) * rate
        self._report(Progress(self._stage, self._done_files, self._total_files, self._chunks, left))
