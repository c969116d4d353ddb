"""Processes of our own that do dangerous work, spoken to in frames over pipes.

A worker is a fresh interpreter (never a fork: the parent may have threads), so whatever kills it
costs the job it was at and nothing else. A frame is its length in four bytes, then its bytes.
"""

from __future__ import annotations

import os
import selectors
import signal
import struct
import subprocess  # noqa: TID251 - the parent's side of a worker; see `external.run`
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from wherein.external.start import clean_environment

__all__ = ["Worker", "read_frame", "wait_for", "write_frame"]

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


class Worker:
    """A running worker: send frames, and read those that have come back.

    Args:
        module: Module whose ``main()`` the worker runs; its standard input and output are the
            pipes.
    """

    def __init__(self, module: str) -> None:
        package = Path(__file__).resolve().parents[2]
        code = f"import sys; sys.path.append({str(package)!r}); from {module} import main; main()"
        # -P: the current folder may be a repository, whose modules must not be imported.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", code],
            env=clean_environment(_ONE_THREAD),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,
        )
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
