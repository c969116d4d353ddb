"""Which name belongs to which definition: the innermost one round it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from wherein.parse.spans import MAX_NAME_BYTES, Source, Span

__all__ = ["CONTAINER_KINDS", "DEFINITION_KINDS", "Found", "find_named"]

DEFINITION_KINDS = (
    "struct",
    "interface",
    "trait",
    "enum",
    "union",
    "object",
    "extension",
    "class",
    "module",
    "namespace",
    "package",
    "contract",
    "service",
    "message",
    "resource",
    "table",
    "view",
    "constructor",
    "method",
    "function",
    "macro",
    "event",
    "modifier",
    "type",
    "constant",
    "field",
    "variable",
    "target",
    "selector",
    "section",
    "key",
    "declaration",
)
"""Kinds of definitions. Where two patterns mark the same range, the earlier kind wins.

``declaration`` is a prototype or forward declaration: the symbol is defined elsewhere.
"""

CONTAINER_KINDS = frozenset(
    ("class", "struct", "interface", "trait", "enum", "union", "object", "extension", "contract")
)
"""Kinds whose functions are methods."""

_BLANKS = frozenset(b" \t\r\n")


@dataclass(slots=True)
class Found:
    """One definition, or scope, under construction."""

    start: int
    end: int
    kind: str
    names: list[Span] = field(default_factory=list[Span])
    owners: list[Span] = field(default_factory=list[Span])
    is_file_wide: bool = False
    start_of_leading: int = 0


def find_named(source: Source, spans: dict[str, list[Span]]) -> list[Found]:
    """Return the definitions and scopes by position, each with its names and owners."""
    kinds: dict[Span, str] = dict.fromkeys(spans.get("scope", ()), "scope")
    for kind in reversed(DEFINITION_KINDS):
        if (ranges := spans.get(f"d.{kind}")) is not None:
            kinds.update(dict.fromkeys(ranges, kind))
    order = sorted(kinds, key=lambda span: (span[0], -span[1]))
    text = source.text
    found = [Found(start, _trimmed(text, end), kinds[start, end]) for start, end in order]
    if "tail" in spans:
        _lengthen(found, source, sorted(spans["tail"]))
    _name(found, spans)
    return found


def _trimmed(text: bytes, end: int) -> int:
    """Return ``end`` without the blank lines that some grammars (make) count in."""
    while end > 0 and text[end - 1] in _BLANKS:
        end -= 1
    return end


def _lengthen(found: Sequence[Found], source: Source, tails: Sequence[Span]) -> None:
    """Add to each definition the body that follows it as a sibling (Dart)."""
    starts = [start for start, _ in tails]
    for item in found:
        index = bisect_left(starts, item.end)
        if index < len(tails) and not source.text[item.end : starts[index]].strip():
            item.end = tails[index][1]


def _name(found: Sequence[Found], spans: dict[str, list[Span]]) -> None:
    owners = frozenset(spans.get("owner", ()))
    names = sorted({*spans.get("name", ()), *spans.get("qualified", ()), *owners})
    around: list[Found] = []
    position = 0
    for name in names:
        start, end = name
        while position < len(found) and found[position].start <= start:
            item = found[position]
            while around and around[-1].end <= item.start:
                around.pop()
            around.append(item)
            position += 1
        while around and around[-1].end < end:
            around.pop()
        if around and end - start <= MAX_NAME_BYTES:
            (around[-1].owners if name in owners else around[-1].names).append(name)
