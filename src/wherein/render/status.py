"""Shows what an index holds."""

from __future__ import annotations

from typing import cast

from wherein.render.escape import show_line, show_path
from wherein.render.rendered import Rendered, Style
from wherein.tools.status import StatusResult, WorkspaceStatus
from wherein.types import SHIPPED_RANKING

__all__ = ["render", "show_bytes"]

_MAX_LANGUAGES = 8


def render(result: object, style: Style) -> Rendered:
    """Return the text of a `StatusResult`."""
    found = cast("StatusResult", result)
    parts = tuple(_workspace(item, style) for item in found.workspaces)
    is_found = any(item.is_indexed for item in found.workspaces)
    notes = tuple(f"note: {note}\n" for note in found.notes)
    return Rendered((*parts, *notes), is_found=is_found)


def show_bytes(n_bytes: int) -> str:
    """Return a size for people, in units of 1000."""
    size = float(n_bytes)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return ""


def _state(item: WorkspaceStatus) -> str:
    if not item.is_kept:
        return "files changed since, and what changed could not be written"
    if item.is_outdated:
        return "made with another model or version; the next search makes it anew"
    if item.not_covered:
        return f"unfinished, {len(item.not_covered)} files to go; the next call goes on"
    if item.is_indexing:
        return "another process is indexing"
    return "up to date" if item.is_fresh else "files changed since; the next search takes them in"


def _ranking(item: WorkspaceStatus) -> list[str]:
    """Return the line on ranking weights where they are not simply those that ship."""
    return [] if item.ranking == SHIPPED_RANKING else [f"  ranking: {show_line(item.ranking)}"]


def _models(item: WorkspaceStatus) -> str:
    reranker = "" if item.reranker == "none" else f", reranker: {show_line(item.reranker)}"
    return f"model: {show_line(item.model)}{reranker}"


def _workspace(item: WorkspaceStatus, style: Style) -> str:
    lines = [style.paint("path", show_path(item.root))]
    if not item.is_indexed:
        how = "; the first search does it, or: wherein index" if item.is_kept else ""
        lines.append(f"  not indexed{how}")
        lines.append(f"  {_models(item)}")
        lines.extend(_ranking(item))
        return "".join(f"{line}\n" for line in lines)
    lines.append(f"  {item.n_files} files, {item.n_chunks} chunks: {_state(item)}")
    if item.why_empty:
        lines.append(f"  no file is indexed: {item.why_empty}")
    if item.n_indexed_now:
        lines.append(f"  indexed now: {item.n_indexed_now} files")
    ordered = sorted(item.languages.items(), key=lambda pair: (-pair[1], pair[0]))
    if ordered:
        shown = ", ".join(f"{name} {count}" for name, count in ordered[:_MAX_LANGUAGES])
        more = len(ordered) - _MAX_LANGUAGES
        lines.append(f"  languages: {shown}" + (f" and {more} more" if more > 0 else ""))
    lines.append(f"  on disk: {show_bytes(item.n_bytes_on_disk)}, {_models(item)}")
    lines.extend(_ranking(item))
    lines.append(f"  snapshot: {item.snapshot_id}" + (f" at {item.head[:12]}" if item.head else ""))
    if item.skipped_by_reason:
        pairs = sorted(item.skipped_by_reason.items())
        lines.append("  skipped: " + ", ".join(f"{count} {reason}" for reason, count in pairs))
    for skipped in item.skipped:
        detail = f" ({skipped.detail})" if skipped.detail else ""
        lines.append(f"    {show_path(skipped.path)}: {skipped.reason}{detail}")
    return "".join(f"{line}\n" for line in lines)
