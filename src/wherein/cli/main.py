"""The ``wherein`` command: finds the tool, runs it, and ends with 0 found, 1 nothing, 2 error."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from wherein.errors import UsageError, WhereinError, near_name_hint

__all__ = ["main"]

_FOUND, _NOTHING, _FAILED, _INTERRUPTED = 0, 1, 2, 130

_KEPT = "what was indexed so far is kept; the next call goes on from there"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    # Our products are small: numpy's threads cost more than they save, up to ten times.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from wherein.cli.terminal import make_tolerant

    make_tolerant()
    try:
        code = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        _close_quietly()
        return _FOUND
    except KeyboardInterrupt:
        _complain("interrupted", _KEPT)
        return _INTERRUPTED
    except WhereinError as error:
        _complain(error.message, error.hint)
        return _FAILED
    except OSError as error:
        _complain(*_explain_os_error(error))
        return _FAILED
    except Exception:  # a fault of ours must not end with 1, which says that nothing was found
        import traceback

        traceback.print_exc()
        _complain("this is a fault of wherein itself", "please report it with the lines above")
        return _FAILED
    return code


def _run(words: list[str]) -> int:
    if not words or words[0] in {"-h", "--help", "help"}:
        return _help(words[1:])
    if words[0] in {"-V", "--version", "version"}:
        from wherein import __version__

        sys.stdout.write(f"wherein {__version__}\n")
        return _FOUND
    from wherein.cli.commands import command_names, get_command

    command = get_command(words[0])
    if command is None:
        names = command_names()
        message = f"no command {words[0]!r}"
        fallback = f'commands are {", ".join(names)}; to search: wherein search "{words[0]}"'
        raise UsageError(message, hint=near_name_hint(words[0], names, fallback=fallback))
    from wherein.cli.run import run_command

    return run_command(command, words[1:])


def _help(words: list[str]) -> int:
    from wherein.cli.commands import get_command
    from wherein.cli.help import command_help, overview

    command = get_command(words[0]) if words else None
    sys.stdout.write(command_help(command) if command else overview())
    return _FOUND


def _explain_os_error(error: OSError) -> tuple[str, str]:
    import errno

    hints = {
        errno.ENOSPC: "the disk is full; free some space, or set WHEREIN_HOME to another disk",
        errno.EDQUOT: "the quota is used up; set WHEREIN_HOME to another place",
        errno.EACCES: "no permission; check the owner, or set WHEREIN_HOME to another folder",
        errno.EROFS: "set WHEREIN_HOME to a folder that can be written",
    }
    where = f" {error.filename!r}" if error.filename else ""
    return f"{(error.strerror or str(error)).lower()}{where}", hints.get(error.errno or 0, "")


def _complain(message: str, hint: str) -> None:
    with suppress(OSError):
        sys.stdout.flush()
    with suppress(OSError):
        sys.stderr.write(f"wherein: {message}\n")
        if hint:
            sys.stderr.write(f"hint: {hint}\n")
        sys.stderr.flush()


def _close_quietly() -> None:
    """Point standard output nowhere, so that Python's own flush at exit says nothing."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
