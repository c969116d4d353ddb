"""Runs a program to its end, with a time limit, and returns what it said."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess  # noqa: TID251 - a process that `start` started
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from wherein.errors import ProgramTimeoutError
from wherein.external.start import READ_BYTES, kill, program_name, start

__all__ = ["CANCEL_POLL_S", "MAX_STDERR_BYTES", "Completed", "run"]

MAX_STDERR_BYTES = 1 << 16
"""More of a program's complaints is not kept: a repository must not fill our memory with them."""

CANCEL_POLL_S = 0.05
"""How often somebody who may cancel is asked; 20 wake-ups a second cost nothing measurable."""


@dataclass(frozen=True, slots=True)
class Completed:
    """What a finished program returned."""

    returncode: int
    stdout: bytes
    stderr: bytes
    is_truncated: bool = False
    """True when the output reached its limit and the program was stopped there."""
    is_timed_out: bool = False
    """True when the time limit passed or nobody waits any more; from `run` only with
    ``keep_partial``."""
    is_report_full: bool = False
    """True when the program was stopped because it wrote more on standard error than was wanted;
    only from `capture`, when asked."""


def run(
    argv: Sequence[str | bytes],
    *,
    cwd: Path | str,
    timeout_s: float,
    stdin: bytes | None = None,
    max_output_bytes: int | None = None,
    env_extra: Mapping[str, str] | None = None,
    max_stderr_bytes: int = MAX_STDERR_BYTES,
    keep_partial: bool = False,
    is_cancelled: Callable[[], bool] | None = None,
) -> Completed:
    """Run a program to its end.

    Args:
        argv: Program and arguments.
        cwd: Folder it runs in.
        timeout_s: Seconds after which its whole process group is killed.
        stdin: What it reads; None closes its input.
        max_output_bytes: Stop the program when it has written so much; None keeps all.
        env_extra: Variables added to `clean_environment`.
        max_stderr_bytes: More of its complaints is dropped.
        keep_partial: Return what it wrote when the time limit passes, instead of raising.
        is_cancelled: Asked while waiting; True stops the program as the time limit does.

    Raises:
        MissingProgramError: The program is not installed.
        PathError: ``cwd`` is not a folder we may enter.
        ProgramTimeoutError: It did not end in time.
    """
    pipes = _Pipes(max_output_bytes, max_stderr_bytes, is_cancelled)
    process = start(
        argv,
        cwd,
        has_stdin=stdin is not None,
        env_extra=env_extra,
        stderr=subprocess.PIPE,
        timeout_s=timeout_s,
    )
    try:
        deadline = time.monotonic() + timeout_s
        out, err, is_truncated = _communicate(process, stdin, deadline, pipes)
        if is_truncated:
            kill(process)
        return Completed(process.wait(), out, err, is_truncated)
    except _DeadlineError:
        if keep_partial:
            return Completed(-signal.SIGKILL, *pipes.taken(), is_timed_out=True)
        message = f"{program_name(argv)} did not answer within {timeout_s:g} s"
        raise ProgramTimeoutError(message) from None
    finally:
        kill(process)


class _DeadlineError(Exception):
    """The time limit passed while waiting for a pipe."""


class _Pipes:
    """What a program has written so far, within the limits."""

    def __init__(
        self,
        max_output_bytes: int | None,
        max_stderr_bytes: int,
        is_cancelled: Callable[[], bool] | None,
    ) -> None:
        self._out: list[bytes] = []
        self._err: list[bytes] = []
        self._max_output_bytes = max_output_bytes
        self._n_output_bytes = 0
        self._err_left = max_stderr_bytes
        self._is_cancelled = is_cancelled

    def add(self, block: bytes, *, is_complaint: bool) -> None:
        if is_complaint:
            self._err.append(block[: self._err_left])
            self._err_left -= len(self._err[-1])
        else:
            self._out.append(block)
            self._n_output_bytes += len(block)

    def is_full(self) -> bool:
        return self._max_output_bytes is not None and self._n_output_bytes > self._max_output_bytes

    def taken(self) -> tuple[bytes, bytes]:
        return b"".join(self._out)[: self._max_output_bytes], b"".join(self._err)

    def select(
        self, selector: selectors.BaseSelector, deadline: float
    ) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for a pipe; raise `_DeadlineError` when time is up or nobody waits any more."""
        while True:
            remaining = max(0.0, deadline - time.monotonic())
            slice_s = min(remaining, CANCEL_POLL_S) if self._is_cancelled else remaining
            ready = selector.select(slice_s)
            if ready:
                return ready
            if slice_s == remaining or (self._is_cancelled is not None and self._is_cancelled()):
                raise _DeadlineError


def _communicate(
    process: subprocess.Popen[bytes],
    stdin: bytes | None,
    deadline: float,
    pipes: _Pipes,
) -> tuple[bytes, bytes, bool]:
    """Feed and read all pipes without blocking on one of them."""
    unwritten = memoryview(stdin or b"")
    with selectors.DefaultSelector() as selector:
        _register(selector, process, has_stdin=stdin is not None)
        while selector.get_map():
            for key, _ in pipes.select(selector, deadline):
                if key.fileobj is process.stdin:
                    unwritten = _feed(selector, process.stdin, unwritten)
                    continue
                block = os.read(key.fd, READ_BYTES)
                if not block:
                    selector.unregister(key.fileobj)
                pipes.add(block, is_complaint=key.fileobj is process.stderr)
                if pipes.is_full():
                    return *pipes.taken(), True
    _wait(process, deadline)
    return *pipes.taken(), False


def _register(
    selector: selectors.BaseSelector, process: subprocess.Popen[bytes], *, has_stdin: bool
) -> None:
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            selector.register(pipe, selectors.EVENT_READ)
    if has_stdin and process.stdin is not None:
        os.set_blocking(process.stdin.fileno(), False)
        selector.register(process.stdin, selectors.EVENT_WRITE)


def _feed(
    selector: selectors.BaseSelector, pipe: IO[bytes] | None, unwritten: memoryview
) -> memoryview:
    """Write what the pipe takes now; close it when all is written or nobody reads."""
    if pipe is None:
        return unwritten
    try:
        unwritten = unwritten[os.write(pipe.fileno(), unwritten[:READ_BYTES]) :]
    except BlockingIOError:
        return unwritten
    except BrokenPipeError:
        unwritten = unwritten[:0]
    if not unwritten:
        selector.unregister(pipe)
        pipe.close()
    return unwritten


def _wait(process: subprocess.Popen[bytes], deadline: float) -> None:
    try:
        process.wait(max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise _DeadlineError from None
