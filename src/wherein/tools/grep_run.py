"""Runs ripgrep over one root and reads what it found, with what its walk leaves out put right."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Thread

from wherein.errors import ExternalError, ProgramTimeoutError, WhereinError
from wherein.external.git import Git
from wherein.external.ripgrep import Ripgrep, Walked
from wherein.external.ripgrep_errors import complaints, explain_failure
from wherein.external.ripgrep_options import SearchOptions
from wherein.external.run import CANCEL_POLL_S, Completed
from wherein.tools.file_paths import Place
from wherein.tools.file_set import (
    FileFilter,
    find_extra_files,
    git_of,
    needs_walk,
    regular_files,
    tracked_among,
    tracked_but_ignored,
)
from wherein.tools.globbing import GlobSet, anchor_globs
from wherein.tools.grep_output import FoundFile, RecordReader, read_counts, read_paths
from wherein.tools.grep_types import GrepRequest, OutputMode
from wherein.tools.walk_memory import LeftOut, Walk, WalkMemory

__all__ = ["Narrow", "Narrowed", "Search", "run_search"]

MAX_OUTPUT_BYTES = 64 << 20
"""Ripgrep's output kept in memory: 300,000 matches. Beyond it the search is run in the order of
paths and stopped when the answer is full."""

MAX_SINGLE_THREADED = 700
"""With so many files or fewer one thread takes a fifth less CPU than two; it is as fast with 300,
and 2 ms slower with 600."""

MAX_SINGLE_THREADED_LINES = 400
"""The same where lines are printed: one thread hands them over in many small pieces."""

WALK_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What an index leaves of a tree's files."""

    paths: Sequence[str]
    """The only files that can match."""
    n_files: int
    """Files of the tree."""


Narrow = Callable[[SearchOptions], "Narrowed | None"]
"""Asks an index of the workspace root's files; None when it cannot say."""


@dataclass(slots=True)
class Search:
    """One search of one root while it runs."""

    ripgrep: Ripgrep
    request: GrepRequest
    places: list[Place]
    deadline: float
    is_cancelled: Callable[[], bool]
    keep: FileFilter
    walks: WalkMemory
    files: list[FoundFile] = field(default_factory=list[FoundFile])
    n_searched: int = 0
    is_partial: bool = False
    is_total_exact: bool = True
    is_indexed: bool = False
    n_candidates: int = 0
    notes: list[str] = field(default_factory=list[str])
    skipped: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    @property
    def paths(self) -> list[str]:
        """The searched paths, relative to the root."""
        return [place.path for place in self.places]

    @property
    def remaining_s(self) -> float:
        """Seconds to the time limit."""
        return max(0.1, self.deadline - time.monotonic())

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


def run_search(search: Search, narrow: Narrow | None) -> None:
    """Search one root, and beside it find out what ripgrep leaves out."""
    root = search.ripgrep.folder
    globs = [
        glob
        for place in search.places
        for glob in anchor_globs(search.request.options.globs, _folder_of(place), root)
    ]
    options = replace(search.request.options, globs=tuple(dict.fromkeys(globs)))
    git = git_of(root)
    narrowed = narrow(options) if narrow is not None and _is_narrowable(search, git) else None
    if narrowed is not None:
        _search_narrowed(search, options, narrowed)
        return
    left_out = _search_all(search, options, git)
    search.keep.add_worktrees(root, git, search.paths)
    hidden = set(left_out.ignored).difference(left_out.extra)
    for path in left_out.ignored:
        if path in hidden:
            search.skip("ignored", path)


def _search_all(search: Search, options: SearchOptions, git: Git | None) -> LeftOut:
    """Search what ripgrep's walk finds and what it leaves out wrongly; return what is left out."""
    is_restricted = bool(options.globs or options.types or options.excluded_types)
    is_listing = _mode_arguments(search.request) is _LISTING
    walk = Walk(search.ripgrep, tuple(search.paths))
    known = search.walks.recall(walk) if git is not None else None
    if known is not None:
        _search_as_known(search, options, known, is_restricted=is_restricted)
        is_account_asked = not search.files or not (is_restricted or is_listing)
        return known if is_account_asked else LeftOut()
    left_out = None
    if not is_restricted and not is_listing and walk.ripgrep.folder not in search.walks.talkative:
        left_out = _search_and_report(search, options, git)
    if left_out is None:
        left_out = _search_beside_git(search, options, git)
    _search_extra(search, options, left_out.extra)
    return left_out


def _search_as_known(
    search: Search, options: SearchOptions, known: LeftOut, *, is_restricted: bool
) -> None:
    """Search where it is known what the walk leaves out: nothing has to be asked."""
    # A glob brings back what the rules hide, and a named file would then be found twice.
    is_named = known.may_be_named and not is_restricted
    paths = [*search.paths, *known.extra] if is_named else search.paths
    _read(search, options, paths, _main_run(search, options, paths))
    if not is_named:
        _search_extra(search, options, known.extra)
    if _mode_arguments(search.request) is _LISTING and not search.files:
        walked = search.ripgrep.walk(
            search.paths, timeout_s=WALK_TIMEOUT_S, is_cancelled=search.is_cancelled
        )
        _count_walked(search, options, walked, known.extra)


def _search_and_report(search: Search, options: SearchOptions, git: Git | None) -> LeftOut | None:
    """Search, and learn from the same run what was left out; None when that is to be asked.

    With globs or types, the account would name each file that they leave out; and a mere listing
    does not say how many files were searched, for which a walk is needed.
    """
    root = search.ripgrep.folder
    started_ns = time.time_ns()
    done, report = search.ripgrep.search_and_report(
        options,
        (*_mode_arguments(search.request), *_thread_arguments(search)),
        search.paths,
        timeout_s=search.remaining_s,
        max_output_bytes=MAX_OUTPUT_BYTES,
        is_cancelled=search.is_cancelled,
    )
    if done.is_report_full:
        search.walks.talkative.add(root)
        return None
    _read(search, options, search.paths, done)
    if search.paths == [""]:
        search.walks.n_files[root] = search.n_searched
    if report is None:
        return LeftOut((), tuple(tracked_but_ignored(git)) if git is not None else ())
    if report.ignored and needs_walk(root, search.keep.settings):
        walked = Walked((), report.ignored)
        extra = find_extra_files(search.ripgrep, git, walked, search.keep.settings)
        return LeftOut(report.ignored, tuple(extra))
    if git is None:
        return LeftOut(report.ignored)
    tracked = tracked_among(git, report.ignored)
    left_out = LeftOut(report.ignored, tuple(regular_files(git.root, tracked)))
    is_told_by_stats = not report.repositories and all(p.is_folder for p in search.places)
    if is_told_by_stats and not needs_walk(root, search.keep.settings):
        walk = Walk(search.ripgrep, tuple(search.paths))
        search.walks.remember(walk, git, left_out, tracked, started_ns)
    return left_out


def _thread_arguments(search: Search) -> tuple[str, ...]:
    """Return the option for a single thread where starting more takes longer than it saves."""
    is_content = search.request.mode is OutputMode.CONTENT
    most = MAX_SINGLE_THREADED_LINES if is_content else MAX_SINGLE_THREADED
    n_files = search.walks.n_files.get(search.ripgrep.folder, 0)
    return ("--threads=1",) if 0 < n_files <= most else ()


def _search_beside_git(search: Search, options: SearchOptions, git: Git | None) -> LeftOut:
    """Search, and meanwhile ask git what was left out; say what is ignored if nothing is found."""
    beside = _Beside(search, git)
    beside.start()
    try:
        _read(search, options, search.paths, _main_run(search, options, search.paths))
    finally:
        while beside.is_alive() and not search.is_cancelled():
            beside.join(CANCEL_POLL_S)
    if search.is_cancelled():
        return LeftOut()
    if beside.walked is None and not search.files:
        beside.walk()
    if beside.walked is None:
        return LeftOut((), tuple(beside.tracked))
    extra = find_extra_files(search.ripgrep, git, beside.walked, search.keep.settings)
    if _mode_arguments(search.request) is _LISTING and not search.files:
        _count_walked(search, options, beside.walked, extra)
    return LeftOut(beside.walked.ignored, tuple(extra))


def _count_walked(
    search: Search, options: SearchOptions, walked: Walked, extra: Sequence[str]
) -> None:
    """Count the files that were searched, where ripgrep does not say."""
    search.n_searched = sum(_admits(search, options, path) for path in (*walked.paths, *extra))


def _is_narrowable(search: Search, git: Git | None) -> bool:
    """Return whether the searched folders hold only files of the tree.

    A folder that is named is searched though a rule hides it, and the index does not know what it
    holds.
    """
    if not all(place.is_folder for place in search.places):
        return False
    below = [path for path in search.paths if path]
    if not below:
        return True
    try:
        return git is not None and not git.ignored_among(below)
    except ExternalError:
        return False


def _search_narrowed(search: Search, options: SearchOptions, narrowed: Narrowed) -> None:
    """Search only the files that an index leaves."""
    chosen = sorted(path for path in narrowed.paths if _admits(search, options, path))
    search.n_searched = narrowed.n_files
    search.n_candidates = len(chosen)
    search.is_indexed = True
    if chosen:
        _search_chosen(search, options, chosen, search.paths)
        search.n_searched = narrowed.n_files
        return
    done = search.ripgrep.check(options)
    if done.returncode not in (0, 1):
        _raise_refusal(search, done)


class _Beside(Thread):
    """Finds out beside the search what ripgrep leaves out though it is to be searched."""

    def __init__(self, search: Search, git: Git | None) -> None:
        super().__init__(daemon=True)
        self._search = search
        self._git = git
        self.walked: Walked | None = None
        self.tracked: list[str] = []

    def run(self) -> None:
        if needs_walk(self._search.ripgrep.folder, self._search.keep.settings):
            self.walk()
        elif self._git is not None:
            self.tracked = tracked_but_ignored(self._git)

    def walk(self) -> None:
        with suppress(ExternalError):
            self.walked = self._search.ripgrep.walk(
                self._search.paths,
                timeout_s=WALK_TIMEOUT_S,
                is_cancelled=self._search.is_cancelled,
            )


def _folder_of(place: Place) -> str:
    return place.path if place.is_folder else place.path.rpartition("/")[0]


def _mode_arguments(request: GrepRequest) -> tuple[str, ...]:
    options = request.options
    if request.mode is OutputMode.CONTENT:
        return (
            "--json",
            f"--before-context={options.before}",
            f"--after-context={options.after}",
        )
    counting = ("--count", "--null", "--with-filename", "--stats")
    if request.mode is OutputMode.COUNT:
        return (*counting, "--count-matches") if options.only_matching else counting
    return (*counting, "--max-count=1") if _counts_files(request) else _LISTING


_LISTING = ("--files-with-matches", "--null")
"""Lists files, but does not say how many were searched."""


def _counts_files(request: GrepRequest) -> bool:
    """Return whether counting up to one lists the files, too, and says how many were searched.

    Ripgrep then stops at the first match as it does when listing (without ``--max-count``, it reads
    on and drops a file that turns out binary at its end), but not with inverted matches, and it
    errs with matches over several lines.
    """
    options = request.options
    may_count = not (options.is_inverted or options.is_multiline or options.dot_matches_newline)
    return request.mode is OutputMode.FILES and may_count


def _main_run(search: Search, options: SearchOptions, paths: Sequence[str]) -> Completed:
    return search.ripgrep.search(
        options,
        (*_mode_arguments(search.request), *_thread_arguments(search)),
        paths,
        timeout_s=search.remaining_s,
        max_output_bytes=MAX_OUTPUT_BYTES,
        is_cancelled=search.is_cancelled,
    )


def _read(search: Search, options: SearchOptions, paths: Sequence[str], done: Completed) -> None:
    """Take what ripgrep found under ``paths``, or raise what it refused."""
    if done.returncode not in (0, 1):
        _raise_refusal(search, done)
    search.is_partial = search.is_partial or done.is_timed_out
    if search.request.mode is not OutputMode.CONTENT:
        is_listing = _mode_arguments(search.request) is _LISTING
        files, n_searched = (read_paths if is_listing else read_counts)(done.stdout)
        search.is_partial = search.is_partial or done.is_truncated
    elif done.is_truncated:
        files, n_searched = _read_in_order(search, options, paths)
    else:
        reader = _reader(options)
        reader.feed_whole(done.stdout)
        reader.close()
        files, n_searched = reader.files, reader.n_searched
    search.files.extend(files)
    search.n_searched += n_searched


def _reader(options: SearchOptions) -> RecordReader:
    return RecordReader(
        counts_submatches=options.only_matching,
        is_multiline=options.may_span_lines(),
    )


def _raise_refusal(search: Search, done: Completed) -> None:
    if done.is_timed_out or done.is_truncated:
        return
    options = search.request.options
    error = explain_failure(
        done.stderr, options.patterns, search.ripgrep.types() if options.types else ()
    )
    if error is not None:
        raise _as_given(search, error)
    said = complaints(done.stderr)
    if not said and not done.stdout:
        text = done.stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode}"
        message = f"ripgrep failed: {text}"
        raise ExternalError(message)
    for line in said:
        search.skip("unreadable", line.partition(": ")[0])


def _as_given(search: Search, error: WhereinError) -> WhereinError:
    """Return the error with globs named as they were given, not as ripgrep was given them."""
    message = error.message
    for glob in search.request.options.globs:
        for place in search.places:
            for handed in anchor_globs((glob,), _folder_of(place), search.ripgrep.folder):
                message = message.replace(repr(handed), repr(glob))
    return type(error)(message, hint=error.hint)


def _read_in_order(
    search: Search, options: SearchOptions, paths: Sequence[str]
) -> tuple[list[FoundFile], int]:
    """Search again in the order of paths until the answer is full: too much for one reading."""
    wanted = search.request.offset + search.request.limit
    reader = _reader(options)
    lines = search.ripgrep.search_in_order(
        options, _mode_arguments(search.request), paths, timeout_s=search.remaining_s
    )
    try:
        for line in lines:
            reader.feed((line,))
            if reader.n_matches > wanted and line.startswith(b'{"type":"end"'):
                break
            if search.is_cancelled():
                search.is_partial = True
                break
    except ProgramTimeoutError:
        search.is_partial = True
    reader.close()
    search.is_total_exact = False
    return reader.files, reader.n_searched


def _search_extra(search: Search, options: SearchOptions, extra: Sequence[str]) -> None:
    """Search what ripgrep's walk leaves out, unless its own search has it already."""
    known = {file.path for file in search.files}
    chosen = [path for path in extra if path not in known and _admits(search, options, path)]
    if chosen:
        _search_chosen(search, options, chosen, chosen)


def _search_chosen(
    search: Search, options: SearchOptions, chosen: Sequence[str], paths: Sequence[str]
) -> None:
    """Search ``chosen`` files; ``paths`` are searched instead when the output is too much."""
    done = search.ripgrep.search_files(
        options,
        _mode_arguments(search.request),
        chosen,
        timeout_s=search.remaining_s,
        max_output_bytes=MAX_OUTPUT_BYTES,
        is_cancelled=search.is_cancelled,
    )
    _read(search, options, paths, done)


def _admits(search: Search, options: SearchOptions, path: str) -> bool:
    """Return True when the paths, globs and types of the search take in ``path``."""
    if not any(
        not place.path or path == place.path or path.startswith(f"{place.path}/")
        for place in search.places
    ):
        return False
    if options.globs and not GlobSet.of(options.globs).admits(path):
        return False
    if not options.types and not options.excluded_types:
        return True
    name = path.rpartition("/")[2]
    types = search.ripgrep.types()
    if any(GlobSet.of(types.get(kind, ())).admits(name) for kind in options.excluded_types):
        return False
    return not options.types or any(
        GlobSet.of(types.get(kind, ())).admits(name) for kind in options.types
    )
