"""Shows the paths a glob found, one a line."""

from __future__ import annotations

from typing import cast

from wherein.render.escape import show_line, show_path
from wherein.render.rendered import Rendered, Style
from wherein.tools.glob import GlobResult

__all__ = ["messages", "render"]


def render(result: object, style: Style) -> Rendered:
    """Return the text of a `GlobResult`."""
    found = cast("GlobResult", result)
    notes = "".join(f"note: {show_line(note)}\n" for note in found.notes)
    if not found.files:
        nothing = f"no files among {found.n_files_considered}\n{notes}" if style.for_agent else ""
        return Rendered((), head=nothing, is_found=False)
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


def messages(result: object) -> list[str]:
    """Return what the command line says on standard error."""
    found = cast("GlobResult", result)
    lines = list(found.notes)
    if found.next_offset:
        lines.append(f"{found.n_total} in all; go on with --offset {found.next_offset}")
    return lines
