"""Processes of our own that do dangerous work, spoken to in frames over pipes.

Whatever kills a worker costs the job it was at and nothing else. It is a fork where this process
has one thread (a command on Linux), which saves the imports and whatever else is loaded, and else a
fresh interpreter: a fork of threads may hang on a lock that nobody will ever release. A frame is
its length in four bytes, then its bytes.
"""

from __future__ import annotations

import importlib
import io
import os
import selectors
import signal
import struct
import subprocess  # noqa: TID251 - the parent's side of a worker; see `external.run`
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NoReturn

from wherein.external.start import clean_environment

__all__ = ["Worker", "can_fork", "read_frame", "wait_for", "write_frame"]

_LENGTH = struct.Struct("<I")
_READ_BYTES = 1 << 18

_ONE_THREAD: Mapping[str, str] = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
"""Workers share the cores by number; a pool of numeric threads in each would fight over them."""


def write_frame(file: IO[bytes], data: bytes) -> None:
    """Write one frame and flush it."""
    file.write(_LENGTH.pack(len(data)))
    file.write(data)
    file.flush()


def read_frame(file: IO[bytes]) -> bytes | None:
    """Return the next frame, None when the other side is gone."""
    head = file.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    data = file.read(_LENGTH.unpack(head)[0])
    return data if len(data) == _LENGTH.unpack(head)[0] else None


def can_fork() -> bool:
    """Return whether a worker will be a fork: this process is known to have one thread."""
    try:
        return len(list(Path("/proc/self/task").iterdir())) == 1
    except OSError:  # no Linux
        return False


def _interpreter(module: str) -> subprocess.Popen[bytes]:
    """Start a fresh interpreter that runs ``main()`` of ``module``."""
    package = Path(__file__).resolve().parents[2]
    code = f"import sys; sys.path.append({str(package)!r}); from {module} import main; main()"
    # -P: the current folder may be a repository, whose modules must not be imported.
    return subprocess.Popen(
        [sys.executable, "-P", "-c", code],
        env=clean_environment(_ONE_THREAD),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        bufsize=0,
    )


class _Fork:
    """A copy of this process that runs ``main()`` of a module: what `Worker` needs of a `Popen`."""

    def __init__(self, module: str) -> None:
        jobs, jobs_end = os.pipe()
        answers_end, answers = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            _run_forked(module, jobs, answers)
        os.close(jobs)
        os.close(answers)
        self.stdin: IO[bytes] = io.FileIO(jobs_end, "w")
        self.stdout: IO[bytes] = io.FileIO(answers_end)
        self._status: int | None = None

    def poll(self) -> int | None:
        """Return its status once it has ended, None while it runs."""
        return self._wait(os.WNOHANG)

    def wait(self) -> int | None:
        """Wait for its end and return its status."""
        return self._wait(0)

    def _wait(self, options: int) -> int | None:
        if self._status is None:
            pid, status = os.waitpid(self.pid, options)
            self._status = status if pid else None
        return self._status


def _close_all_but_standard() -> None:
    """Close what is open; the limit says nothing, it may be a thousand million files."""
    for number in [int(path.name) for path in Path("/proc/self/fd").iterdir()]:
        if number > 2:  # one of them was the listing's own
            with suppress(OSError):
                os.close(number)


def _run_forked(module: str, jobs: int, answers: int) -> NoReturn:
    """Become a worker.

    Nothing of the parent's is given back, only closed: its locks, databases and half-written output
    stay its own, and other workers' pipes end when it ends.
    """
    code = 1
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        silence = os.open(os.devnull, os.O_WRONLY)
        for source, target in ((jobs, 0), (answers, 1), (silence, 2)):
            os.dup2(source, target)
        _close_all_but_standard()
        sys.stdin = os.fdopen(0)
        importlib.import_module(module).main()
        code = 0
    finally:
        os._exit(code)


class Worker:
    """A running worker: send frames, and read those that have come back.

    Args:
        module: Module whose ``main()`` the worker runs; its standard input and output are the
            pipes.
    """

    def __init__(self, module: str) -> None:
        self._process = _Fork(module) if can_fork() else _interpreter(module)
        assert self._process.stdin is not None  # noqa: S101 - both pipes were asked for
        assert self._process.stdout is not None  # noqa: S101
        self._input = self._process.stdin
        self._output = self._process.stdout
        self._received = bytearray()

    def fileno(self) -> int:
        """Return the descriptor to wait on for answers."""
        return self._output.fileno()

    def send(self, data: bytes) -> bool:
        """Send one frame; return False when the worker is gone."""
        unwritten = memoryview(_LENGTH.pack(len(data)) + data)
        try:
            while unwritten:
                unwritten = unwritten[os.write(self._input.fileno(), unwritten) :]
        except (BrokenPipeError, OSError, ValueError):
            return False
        return True

    def receive(self) -> tuple[list[bytes], bool]:
        """Read once; return the frames that are complete, and whether the worker still lives."""
        try:
            block = os.read(self.fileno(), _READ_BYTES)
        except (OSError, ValueError):
            block = b""
        self._received += block
        return self._frames(), bool(block)

    def _frames(self) -> list[bytes]:
        frames: list[bytes] = []
        start = 0
        while len(self._received) - start >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._received, start)
            end = start + _LENGTH.size + length
            if len(self._received) < end:
                break
            frames.append(bytes(memoryview(self._received)[start + _LENGTH.size : end]))
            start = end
        if start:
            del self._received[:start]
        return frames

    def close(self) -> None:
        """End the worker now, whatever it is at."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._input, self._output):
            with suppress(BrokenPipeError):
                pipe.close()


def wait_for(workers: Sequence[Worker], timeout_s: float | None) -> list[Worker]:
    """Return the workers that have said something or died, none after ``timeout_s``."""
    with selectors.DefaultSelector() as selector:
        for worker in workers:
            selector.register(worker, selectors.EVENT_READ, worker)
        return [key.data for key, _ in selector.select(timeout_s)]
