"""Shows what was read: numbered lines, a heading for each of several parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from wherein.render.escape import show_line, show_path
from wherein.render.rendered import Rendered, Style
from wherein.tools.read_types import PartKind, ReadPart, ReadResult

__all__ = ["render", "trim"]

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

    is_found = any(part.kind is not PartKind.ERROR for part in found.parts)
    return Rendered(tuple(text for text, _place in shown), foot=foot, is_found=is_found)


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


def _cut(part: ReadPart, n_lines: int) -> ReadPart:
    if part.kind not in _LINES:
        return replace(part, texts=part.texts[:n_lines])
    texts = part.texts[:n_lines]
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
