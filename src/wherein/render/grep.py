"""Shows what a grep found: plain lines for people and pipes, grouped by file for agents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import cast

from wherein.render.escape import show_path
from wherein.render.rendered import Rendered, Style
from wherein.tools.excerpt import visible
from wherein.tools.grep_types import GrepResult, GrepRow, OutputMode, row_lines

__all__ = ["messages", "render", "slim", "trim"]

_MAX_REASONS = 6


def render(result: object, style: Style) -> Rendered:
    """Return the text of a `GrepResult`."""
    found = cast("GrepResult", result)
    is_found = bool(found.rows or found.files)
    if not is_found:
        return Rendered((), head=_nothing(found, style), is_found=False)
    if found.mode is not OutputMode.CONTENT:
        parts = tuple(f"{line}\n" for line in found.lines())
    elif style.for_agent:
        parts = tuple(_grouped(found))
    elif style.is_colored:
        parts = tuple(_colored(found, style))
    else:
        parts = tuple(f"{line}\n" for line in found.lines())
    return Rendered(parts, foot=_foot(found, style))


def _nothing(found: GrepResult, style: Style) -> str:
    if not style.for_agent:
        return ""
    skipped = "".join(f"note: {sentence}\n" for sentence in _skipped(found))
    return f"{_past_the_end(found) or 'no matches'}\n{_notes(found)}{skipped}"


def _past_the_end(found: GrepResult) -> str:
    is_past = found.n_total > 0 and not found.rows and not found.files
    return f"no more matches: {found.n_total} in all" if is_past else ""


def _skipped(found: GrepResult) -> list[str]:
    """Return one sentence on what a search that found nothing left out."""
    rest = [item for item in found.skipped if item.reason != "unreadable"]  # a note names them
    listed = ", ".join(f"{item.count} {item.reason}" for item in rest[:_MAX_REASONS])
    return [f"not searched: {listed}"] if rest else []


def _grouped(found: GrepResult) -> Iterator[str]:
    """Yield one part a row; the first of a file (or symbol) brings its header."""
    previous: GrepRow | None = None
    for row in found.rows:
        head = ""
        if previous is None or (row.path, row.symbol) != (previous.path, previous.symbol):
            head = show_path(row.path) + (f" in {visible(row.symbol)}" if row.symbol else "") + "\n"
        elif row.line > max(previous.line, previous.end_line) + 1 and not _is_dense(found):
            head = "  --\n"
        previous = row
        yield head + "".join(f"  {line}\n" for line in _numbered(row))


def _is_dense(found: GrepResult) -> bool:
    """Return True without context lines: every row is a match, so gaps say nothing."""
    return all(row.is_match for row in found.rows)


def _numbered(row: GrepRow) -> Iterator[str]:
    prefix = len(show_path(row.path)) + 1
    for line in row_lines(row):
        number, mark, text = _split(line[prefix:])
        yield f"{number}{mark} {text}"


def _split(line: str) -> tuple[str, str, str]:
    at = next(index for index, char in enumerate(line) if char in ":-")
    return line[:at], line[at], line[at + 1 :]


def _colored(found: GrepResult, style: Style) -> Iterator[str]:
    for row in found.rows:
        path = show_path(row.path)
        for line in row_lines(row):
            number, mark, text = _split(line[len(path) + 1 :])
            shown = _highlighted(row, text, style) if row.is_match else text
            yield f"{style.paint('path', path)}{mark}{style.paint('line', number)}{mark}{shown}\n"


def _highlighted(row: GrepRow, text: str, style: Style) -> str:
    """Colour the matches where the shown text is the row's own, character for character."""
    if not row.spans or visible(row.text) != row.text or text != row.text:
        return text
    pieces: list[str] = []
    at = 0
    for start, end in row.spans:
        pieces += [text[at:start], style.paint("match", text[start:end])]
        at = end
    return "".join([*pieces, text[at:]])


def _notes(found: GrepResult) -> str:
    lines = [f"note: {visible(note)}" for note in found.notes]
    if found.is_partial:
        lines.append("note: the search was stopped early; matches may be missing")
    return "".join(f"{line}\n" for line in lines)


def trim(result: object, n_parts: int) -> GrepResult:
    """Return the result with its first ``n_parts`` rows or files; it says where to go on."""
    found = cast("GrepResult", result)
    n = max(n_parts, 0)
    return replace(
        found,
        rows=found.rows[:n],
        files=found.files if found.rows else found.files[:n],
        next_offset=_next_offset(found, n),
        is_truncated=True,
    )


_UNREAD = frozenset(
    {"column", "engine", "is_whole_line", "n_bytes", "n_candidates", "n_files_searched", "spans"}
)
"""Fields that a model has no use for: three quarters of the tokens. ``--json`` has them."""


def slim(found: dict[str, object]) -> dict[str, object]:
    """Return the structured copy for a model: some agents are shown it instead of the text."""
    kept = {name: value for name, value in found.items() if name not in _UNREAD and value != 0}
    rows = cast("list[dict[str, object]]", kept.get("rows", []))
    files = cast("list[dict[str, object]]", kept.get("files", []))
    if rows:
        kept["rows"] = [_slim_row(row) for row in rows]
    if files:
        kept["files"] = [{n: v for n, v in file.items() if v != 0} for file in files]
    return kept


def _slim_row(row: dict[str, object]) -> dict[str, object]:
    kept = {name: value for name, value in row.items() if name not in _UNREAD and value != 0}
    if kept.get("end_line") == kept.get("line"):
        kept.pop("end_line", None)
    return kept


def _next_offset(found: GrepResult, n_shown: int) -> int:
    """Return the offset of what follows the first ``n_shown`` rows or files."""
    if found.rows:
        return found.offset + sum(row.is_match for row in found.rows[:n_shown])
    return found.offset + n_shown


def _foot(found: GrepResult, style: Style) -> Callable[[int], str]:
    def foot(n_shown: int) -> str:
        if not style.for_agent:
            return ""
        lines = _notes(found)
        following = found.next_offset
        total = len(found.rows) or len(found.files)
        if n_shown < total:
            following = _next_offset(found, n_shown)
        if following:
            least = "" if found.is_total_exact else "at least "
            lines += f"{least}{found.n_total} in all; more: offset={following}\n"
        return lines

    return foot


def messages(result: object) -> list[str]:
    """Return what the command line says on standard error: cuts and what was not searched."""
    found = cast("GrepResult", result)
    lines = list(found.notes)
    if found.is_truncated and found.next_offset:
        lines.append(f"cut after {found.next_offset}; go on with --offset {found.next_offset}")
    if found.is_partial:
        lines.append("the search was stopped early; matches may be missing")
    if not found.rows and not found.files:
        lines.extend(filter(None, [_past_the_end(found)]))
        lines.extend(_skipped(found))
    return lines
