"""One search of one root while it runs: what ripgrep is asked, and what it said so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from wherein.errors import ExternalError, ProgramTimeoutError, WhereinError
from wherein.external.git import Git
from wherein.external.ripgrep import Ripgrep
from wherein.external.ripgrep_errors import complaints, explain_failure
from wherein.external.ripgrep_options import SearchOptions
from wherein.external.run import Completed
from wherein.tools.file_filter import FileFilter
from wherein.tools.file_paths import Place
from wherein.tools.globbing import GlobSet, anchor_globs
from wherein.tools.grep_formats import Format, choose_format, json_format
from wherein.tools.grep_found import Found, FoundFile
from wherein.tools.grep_json import JsonReader
from wherein.tools.grep_types import GrepRequest, OutputMode
from wherein.tools.walk_memory import KnownWalk, Walk, WalkMemory

__all__ = ["MAX_OUTPUT_BYTES", "Search"]

MAX_OUTPUT_BYTES = 64 << 20
"""Ripgrep's output kept in memory: 300,000 matches. Beyond it the search is run in the order of
paths and stopped when the answer is full."""

MAX_SINGLE_THREADED = 700
"""With so many files or fewer one thread takes a fifth less CPU than two; it is as fast with 300,
and 2 ms slower with 600."""


@dataclass(slots=True)
class Search:
    """One search of one root.

    The methods that search raise a `WhereinError` for what ripgrep refuses.
    """

    ripgrep: Ripgrep
    git: Git | None
    request: GrepRequest
    places: list[Place]
    deadline: float
    is_cancelled: Callable[[], bool]
    keep: FileFilter
    walks: WalkMemory
    walk: Walk
    known: KnownWalk | None
    """What an earlier search learned of ``walk``."""
    options: SearchOptions = field(init=False)
    """The request's, with globs as ripgrep is given them: tied to its folder."""
    format: Format = field(init=False)
    files: list[FoundFile] = field(default_factory=list[FoundFile])
    n_matches: int = 0
    """The sum of the files' counts, which are not counted one by one where ripgrep tells it."""
    n_searched: int = 0
    is_partial: bool = False
    is_total_exact: bool = True
    is_indexed: bool = False
    n_candidates: int = 0
    notes: list[str] = field(default_factory=list[str])
    skipped: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def __post_init__(self) -> None:
        """Prepare what is asked."""
        globs = [
            glob
            for place in self.places
            for glob in anchor_globs(
                self.request.options.globs, _folder_of(place), self.ripgrep.folder
            )
        ]
        self.options = replace(self.request.options, globs=tuple(dict.fromkeys(globs)))
        are_files_named = not all(place.is_folder for place in self.places)
        self.format = choose_format(self.request, are_files_named=are_files_named)

    @property
    def paths(self) -> list[str]:
        """The searched paths, relative to the root."""
        return [place.path for place in self.places]

    @property
    def remaining_s(self) -> float:
        """Seconds to the time limit."""
        return max(0.1, self.deadline - time.monotonic())

    @property
    def is_restricted(self) -> bool:
        """Whether globs or types take files out."""
        return bool(self.options.globs or self.options.types or self.options.excluded_types)

    @property
    def shows_plain_paths(self) -> bool:
        """Whether `shown` returns paths as they are."""
        return self.places[0].base == self.places[0].root

    def shown(self, path: str) -> str:
        """Return a path below the root as the answer names it."""
        return self.places[0].shown(path)

    def skip(self, reason: str, path: str) -> None:
        """Note that ``path`` is not searched."""
        self.skipped.setdefault(reason, []).append(path)

    def drop_ignored(self, paths: Iterable[str]) -> None:
        """Take back files that were found, since they are ignored."""
        dropped = set(paths)
        for file in self.files:
            if file.path in dropped:
                self.n_matches -= file.count
                self.skip("ignored", file.path)
        self.files = [file for file in self.files if file.path not in dropped]

    def arguments(self) -> tuple[str, ...]:
        """Return the options of a search of everything, besides the pattern's."""
        # Starting more threads may take longer than they save.
        n_files = self.walks.n_files.get(self.ripgrep.folder, 0)
        is_small = 0 < n_files <= MAX_SINGLE_THREADED
        return (*self.format.arguments, *(("--threads=1",) if is_small else ()))

    def search(self, paths: Sequence[str]) -> None:
        """Search everything under ``paths``."""
        done = self.ripgrep.search(
            self.options,
            self.arguments(),
            paths,
            timeout_s=self.remaining_s,
            max_output_bytes=MAX_OUTPUT_BYTES,
            is_cancelled=self.is_cancelled,
        )
        self.take(done, paths)

    def search_files(self, files: Sequence[str], instead: Sequence[str]) -> None:
        """Search exactly ``files``; ``instead`` is searched when they give too much output."""
        done = self.ripgrep.search_files(
            self.options,
            self.format.arguments,
            files,
            timeout_s=self.remaining_s,
            max_output_bytes=MAX_OUTPUT_BYTES,
            is_cancelled=self.is_cancelled,
        )
        self.take(done, instead)

    def take(self, done: Completed, paths: Sequence[str]) -> None:
        """Take what ripgrep found under ``paths``, or raise what it refused."""
        if done.returncode not in (0, 1):
            self.raise_refusal(done)
        self.is_partial = self.is_partial or done.is_timed_out
        if done.is_truncated and self.request.mode is OutputMode.CONTENT:
            found = self._search_in_order(paths)
        else:
            found = self.format.read(done.stdout)
            self.is_partial = self.is_partial or done.is_truncated
        self.files.extend(found.files)
        self.n_matches += found.n_matches
        self.n_searched += found.n_searched

    def _search_in_order(self, paths: Sequence[str]) -> Found:
        """Search again in the order of paths until the answer is full: it was too much at once."""
        wanted = self.request.offset + self.request.limit
        form = json_format(self.options)
        reader = JsonReader(form)
        lines = self.ripgrep.search_in_order(
            self.options, form.arguments, paths, timeout_s=self.remaining_s
        )
        try:
            for line in lines:
                reader.feed((line,))
                if reader.n_matches > wanted and reader.ends_a_file(line):
                    break
                if self.is_cancelled():
                    self.is_partial = True
                    break
        except ProgramTimeoutError:
            self.is_partial = True
        self.is_total_exact = False
        return reader.end()

    def raise_refusal(self, done: Completed) -> None:
        """Raise what ripgrep refused; note the files of which it complained."""
        if done.is_timed_out or done.is_truncated:
            return
        options = self.request.options
        types = self.ripgrep.types() if options.types else ()
        error = explain_failure(done.stderr, options.patterns, types)
        if error is not None:
            raise self._as_given(error)
        said = complaints(done.stderr)
        if not said and not done.stdout:
            text = done.stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode}"
            message = f"ripgrep failed: {text}"
            raise ExternalError(message)
        for line in said:
            self.skip("unreadable", line.partition(": ")[0])

    def _as_given(self, error: WhereinError) -> WhereinError:
        """Return the error with globs named as they were given, not as ripgrep was given them."""
        message = error.message
        for glob in self.request.options.globs:
            for place in self.places:
                for handed in anchor_globs((glob,), _folder_of(place), self.ripgrep.folder):
                    message = message.replace(repr(handed), repr(glob))
        return type(error)(message, hint=error.hint)

    def admits(self, path: str) -> bool:
        """Return whether the paths, globs and types of the search take in ``path``."""
        if not any(
            not place.path or path == place.path or path.startswith(f"{place.path}/")
            for place in self.places
        ):
            return False
        options = self.options
        if options.globs and not GlobSet.of(options.globs).admits(path):
            return False
        if not options.types and not options.excluded_types:
            return True
        name = path.rpartition("/")[2]
        types = self.ripgrep.types()
        if any(GlobSet.of(types.get(kind, ())).admits(name) for kind in options.excluded_types):
            return False
        return not options.types or any(
            GlobSet.of(types.get(kind, ())).admits(name) for kind in options.types
        )


def _folder_of(place: Place) -> str:
    return place.path if place.is_folder else place.path.rpartition("/")[0]
