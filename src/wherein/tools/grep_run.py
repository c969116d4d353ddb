"""Searches one root with ripgrep, and puts right what its walk leaves out.

Which files those are is remembered (`walk_memory`), told by the same run of ripgrep, or asked of
git beside it. An n-gram index of the root's files may leave only some to be searched.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread

from wherein.errors import ExternalError
from wherein.external.ripgrep import Walked
from wherein.external.ripgrep_options import SearchOptions
from wherein.external.run import CANCEL_POLL_S
from wherein.tools.file_set import (
    find_extra_files,
    found_though_ignored,
    needs_walk,
    regular_files,
    tracked_among,
    tracked_but_ignored,
)
from wherein.tools.grep_encodings import note_other_encodings, note_unmarked
from wherein.tools.grep_formats import PathFormat
from wherein.tools.grep_search import MAX_OUTPUT_BYTES, Search
from wherein.tools.walk_memory import KnownWalk, LeftOut

__all__ = ["Narrow", "Narrowed", "run_search"]

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


def run_search(search: Search, narrow: Narrow | None) -> None:
    """Search one root; ``narrow`` asks an index of its files."""
    narrowed = None
    if narrow is not None and _is_narrowable(search):
        narrowed = narrow(search.options)
    if narrowed is not None:
        _search_narrowed(search, narrowed)
        if not search.files:  # else the index would have saved nothing
            note_other_encodings(search)
        return
    left_out = _search_all(search)
    search.keep.add_worktrees(search.ripgrep.folder, search.git, search.paths)
    hidden = set(left_out.ignored).difference(left_out.extra)
    for path in left_out.ignored:
        if path in hidden:
            search.skip("ignored", path)
    _drop_ignored(search)
    note_other_encodings(search)
    note_unmarked(search)


def _drop_ignored(search: Search) -> None:
    """Take back what git ignores by rules that ripgrep reads otherwise.

    What is named, and what a glob names, is searched though it is ignored.
    """
    is_named = not all(place.is_folder for place in search.places)
    is_globbed = any(not glob.startswith("!") for glob in search.options.globs)
    if search.known is not None or not search.files or is_named or is_globbed:
        return
    folders = [path for path in search.paths if path]
    found = [*folders, *(file.path for file in search.files)]
    ignored = found_though_ignored(search.ripgrep, search.git, found)
    if ignored.isdisjoint(folders):
        search.drop_ignored(ignored)


def _is_narrowable(search: Search) -> bool:
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
        return search.git is not None and not search.git.ignored_among(below)
    except ExternalError:
        return False


def _search_narrowed(search: Search, narrowed: Narrowed) -> None:
    """Search only the files that an index leaves."""
    chosen = sorted(path for path in narrowed.paths if search.admits(path))
    search.n_candidates = len(chosen)
    search.is_indexed = True
    if chosen:
        search.search_files(chosen, instead=search.paths)
    else:
        done = search.ripgrep.check(search.options)
        if done.returncode not in (0, 1):
            search.raise_refusal(done)
    search.n_searched = narrowed.n_files


def _search_all(search: Search) -> LeftOut:
    """Search what ripgrep's walk finds and what it leaves out wrongly; return what is left out.

    Where something was found, what is ignored may be left out of the account.
    """
    # With globs or types, ripgrep's account would name each file that they leave out; and a listing
    # does not say how many files were searched, for which a walk is needed.
    has_account = not (search.is_restricted or isinstance(search.format, PathFormat))
    if search.known is not None:
        _search_as_known(search, search.known)
        return search.known.left_out if has_account or not search.files else LeftOut()
    left_out = None
    if has_account and search.ripgrep.folder not in search.walks.talkative:
        left_out = _search_and_report(search)
    if left_out is None:
        left_out = _search_beside_git(search)
    _search_extra(search, left_out.extra)
    return left_out


def _search_as_known(search: Search, known: KnownWalk) -> None:
    """Search where it is known what the walk leaves out: nothing has to be asked."""
    # A glob brings back what the rules hide, and a named file would then be found twice.
    extra = known.left_out.extra
    if known.may_be_named and not search.is_restricted:
        search.search([*search.paths, *extra])
    else:
        search.search(search.paths)
        _search_extra(search, extra)
    if isinstance(search.format, PathFormat) and not search.files:
        walked = search.ripgrep.walk(
            search.paths, timeout_s=WALK_TIMEOUT_S, is_cancelled=search.is_cancelled
        )
        _count_walked(search, walked, extra)


def _search_and_report(search: Search) -> LeftOut | None:
    """Search, and learn from the same run what was left out; None when that is to be asked."""
    root, git = search.ripgrep.folder, search.git
    settings = search.keep.settings
    started_ns = time.time_ns()
    done, report = search.ripgrep.search_and_report(
        search.options,
        search.arguments(),
        search.paths,
        timeout_s=search.remaining_s,
        max_output_bytes=MAX_OUTPUT_BYTES,
        is_cancelled=search.is_cancelled,
    )
    if done.is_report_full:
        search.walks.talkative.add(root)
        return None
    search.take(done, search.paths)
    if search.paths == [""]:
        search.walks.n_files[root] = search.n_searched
    if report is None:
        return LeftOut((), tuple(tracked_but_ignored(git)) if git is not None else ())
    is_odd = bool(report.doubtful) or needs_walk(search.ripgrep, settings)
    if report.ignored and is_odd:
        extra = find_extra_files(search.ripgrep, git, Walked((), report.ignored), settings)
        return LeftOut(report.ignored, tuple(extra))
    if git is None:
        return LeftOut(report.ignored)
    ignored = report.ignored
    tracked = search.walks.tracked(git, ignored, lambda: tracked_among(git, ignored))
    left_out = LeftOut(report.ignored, tuple(regular_files(root, tracked)))
    is_told_by_stats = not report.repositories and all(place.is_folder for place in search.places)
    if is_told_by_stats and not is_odd:
        known = KnownWalk(git, search.ripgrep, left_out)
        search.walks.remember(search.walk, known, tracked, started_ns)
    return left_out


def _search_beside_git(search: Search) -> LeftOut:
    """Search, and meanwhile ask git what was left out; say what is ignored if nothing is found."""
    beside = _Beside(search)
    beside.start()
    try:
        search.search(search.paths)
    finally:
        while beside.is_alive() and not search.is_cancelled():
            beside.join(CANCEL_POLL_S)
    if search.is_cancelled():
        return LeftOut()
    if beside.walked is None and not search.files:
        beside.walk()
    if beside.walked is None:
        return LeftOut((), tuple(beside.tracked))
    extra = find_extra_files(search.ripgrep, search.git, beside.walked, search.keep.settings)
    if isinstance(search.format, PathFormat) and not search.files:
        _count_walked(search, beside.walked, extra)
    return LeftOut(beside.walked.ignored, tuple(extra))


class _Beside(Thread):
    """Finds out beside the search what ripgrep leaves out though it is to be searched."""

    def __init__(self, search: Search) -> None:
        super().__init__(daemon=True)
        self._search = search
        self.walked: Walked | None = None
        self.tracked: list[str] = []

    def run(self) -> None:
        if needs_walk(self._search.ripgrep, self._search.keep.settings):
            self.walk()
        elif self._search.git is not None:
            self.tracked = tracked_but_ignored(self._search.git)

    def walk(self) -> None:
        with suppress(ExternalError):
            self.walked = self._search.ripgrep.walk(
                self._search.paths,
                timeout_s=WALK_TIMEOUT_S,
                is_cancelled=self._search.is_cancelled,
            )


def _count_walked(search: Search, walked: Walked, extra: Sequence[str]) -> None:
    """Count the files that were searched, where ripgrep does not say."""
    search.n_searched = sum(search.admits(path) for path in (*walked.paths, *extra))


def _search_extra(search: Search, extra: Sequence[str]) -> None:
    """Search what ripgrep's walk leaves out, unless its own search has it already."""
    known = {file.path for file in search.files}
    chosen = [path for path in extra if path not in known and search.admits(path)]
    if chosen:
        search.search_files(chosen, instead=chosen)
