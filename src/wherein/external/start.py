"""Starts programs and ends them.

An argument list (never a shell), standard input closed unless there is something to say, a process
group of its own that is killed as a whole, and an environment without the variables that would
point git somewhere else.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess  # noqa: TID251 - the one place that starts processes
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from wherein.errors import MissingProgramError, PathError

__all__ = ["READ_BYTES", "clean_environment", "kill", "no_git_above", "program_name", "start"]

READ_BYTES = 1 << 16
"""One read of a pipe: the capacity of a Linux pipe, so one read empties it."""

KEPT_GIT_VARIABLES = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"})
"""Where the user's own git settings are; all other GIT_ variables aim git at another repository,
index or program."""


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


def no_git_above(folder: Path) -> dict[str, str]:
    """Return the variables that keep git from finding a repository around ``folder``.

    A copy of a tree may lie, as temporary folders may, in the repository that it is a copy of.
    """
    return {"GIT_CEILING_DIRECTORIES": os.fspath(folder.parent)}


def program_name(argv: Sequence[str | bytes]) -> str:
    """Return what a program is called in messages."""
    return os.fsdecode(argv[0])


def start(
    argv: Sequence[str | bytes],
    cwd: Path | str,
    *,
    has_stdin: bool,
    env_extra: Mapping[str, str] | None,
    stderr: int,
    timeout_s: float,
    stdout: int = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    """Start a program; its output comes through a pipe without a buffer of ours, or into a file.

    Nobody ends it after ``timeout_s`` when we are killed ourselves, so the system ends it once it
    has used as much CPU as all cores have in that time (on Linux).

    Raises:
        MissingProgramError: The program is not installed.
        PathError: ``cwd`` is not a folder we may enter.
    """
    try:
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=clean_environment(env_extra),
            stdin=subprocess.PIPE if has_stdin else subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            bufsize=0,
        )
    except FileNotFoundError as error:
        if not Path(cwd).is_dir():
            message = f"{str(cwd)!r} is not a folder"
            raise PathError(message) from error
        message = f"{program_name(argv)} is not installed"
        raise MissingProgramError(
            message, hint=f"install {program_name(argv)} or put it on PATH"
        ) from error
    except (NotADirectoryError, PermissionError) as error:
        if not os.access(cwd, os.X_OK) or not Path(cwd).is_dir():
            message = f"{str(cwd)!r} is not a folder we may enter"
            raise PathError(message) from error
        message = f"{program_name(argv)} cannot be started: {error.strerror}"
        raise MissingProgramError(
            message, hint=f"check the {program_name(argv)} on PATH"
        ) from error
    _limit_cpu(process.pid, timeout_s)
    return process


def _limit_cpu(pid: int, timeout_s: float) -> None:
    if sys.platform == "linux":
        import resource

        most_s = 1 + math.ceil(timeout_s * (os.cpu_count() or 1))
        with suppress(OSError, ValueError):  # gone already, or a lower limit of the user's
            resource.prlimit(pid, resource.RLIMIT_CPU, (most_s, most_s))


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the process group and close our ends."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()
