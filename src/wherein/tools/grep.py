"""Finds every occurrence of a text or regular expression, as ripgrep does."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from wherein.errors import PatternError, UsageError
from wherein.external.ripgrep import find_ripgrep
from wherein.external.ripgrep_options import CaseMode, SearchOptions
from wherein.tools.file_filter import FileFilter
from wherein.tools.file_paths import Place, Scope, refuse_outside, resolve_place
from wherein.tools.file_set import git_of, ripgrep_at
from wherein.tools.grep_page import Symbols, make_result
from wherein.tools.grep_run import Narrow, run_search
from wherein.tools.grep_search import Search
from wherein.tools.grep_types import GrepRequest, GrepResult, OutputMode
from wherein.tools.grep_workspace import narrow_by_workspace
from wherein.tools.walk_memory import Walk
from wherein.walk.collector import paused_collector

if TYPE_CHECKING:
    from wherein.tools.context import ToolContext

__all__ = ["GrepResult", "grep", "search_text"]

TIMEOUT_S = 30.0


def grep(
    call: ToolContext,
    /,
    pattern: str | Sequence[str],
    path: Sequence[str] = (),
    *,
    glob: Sequence[str] = (),
    type: Sequence[str] = (),  # noqa: A002 - the name agents know
    output: str | None = None,
    fixed: bool = False,
    case: str = "sensitive",
    ignore_case: bool = False,
    word: bool = False,
    multiline: bool = False,
    pcre2: bool = False,
    invert: bool = False,
    before: int | None = None,
    after: int | None = None,
    context: int | None = None,
    only_matching: bool = False,
    by_symbol: bool = False,
    limit: int = 250,
    offset: int = 0,
) -> GrepResult:
    r"""Give an exact text (fixed) or a regular expression in Rust's dialect.

    Returns the paths of matching files first; ask with output=content for the lines
    (path:line:text; before, after or context, for lines around, ask for them, too) or output=count
    for the matching lines of each file. Hidden files are searched; ignored ones, binaries and
    secrets are not. Paths are in a fixed order, and a cut answer says at which offset to go on.
    Zero results say how many files were searched. To span lines set multiline; for lookaround and
    backreferences set pcre2. Then read the place (path:start-end).

    Raises:
        PatternError: The pattern or a glob is not valid; the hint says what to write.
        PathError: A path does not exist or may not be read; the hint has near names.
    """
    patterns = (pattern,) if isinstance(pattern, str) else tuple(pattern)
    around = context or 0
    shows_lines = any((before, after, context, only_matching, by_symbol))
    mode = _MODES[output or ("content" if shows_lines else "files")]
    options = SearchOptions(
        patterns=patterns,
        is_fixed=fixed,
        case=CaseMode.INSENSITIVE if ignore_case else _CASES[case],
        is_word=word,
        is_multiline=multiline,
        is_inverted=invert,
        is_pcre2=pcre2,
        only_matching=only_matching,
        before=around if before is None else before,
        after=around if after is None else after,
        types=tuple(type),
        globs=tuple(glob),
    )
    request = GrepRequest(options, tuple(path), mode, limit, offset, by_symbol)
    scope = Scope.of(call)
    narrow = narrow_by_workspace(call)
    return search_text(scope, request, narrow=narrow, is_cancelled=call.is_cancelled)


_MODES = {
    "files": OutputMode.FILES,
    "content": OutputMode.CONTENT,
    "count": OutputMode.COUNT,
}
_CASES = {
    "sensitive": CaseMode.SENSITIVE,
    "ignore": CaseMode.INSENSITIVE,
    "insensitive": CaseMode.INSENSITIVE,
    "smart": CaseMode.SMART,
}


def search_text(
    scope: Scope,
    request: GrepRequest,
    *,
    narrow: Narrow | None = None,
    symbols: Symbols | None = None,
    is_cancelled: Callable[[], bool] | None = None,
    timeout_s: float = TIMEOUT_S,
) -> GrepResult:
    """Search the files under the request's paths.

    Args:
        scope: Where to look.
        request: What to look for.
        narrow: An index of the workspace root's files; it must only leave out files that cannot
            match.
        symbols: Names the definitions around lines; parses the files when None.
        is_cancelled: Asked while ripgrep runs.
        timeout_s: After so many seconds the answer is partial.

    Raises:
        PatternError: The pattern or a glob is not valid.
        QueryError: A file type is unknown.
        PathError: A path does not exist or may not be read.
        ExternalError: No program can search.
    """
    _check(request)
    places = [resolve_place(scope, name) for name in request.paths or ("",)]
    for pattern in request.options.globs:
        for place in places:
            refuse_outside(place.root, place.folder, pattern)
    program = find_ripgrep()
    if program is None:
        from wherein.tools.grep_fallback import search_with_git

        return search_with_git(scope, request, places, timeout_s=timeout_s)
    deadline = time.monotonic() + timeout_s
    searches: list[Search] = []
    for root in dict.fromkeys(place.root for place in places):
        inside = [place for place in places if place.root == root]
        kept = _without_nested(inside)
        walk = Walk(program, root, tuple(place.path for place in kept))
        known = scope.walks.recall(walk)
        git = known.git if known is not None else git_of(root)
        search = Search(
            known.ripgrep if known is not None else ripgrep_at(program, root, git),
            git,
            request,
            kept,
            deadline,
            is_cancelled or _never,
            FileFilter(scope.settings, root),
            scope.walks,
            walk,
            known,
        )
        chosen = narrow if root == scope.root else None
        run_search(search, chosen)
        searches.append(search)
    with paused_collector():
        return make_result(scope, request, searches, program, symbols)


def _never() -> bool:
    return False


def _check(request: GrepRequest) -> None:
    if not request.options.patterns or any("\0" in text for text in request.options.patterns):
        message = "a pattern cannot hold a NUL" if request.options.patterns else "no pattern"
        raise PatternError(message, hint="write '\\x00' for a NUL")
    options = request.options
    for text in (*options.patterns, *options.globs, *options.types, *options.excluded_types):
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            message = f"{text!r} holds what no argument of a program can: a NUL, half a character"
            raise PatternError(message, hint="match such a byte with '.' or '?'")
    if request.limit < 1 or request.offset < 0:
        message = f"limit {request.limit} and offset {request.offset} make no page"
        raise UsageError(message, hint="limit is at least 1, offset at least 0")


def _without_nested(places: Sequence[Place]) -> list[Place]:
    """Leave out what lies in another named folder: ripgrep would report it twice."""
    folders = [place.path for place in places if place.is_folder]
    kept: dict[str, Place] = {}
    for place in places:
        is_nested = any(
            place.path != folder and (not folder or place.path.startswith(f"{folder}/"))
            for folder in folders
        )
        if not is_nested:
            kept.setdefault(place.path, place)
    return list(kept.values())
