"""Shows what was read: numbered lines, a heading for each of several parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from wherein.render.escape import show_line, show_path
from wherein.render.rendered import Rendered, Style
from wherein.tools.read_types import PartKind, ReadPart, ReadResult

__all__ = ["render", "slim", "trim"]

_LINES = frozenset({PartKind.TEXT, PartKind.NOTEBOOK})


def render(result: object, style: Style) -> Rendered:
    """Return the text of a `ReadResult`; every line is a part, so that a cut falls between two."""
    found = cast("ReadResult", result)
    shown = list(_shown(found, style))
    notes = "".join(f"[{show_line(note)}]\n" for note in found.notes)

    def foot(n_shown: int) -> str:
        if n_shown >= len(shown):
            return notes
        rest = [place for _text, place in shown[n_shown:] if place]
        return f"{notes}[cut to the budget; go on with {rest[0]}]\n" if rest else notes

    is_found = any(_is_found(part) for part in found.parts)
    return Rendered(tuple(text for text, _place in shown), foot=foot, is_found=is_found)


def _is_found(part: ReadPart) -> bool:
    """Return False for an error, and for lines past the end of a file."""
    is_past = part.kind is PartKind.TEXT and not part.texts and part.n_lines > 0
    return part.kind is not PartKind.ERROR and not is_past


def trim(result: object, n_parts: int) -> ReadResult:
    """Return the result with the first ``n_parts`` lines of the answer."""
    found = cast("ReadResult", result)
    kept: list[ReadPart] = []
    left = n_parts
    for part in found.parts:
        left -= len(found.parts) > 1
        if left <= 0:
            break
        n_lines = len(list(part.lines()))
        kept.append(part if n_lines <= left else _cut(part, left))
        left -= n_lines
    return replace(found, parts=tuple(kept))


_UNREAD = frozenset({"digest", "ends_with_newline", "has_numbers", "n_bytes"})
_USUAL = {"encoding": "utf-8", "line_ending": "lf", "next_line": 0}


def slim(found: dict[str, object]) -> dict[str, object]:
    """Return the structured copy for a model: what is as usual need not be said."""
    parts = cast("list[dict[str, object]]", found.get("parts", []))
    kept = [
        {n: v for n, v in part.items() if n not in _UNREAD and (n not in _USUAL or v != _USUAL[n])}
        for part in parts
    ]
    return {**found, **({"parts": kept} if kept else {})}


def _cut(part: ReadPart, n_lines: int) -> ReadPart:
    if part.kind not in _LINES:
        return replace(part, texts=part.texts[:n_lines])
    texts = part.texts[:n_lines]
    if len(texts) == len(part.texts):
        return part  # only notes are cut
    following = part.start_line + len(texts)
    return replace(part, texts=texts, end_line=following - 1, next_line=following)


def _shown(found: ReadResult, style: Style) -> Iterator[tuple[str, str]]:
    """Yield each line of the answer and the target that would go on from it."""
    for part in found.parts:
        if len(found.parts) > 1:
            yield f"{style.paint('path', _heading(part))}\n", _target(part, part.start_line)
        for index, line in enumerate(part.lines()):
            is_line = part.kind in _LINES and index < len(part.texts)
            number = part.start_line + index
            yield f"{line}\n", _target(part, number) if is_line else ""


def _heading(part: ReadPart) -> str:
    where = f":{part.start_line}-{part.end_line}" if part.start_line else ""
    symbol = f" {show_line(part.symbol)}" if part.symbol else ""
    return f"== {show_path(part.path)}{where}{symbol}"


def _target(part: ReadPart, number: int) -> str:
    return f"{show_path(part.path)}:{number}-{part.end_line}" if part.end_line else ""
