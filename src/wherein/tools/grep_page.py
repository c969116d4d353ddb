"""Makes the answer of a grep from what was found: one page, decoded and cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from wherein.external.ripgrep import Ripgrep
from wherein.external.ripgrep_options import SearchOptions
from wherein.tools.file_paths import Scope
from wherein.tools.grep_encodings import encoding_of
from wherein.tools.grep_found import FoundFile, path_order
from wherein.tools.grep_rows import make_rows
from wherein.tools.grep_search import Search
from wherein.tools.grep_types import (
    FileCount,
    GrepRequest,
    GrepResult,
    GrepRow,
    OutputMode,
    SkipCount,
    pattern_notes,
)
from wherein.walk.paths import show_path

__all__ = ["Symbols", "make_result"]

MAX_EXAMPLES = 3

Symbols = Callable[[str, Sequence[int]], Sequence[str]]
"""Returns for lines of a file the name of the definition around each."""


def make_result(
    scope: Scope,
    request: GrepRequest,
    searches: Sequence[Search],
    program: Ripgrep,
    symbols: Symbols | None,
) -> GrepResult:
    """Return the page that ``request`` asks for.

    Args:
        scope: Where the search looked.
        request: What was asked.
        searches: One finished search for each root.
        program: Ripgrep as it was found.
        symbols: Names the definitions around lines; parses the files when None.
    """
    found, n_matches = _shown_files(searches)
    is_content = request.mode is OutputMode.CONTENT
    n_total = n_matches if is_content else len(found)
    page = _Page(request.offset, request.limit)
    if is_content:
        page.take_rows(found)
    else:
        page.take_files(found)
    n_searched = sum(search.n_searched for search in searches)
    notes = _notes(request, searches, n_searched, n_files=len(found))
    rows = tuple(page.rows)
    if request.by_symbol:
        rows = _with_symbols(scope, rows, symbols)
    end = request.offset + page.n_taken
    is_exact = all(search.is_total_exact for search in searches)
    return GrepResult(
        mode=request.mode,
        rows=rows,
        files=tuple(page.files),
        n_total=n_total,
        is_total_exact=is_exact and not any(search.is_partial for search in searches),
        n_matches=n_matches,
        n_files=len(found),
        n_files_searched=n_searched,
        offset=request.offset,
        next_offset=end if end < n_total else 0,
        is_truncated=end < n_total,
        is_partial=any(search.is_partial for search in searches),
        skipped=_skip_counts(searches),
        notes=notes,
        engine=f"ripgrep from {program.source}",
        is_indexed=any(search.is_indexed for search in searches),
        n_candidates=sum(search.n_candidates for search in searches),
    )


_Found = tuple[Search, FoundFile, str]
"""A search, a file it found, and the file's path as it is shown."""


def _shown_files(searches: Sequence[Search]) -> tuple[list[_Found], int]:
    """Return the files that may be shown, in order, and their matches; note why others may not."""
    found: list[_Found] = []
    n_matches = 0
    for search in searches:
        named = {place.path for place in search.places if not place.is_folder}
        refusal = search.keep.refusal
        is_plain = search.shows_plain_paths
        n_matches += search.n_matches
        for file in search.files:
            path = file.path
            reason = refusal(path, is_named=path in named)
            if reason:
                search.skip(reason, path)
                n_matches -= file.count
            else:
                found.append((search, file, path if is_plain else search.shown(path)))
    found.sort(key=lambda item: path_order(item[2]))
    return found, n_matches


@dataclass(slots=True)
class _Page:
    """Cuts the asked page out of what was found."""

    offset: int
    limit: int
    rows: list[GrepRow] = field(default_factory=list[GrepRow])
    files: list[FileCount] = field(default_factory=list[FileCount])
    n_taken: int = 0

    def take_files(self, found: Sequence[_Found]) -> None:
        page = found[self.offset : self.offset + self.limit]
        is_count = bool(page) and page[0][0].request.mode is OutputMode.COUNT
        self.files = [FileCount(shown, file.count if is_count else 0) for _, file, shown in page]
        self.n_taken = len(self.files)

    def take_rows(self, found: Sequence[_Found]) -> None:
        """Decode only what the page shows."""
        first, last = self.offset, self.offset + self.limit
        for search, file, shown in found:
            if last <= 0:
                return
            count = file.count
            if first < count:
                self._take_lines(search, file, shown, max(0, first), last)
            first, last = first - count, last - count

    def _take_lines(
        self, search: Search, file: FoundFile, shown: str, first: int, last: int
    ) -> None:
        options = search.options
        if options.only_matching:  # a line may be several rows
            lines, n_before = file.read()
        else:
            lines, n_before = file.read(first, last, max(options.before, options.after))
        rows = make_rows(
            lines,
            shown,
            only_matching=options.only_matching,
            find_encoding=partial(encoding_of, search.ripgrep.folder, file.path),
        )
        self._cut(list(rows), first - n_before, last - n_before, options)

    def _cut(self, rows: Sequence[GrepRow], first: int, last: int, options: SearchOptions) -> None:
        """Take the matches ``first`` to ``last`` (half-open) with the context that is theirs."""
        matches = [(row.line, row.end_line) for row in rows if row.is_match][first:last]
        self.n_taken += len(matches)
        near: set[int] = set()
        if options.before or options.after:
            for line, end_line in matches:
                near.update(range(line - options.before, end_line + options.after + 1))
        n_seen = 0
        for row in rows:
            if row.is_match:
                n_seen += 1
                if first < n_seen <= last:
                    self.rows.append(row)
            elif row.line in near:
                self.rows.append(row)


def _notes(
    request: GrepRequest, searches: Sequence[Search], n_searched: int, *, n_files: int
) -> tuple[str, ...]:
    notes = [note for search in searches for note in search.notes]
    notes.extend(pattern_notes(request.options))
    if n_files == 0:
        notes.append(f"searched {n_searched} file{'' if n_searched == 1 else 's'}")
        options = request.options
        filters = [*(f"glob {g!r}" for g in options.globs), *(f"type {t!r}" for t in options.types)]
        if n_searched == 0 and filters:
            notes.append(f"no file matches the filter: {', '.join(filters)}")
    unread = [
        search.places[0].shown(path)
        for search in searches
        for path in search.skipped.get("unreadable", ())
    ]
    if unread:
        named = ", ".join(show_path(path) for path in sorted(unread)[:MAX_EXAMPLES])
        more = f" and {len(unread) - MAX_EXAMPLES} more" if len(unread) > MAX_EXAMPLES else ""
        notes.append(f"could not be read, matches may be missing: {named}{more}")
    if any(search.is_partial for search in searches):
        notes.append("the search was stopped before its end: narrow it by path, glob or type")
    cut = [file.path for search in searches for file in search.files if file.is_cut_at_nul]
    if cut:
        notes.append(f"{len(cut)} files are binary after a NUL and were searched up to it")
    return tuple(notes)


def _skip_counts(searches: Sequence[Search]) -> tuple[SkipCount, ...]:
    counts: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    for search in searches:
        for reason, paths in search.skipped.items():
            counts[reason] += len(paths)
            if not reason.startswith("secret"):
                examples.setdefault(reason, []).extend(sorted(paths)[:MAX_EXAMPLES])
    return tuple(
        SkipCount(reason, counts[reason], tuple(examples.get(reason, ())[:MAX_EXAMPLES]))
        for reason in sorted(counts)
    )


def _with_symbols(
    scope: Scope, rows: Sequence[GrepRow], symbols: Symbols | None
) -> tuple[GrepRow, ...]:
    if symbols is None:
        from wherein.tools.symbols import SymbolFinder

        symbols = SymbolFinder(scope).enclosing_names
    named: list[GrepRow] = []
    by_path: dict[str, list[GrepRow]] = {}
    for row in rows:
        by_path.setdefault(row.path, []).append(row)
    for path, group in by_path.items():
        names = symbols(path, [row.line for row in group])
        named.extend(replace(row, symbol=name) for row, name in zip(group, names, strict=True))
    return tuple(named)
