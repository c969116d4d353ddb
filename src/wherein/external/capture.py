"""Runs a program whose output is read once it has ended.

Ripgrep writes piece by piece, and each piece in a pipe wakes its reader up: 70 times for half a
megabyte. A file in memory wakes nobody. Where the system has no such files, pipes have to do.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess  # noqa: TID251 - a process that `start` started
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from wherein.external.run import CANCEL_POLL_S, MAX_STDERR_BYTES, Completed, run
from wherein.external.start import READ_BYTES, kill, start

__all__ = ["Limits", "capture"]


@dataclass(frozen=True, slots=True)
class Limits:
    """When a program is stopped before its end, and how much of its output is kept."""

    timeout_s: float
    """After so many seconds its whole process group is killed."""
    output_bytes: int | None = None
    """It is stopped when it has written so much; None keeps all."""
    stderr_bytes: int = MAX_STDERR_BYTES
    """More of what it writes on standard error is dropped."""
    stops_at_stderr: bool = False
    """True: it is stopped when it has written more than ``stderr_bytes``."""
    is_cancelled: Callable[[], bool] | None = None
    """Asked while waiting; True stops the program as the time limit does."""


def capture(argv: Sequence[str | bytes], *, cwd: Path | str, limits: Limits) -> Completed:
    """Run a program to its end or to one of its limits and return what it wrote until then.

    Raises:
        MissingProgramError: The program is not installed.
        PathError: ``cwd`` is not a folder we may enter.
    """
    if not _has_memory_files():
        return _through_pipes(argv, cwd, limits)
    with _memory_file("output") as out, _memory_file("complaints") as err:
        process = start(
            argv,
            cwd,
            has_stdin=False,
            env_extra=None,
            stdout=out,
            stderr=err,
            timeout_s=limits.timeout_s,
        )
        try:
            _limit_files(process.pid, limits)
            end = _wait(process, limits, out, err)
        finally:
            kill(process)
        return replace(
            end,
            stdout=_read(out, limits.output_bytes),
            stderr=_read(err, limits.stderr_bytes),
        )


@lru_cache(maxsize=1)
def _has_memory_files() -> bool:
    """Return whether the system has files in memory and can say when a process ends."""
    if sys.platform != "linux":
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
        os.close(os.memfd_create("probe"))
    except (AttributeError, OSError):
        return False
    return True


@contextmanager
def _memory_file(name: str) -> Generator[int, None, None]:
    """Open an empty file that lies in memory and that no name leads to."""
    descriptor = os.memfd_create(name)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _limit_files(pid: int, limits: Limits) -> None:
    """Have the system end the program when it writes more, between two looks of ours."""
    if limits.output_bytes is None or sys.platform != "linux":
        return
    import resource

    most = max(limits.output_bytes, limits.stderr_bytes) + READ_BYTES
    with suppress(OSError, ValueError):  # gone already, or a lower limit of the user's
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))


def _wait(process: subprocess.Popen[bytes], limits: Limits, out: int, err: int) -> Completed:
    """Wait for the end or a limit; return which it was."""
    deadline = time.monotonic() + limits.timeout_s
    descriptor = os.pidfd_open(process.pid)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        while True:
            is_over = bool(poll.poll(min(CANCEL_POLL_S, max(0.0, limits.timeout_s)) * 1000))
            stopped = _limit_reached(limits, out, err)
            if stopped is not None:
                return stopped
            if is_over:
                return Completed(process.wait(), b"", b"")
            is_late = time.monotonic() >= deadline
            if is_late or (limits.is_cancelled is not None and limits.is_cancelled()):
                return Completed(-signal.SIGKILL, b"", b"", is_timed_out=True)
    finally:
        os.close(descriptor)


def _limit_reached(limits: Limits, out: int, err: int) -> Completed | None:
    if limits.output_bytes is not None and os.fstat(out).st_size > limits.output_bytes:
        return Completed(-signal.SIGKILL, b"", b"", is_truncated=True)
    if limits.stops_at_stderr and os.fstat(err).st_size > limits.stderr_bytes:
        return Completed(-signal.SIGKILL, b"", b"", is_report_full=True)
    return None


def _read(descriptor: int, limit: int | None) -> bytes:
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, size if limit is None else min(size, limit), 0)


def _through_pipes(argv: Sequence[str | bytes], cwd: Path | str, limits: Limits) -> Completed:
    done = run(
        argv,
        cwd=cwd,
        timeout_s=limits.timeout_s,
        max_output_bytes=limits.output_bytes,
        max_stderr_bytes=limits.stderr_bytes + 1,
        keep_partial=True,
        is_cancelled=limits.is_cancelled,
    )
    is_full = limits.stops_at_stderr and len(done.stderr) > limits.stderr_bytes
    return replace(done, stderr=done.stderr[: limits.stderr_bytes], is_report_full=is_full)
