"""Shows the paths a glob found, one a line."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from wherein.render.escape import show_line, show_path
from wherein.render.rendered import Rendered, Style
from wherein.tools.glob import GlobResult

__all__ = ["messages", "render", "slim", "trim"]


def render(result: object, style: Style) -> Rendered:
    """Return the text of a `GlobResult`."""
    found = cast("GlobResult", result)
    notes = "".join(f"note: {show_line(note)}\n" for note in found.notes)
    if not found.files:
        nothing = _past_the_end(found) or f"no files among {found.n_files_considered}"
        return Rendered((), head=f"{nothing}\n{notes}" if style.for_agent else "", is_found=False)
    parts = tuple(f"{style.paint('path', show_path(file.path))}\n" for file in found.files)

    def foot(n_shown: int) -> str:
        if not style.for_agent:
            return ""
        following = found.next_offset
        if n_shown < len(found.files):
            following = found.offset + n_shown
        more = f"{found.n_total} in all; more: offset={following}\n" if following else ""
        return notes + more

    return Rendered(parts, foot=foot)


def _past_the_end(found: GlobResult) -> str:
    return f"no more files: {found.n_total} in all" if found.n_total and not found.files else ""


def trim(result: object, n_parts: int) -> GlobResult:
    """Return the result with its first ``n_parts`` paths; it says where to go on."""
    found = cast("GlobResult", result)
    n = max(n_parts, 0)
    following = found.offset + n
    return replace(found, files=found.files[:n], next_offset=following, is_truncated=True)


def slim(found: dict[str, object]) -> dict[str, object]:
    """Return the structured copy for a model, which has no use for sizes and times."""
    files = cast("list[dict[str, object]]", found.get("files", []))
    kept = {name: value for name, value in found.items() if value != 0}
    return {**kept, **({"files": [{"path": file["path"]} for file in files]} if files else {})}


def messages(result: object) -> list[str]:
    """Return what the command line says on standard error."""
    found = cast("GlobResult", result)
    lines = [*filter(None, [_past_the_end(found)]), *found.notes]
    if found.next_offset:
        lines.append(f"{found.n_total} in all; go on with --offset {found.next_offset}")
    return lines
