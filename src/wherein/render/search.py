"""Shows search results: one header for each hit, and the lines that show why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from wherein.render.escape import gutter, show_line, show_path
from wherein.render.rendered import Rendered, Style
from wherein.tools.found_hits import FoundHit
from wherein.tools.search import SearchResult
from wherein.types import RERANKER_SIGNAL, Evidence

__all__ = ["render", "slim", "trim"]

_MAX_SIGNALS = 12
_MAX_NAMED = 5


def render(result: object, style: Style) -> Rendered:
    """Return the text of a `SearchResult`."""
    found = cast("SearchResult", result)
    if not found.hits:
        return Rendered((), head=_nothing(found), is_found=False)
    several = len(found.snapshots) > 1
    parts = tuple(_hit(hit, style, several=several) for hit in found.hits)
    return Rendered(parts, head=_head(found), foot=_foot(found, style))


def trim(result: object, n_parts: int) -> SearchResult:
    """Return the result with its first ``n_parts`` hits; it says that there are more."""
    found = cast("SearchResult", result)
    return replace(found, hits=found.hits[: max(n_parts, 0)], has_more=True)


_UNREAD = ("language", "rank", "score", "signature")
"""Fields of a hit that a model has no use for: a third of the tokens. ``--json`` has them."""


def slim(found: dict[str, object]) -> dict[str, object]:
    """Return the structured copy for a model: some agents are shown it instead of the text."""
    hits = cast("list[dict[str, object]]", found.get("hits", []))
    return {**found, **({"hits": [_slim_hit(hit) for hit in hits]} if hits else {})}


def _slim_hit(hit: dict[str, object]) -> dict[str, object]:
    is_explained = bool(hit.get("signals"))
    kept = {name: value for name, value in hit.items() if is_explained or name not in _UNREAD}
    if kept.get("repository") == ".":
        del kept["repository"]
    if kept.get("evidence") != Evidence.WEAK:
        kept.pop("evidence", None)
    further = cast("list[dict[str, object]]", kept.get("further", []))
    if further:  # places in the same file: its path need not be said again
        kept["further"] = [{n: v for n, v in span.items() if n != "path"} for span in further]
    return kept


def _nothing(found: SearchResult) -> str:
    what = "no more hits" if found.offset else "nothing found"
    lines = [f"{what}: try other words, fewer filters, or grep for an exact text"]
    return "".join(f"{line}\n" for line in [*lines, *_notes(found)])


def _head(found: SearchResult) -> str:
    if found.evidence is Evidence.WEAK:
        return "weak evidence: perhaps none of these is it; check before relying on one\n"
    return ""


def _hit(hit: FoundHit, style: Style, *, several: bool) -> str:
    lines = [_header(hit, style, several=several)]
    lines.extend(gutter(line.number, line.text) for line in hit.lines)
    if hit.signals:
        lines.append("  " + _signals(hit))
    return "".join(f"{line}\n" for line in lines)


def _header(hit: FoundHit, style: Style, *, several: bool) -> str:
    name = show_path(hit.path)
    if several or hit.repository != ".":
        name = _joined(show_path(hit.repository), name)
    span = f"{hit.start_line}-{hit.end_line}"
    words = [f"{style.paint('path', name)}:{style.paint('line', span)}"]
    if hit.symbol:
        words.append(f"{hit.kind} {style.paint('symbol', show_line(hit.symbol, 120))}")
    if hit.evidence is Evidence.WEAK:
        words.append(style.paint("weak", "(weak)"))
    if hit.is_repeat:
        words.append(style.paint("dim", "(shown above, unchanged)"))
    if hit.further:
        spans = ", ".join(f"{span.start_line}-{span.end_line}" for span in hit.further)
        words.append(style.paint("dim", f"also {spans}"))
    return " ".join(words)


def _joined(repository: str, path: str) -> str:
    if "://" in repository:
        return f"{repository} {path}"
    return f"{repository.rstrip('/')}/{path}" if repository != "." else path


def _signals(hit: FoundHit) -> str:
    ordered = sorted(hit.signals.items(), key=lambda item: (-abs(item[1]), item[0]))
    # The reranker's part is a step of its own: it is shown even where it decides little.
    kept = [
        (name, value)
        for place, (name, value) in enumerate(ordered)
        if place < _MAX_SIGNALS or name == RERANKER_SIGNAL
    ]
    shown = [f"{name} {value:+.3f}" for name, value in kept]
    return f"score {hit.score:.3f} = " + ", ".join(shown)


def _notes(found: SearchResult) -> list[str]:
    lines = [f"note: {show_line(note)}" for note in found.notes]
    if found.not_covered:
        named = ", ".join(show_path(name) for name in found.not_covered[:_MAX_NAMED])
        more = len(found.not_covered) - _MAX_NAMED
        named += f" and {more} more" if more > 0 else ""
        lines.append(f"note: not indexed yet: {named}")
    lines.extend(
        f"ranking of {show_path(name)}: {show_line(ranking)}"
        for name, ranking in found.rankings.items()
    )
    return lines


def _foot(found: SearchResult, style: Style) -> Callable[[int], str]:
    def foot(n_shown: int) -> str:
        lines = _notes(found)
        if n_shown < len(found.hits) or found.has_more:
            at = found.offset + n_shown
            option = f"offset={at}" if style.for_agent else f"--offset {at}"
            lines.append(style.paint("dim", f"more: {option}"))
        return "".join(f"{line}\n" for line in lines)

    return foot
