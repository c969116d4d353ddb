"""Starts a program with a time limit and returns what it said.

Every process of Wherein goes through here: an argument list (never a shell), standard input closed,
a process group of its own that is killed as a whole, and an environment without the variables that
would point git somewhere else.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess  # noqa: TID251 - the one place that starts processes
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from wherein.errors import MissingProgramError, PathError, ProgramTimeoutError

__all__ = ["CANCEL_POLL_S", "Completed", "Running", "clean_environment", "run", "stream"]

READ_BYTES = 1 << 16
"""One read of a pipe: the capacity of a Linux pipe, so one read empties it."""

MAX_STDERR_BYTES = 1 << 16
"""More of a program's complaints is not kept: a repository must not fill our memory with them."""

KEPT_GIT_VARIABLES = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"})
"""Where the user's own git settings are; all other GIT_ variables aim git at another repository,
index or program."""

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
    """True when the time limit passed; only when asked to `run` with ``keep_partial``."""
    is_report_full: bool = False
    """True when the program was stopped because its report grew beyond the limit; only when asked
    to `run` with ``files_report``."""


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return our environment without what redirects git, in the C locale, with ``extra`` added."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if (not name.startswith("GIT_") or name in KEPT_GIT_VARIABLES)
        and not name.startswith("LC_")
        and name not in {"LANGUAGE", "RIPGREP_CONFIG_PATH"}
    }
    environment["LC_ALL"] = "C"
    if extra:
        environment.update(extra)
    return environment


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
    files_report: bool = False,
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
        files_report: Its standard error is a report of many small writes: it goes into a file in
            memory, for each write to a pipe would wake us up; beyond ``max_stderr_bytes`` the
            program is stopped.
        is_cancelled: Asked while waiting; True stops the program as the time limit does.

    Raises:
        MissingProgramError: The program is not installed.
        PathError: ``cwd`` is not a folder we may enter.
        ProgramTimeoutError: It did not end in time.
    """
    report = _memory_file() if files_report else None
    pipes = _Pipes(max_output_bytes, max_stderr_bytes, report, is_cancelled)
    try:
        process = _start(
            argv,
            cwd,
            has_stdin=stdin is not None,
            env_extra=env_extra,
            stderr=subprocess.PIPE if report is None else report.fileno(),
        )
        try:
            deadline = time.monotonic() + timeout_s
            out, err, is_truncated = _communicate(process, stdin, deadline, pipes)
            pipes.check_report()
            if is_truncated:
                _kill(process)
            return Completed(process.wait(), out, err, is_truncated)
        except _ReportFullError:
            return Completed(-signal.SIGKILL, *pipes.taken(), is_report_full=True)
        except _DeadlineError:
            if keep_partial:
                return Completed(-signal.SIGKILL, *pipes.taken(), is_timed_out=True)
            message = f"{_name(argv)} did not answer within {timeout_s:g} s"
            raise ProgramTimeoutError(message) from None
        finally:
            _kill(process)
    finally:
        if report is not None:
            report.close()


def _memory_file() -> IO[bytes]:
    """Return an empty file that no name leads to, in memory where the system has such files."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("report"), "w+b", buffering=0)
    import tempfile

    return tempfile.TemporaryFile(buffering=0)


class Running:
    """A program whose output is read while it runs: iterate to get blocks of bytes."""

    def __init__(self, process: subprocess.Popen[bytes], name: str, timeout_s: float) -> None:
        self._process = process
        self._name = name
        self._timeout_s = timeout_s
        self._deadline = time.monotonic() + timeout_s

    def __iter__(self) -> Iterator[bytes]:
        """Yield blocks of standard output as they come.

        Raises:
            ProgramTimeoutError: The time limit passed.
        """
        pipe = self._process.stdout
        assert pipe is not None  # noqa: S101 - _start always makes the pipe
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while True:
                if not selector.select(max(0.0, self._deadline - time.monotonic())):
                    message = f"{self._name} did not answer within {self._timeout_s:g} s"
                    raise ProgramTimeoutError(message)
                block = os.read(pipe.fileno(), READ_BYTES)
                if not block:
                    return
                yield block

    def records(self, separator: bytes = b"\0") -> Iterator[bytes]:
        """Yield the output's records, without their separator; a last one may lack it."""
        rest = b""
        for block in self:
            *whole, rest = (rest + block).split(separator)
            yield from whole
        if rest:
            yield rest

    def wait(self) -> int:
        """Return the exit code once the output has been read to its end."""
        remaining = max(0.1, self._deadline - time.monotonic())
        try:
            return self._process.wait(remaining)
        except subprocess.TimeoutExpired:
            message = f"{self._name} did not end within {self._timeout_s:g} s"
            raise ProgramTimeoutError(message) from None


@contextmanager
def stream(
    argv: Sequence[str | bytes],
    *,
    cwd: Path | str,
    timeout_s: float,
    env_extra: Mapping[str, str] | None = None,
) -> Generator[Running, None, None]:
    """Run a program and read its output while it runs; leaving the block kills it.

    Its standard error is dropped.

    Raises:
        MissingProgramError: The program is not installed.
    """
    process = _start(argv, cwd, has_stdin=False, env_extra=env_extra, stderr=subprocess.DEVNULL)
    try:
        yield Running(process, _name(argv), timeout_s)
    finally:
        _kill(process)


class _DeadlineError(Exception):
    """The time limit passed while waiting for a pipe."""


class _ReportFullError(Exception):
    """The program wrote more into its report than is wanted."""


def _name(argv: Sequence[str | bytes]) -> str:
    return os.fsdecode(argv[0])


def _start(
    argv: Sequence[str | bytes],
    cwd: Path | str,
    *,
    has_stdin: bool,
    env_extra: Mapping[str, str] | None,
    stderr: int,
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            argv,
            cwd=cwd,
            env=clean_environment(env_extra),
            stdin=subprocess.PIPE if has_stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
            bufsize=0,
        )
    except FileNotFoundError as error:
        if not Path(cwd).is_dir():
            message = f"{str(cwd)!r} is not a folder"
            raise PathError(message) from error
        message = f"{_name(argv)} is not installed"
        raise MissingProgramError(
            message, hint=f"install {_name(argv)} or put it on PATH"
        ) from error
    except (NotADirectoryError, PermissionError) as error:
        if not os.access(cwd, os.X_OK) or not Path(cwd).is_dir():
            message = f"{str(cwd)!r} is not a folder we may enter"
            raise PathError(message) from error
        message = f"{_name(argv)} cannot be started: {error.strerror}"
        raise MissingProgramError(message, hint=f"check the {_name(argv)} on PATH") from error


class _Pipes:
    """What a program has written so far, within the limits."""

    def __init__(
        self,
        max_output_bytes: int | None,
        max_stderr_bytes: int,
        report: IO[bytes] | None,
        is_cancelled: Callable[[], bool] | None,
    ) -> None:
        self._out: list[bytes] = []
        self._err: list[bytes] = []
        self._report = report
        self._max_output_bytes = max_output_bytes
        self._n_output_bytes = 0
        self._err_left = max_stderr_bytes
        self._is_cancelled = is_cancelled

    def add_output(self, block: bytes) -> None:
        self._out.append(block)
        self._n_output_bytes += len(block)

    def add_complaint(self, block: bytes) -> None:
        self._err.append(block[: self._err_left])
        self._err_left -= len(self._err[-1])

    def is_full(self) -> bool:
        return self._max_output_bytes is not None and self._n_output_bytes > self._max_output_bytes

    def taken(self) -> tuple[bytes, bytes]:
        err = b"".join(self._err)
        if self._report is not None:
            err = os.pread(self._report.fileno(), self._err_left, 0)
        return b"".join(self._out)[: self._max_output_bytes], err

    def check_report(self) -> None:
        """Raise `_ReportFullError` when the report is longer than wanted."""
        if self._report is not None and os.fstat(self._report.fileno()).st_size > self._err_left:
            raise _ReportFullError

    def select(
        self, selector: selectors.BaseSelector, deadline: float
    ) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for a pipe; raise `_DeadlineError` when time is up or nobody waits any more."""
        is_polling = self._is_cancelled is not None or self._report is not None
        while True:
            remaining = max(0.0, deadline - time.monotonic())
            slice_s = min(remaining, CANCEL_POLL_S) if is_polling else remaining
            ready = selector.select(slice_s)
            self.check_report()
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
                pipe = key.fileobj
                if pipe is process.stdin:
                    unwritten = _feed(selector, process.stdin, unwritten)
                    continue
                block = os.read(key.fd, READ_BYTES)
                if not block:
                    selector.unregister(pipe)
                elif pipe is process.stderr:
                    pipes.add_complaint(block)
                else:
                    pipes.add_output(block)
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


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the process group and close our ends."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()
