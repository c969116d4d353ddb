"""Runs a program and reads its output while it runs."""

from __future__ import annotations

import os
import selectors
import subprocess  # noqa: TID251 - a process that `start` started
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from wherein.errors import ProgramTimeoutError
from wherein.external.start import READ_BYTES, kill, program_name, start

__all__ = ["Running", "stream"]


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
        assert pipe is not None  # noqa: S101 - `start` always makes the pipe
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
    process = start(
        argv,
        cwd,
        has_stdin=False,
        env_extra=env_extra,
        stderr=subprocess.DEVNULL,
        timeout_s=timeout_s,
    )
    try:
        yield Running(process, program_name(argv), timeout_s)
    finally:
        kill(process)
