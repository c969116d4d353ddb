"""Which symbols a file defines: names, kinds, what encloses them, and their heads."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from wherein.parse.pairing import CONTAINER_KINDS, Found, find_named
from wherein.parse.signature import line_head, signature
from wherein.parse.spans import Source, Span
from wherein.parse.words import NO_OWNERS, NOT_DEFINED, TRIMMED
from wherein.types import Definition

__all__ = ["find_definitions"]

_MAX_ENCLOSING = 32
_MAX_DEFINITIONS = 50_000
"""Bound generated files and nonsense nested 100,000 deep."""

_FILE_WIDE = frozenset({("perl", "package"), ("csharp", "namespace"), ("php", "namespace")})
"""Statements that name all that follows them, up to the next of their kind."""

_C_FAMILY = frozenset({"c", "cpp", "objc"})
_CLAUSES = frozenset({"haskell", "elixir", "erlang"})
_CLAUSE_KINDS = frozenset({"function", "method", "macro", "declaration"})
"""Languages that define a function by several clauses, and the kinds of those."""

_OWNER_SEPARATOR = re.compile(r"::|[.:\\$]|->|#|@")
_TYPE_ARGUMENTS = re.compile(r"<[^<>]*>")
_ONE_BREAK = re.compile(rb"[^\S\n]*+\n?[^\S\n]*+")
_IMPORTING = re.compile(rb"=\s*(?:await\s+)?(?:require|import|@import)\s*\(?\s*[\"'`]")
_IMPORTING_BYTES = 300


@dataclass(slots=True)
class _Around:
    """What encloses the definitions up to ``end``."""

    end: int
    path: tuple[str, ...]
    kind: str
    is_file_wide: bool = False


_FILE = _Around(0, (), "")


def find_definitions(
    source: Source, language: str, spans: dict[str, list[Span]], leading: Sequence[Span]
) -> tuple[tuple[Definition, ...], list[Span]]:
    """Return the definitions by position, and each one's comments' start with its own start."""
    leading_ends = [end for _, end in leading]
    documented = dict(leading)
    """A definition that begins with its documentation (GraphQL) has its head after it."""
    qualified = frozenset(spans.get("qualified", ()))
    definitions: list[Definition] = []
    heads: list[Span] = []
    around: list[_Around] = []
    for item in find_named(source, spans):
        outer = _leave(around, source, language, item)
        if item.kind == "function" and (outer.kind in CONTAINER_KINDS or item.owners):
            item.kind = "method"
        start = line_head(source, item.start)
        item.start_of_leading = _with_leading(source, start, leading, leading_ends)
        if item.start_of_leading < item.start:
            heads.append((item.start_of_leading, item.start))
        item.start = documented.get(item.start, start)
        path = _define(source, language, item, outer, qualified, definitions)
        if len(outer.path) < len(path) <= _MAX_ENCLOSING and not (
            item.kind == "type" and language in _C_FAMILY
        ):
            _enter(around, source, item, path)
    definitions.sort(key=lambda d: (d.start_byte, -d.end_byte, d.name_line, d.name))
    if language in _CLAUSES:
        definitions = _join_clauses(definitions)
    return tuple(definitions[:_MAX_DEFINITIONS]), heads


def _define(
    source: Source,
    language: str,
    item: Found,
    outer: _Around,
    qualified: frozenset[Span],
    definitions: list[Definition],
) -> tuple[str, ...]:
    """Add a definition for each name of ``item``; return the path it is for what it holds."""
    enclosing = outer.path
    if item.kind == "field" and outer.kind in ("method", "constructor"):
        enclosing = enclosing[:-1]  # a constructor's parameter that is a property
    enclosing += tuple([source.slice(*owner) for owner in item.owners])
    path = enclosing
    if item.kind in ("constant", "variable") and _IMPORTING.search(
        source.text, item.start, min(item.end, item.start + _IMPORTING_BYTES)
    ):
        return path
    if item.kind == "variable" and language in _C_FAMILY:
        item.kind = "declaration" if source.text.startswith(b"extern", item.start) else item.kind
    newlines = source.newlines
    first, last = item.start_of_leading, max(item.start, item.end - 1)
    for span in item.names:
        owners, name = _split_name(source, language, span, is_qualified=span in qualified)
        if not name or name in NOT_DEFINED.get(language, ()):
            continue
        if path is enclosing:
            path = (*enclosing, *owners, name)
        if item.kind != "scope":
            kind = "method" if owners and item.kind == "function" else item.kind
            definitions.append(
                Definition(
                    name=name,
                    kind=kind,
                    enclosing=enclosing + owners,
                    start_byte=first,
                    end_byte=item.end,
                    start_line=bisect_left(newlines, first) + 1,
                    end_line=bisect_left(newlines, last) + 1,
                    name_line=bisect_left(newlines, span[0]) + 1,
                    signature=signature(source, language, item.start, item.end, span),
                )
            )
    return path


def _leave(around: list[_Around], source: Source, language: str, item: Found) -> _Around:
    """Take away what ended before ``item``, and return what it lies in."""
    while around and around[-1].end <= item.start:
        around.pop()
    if (language, item.kind) in _FILE_WIDE:
        item.is_file_wide = source.text[item.start : item.end].rstrip()[-1:] != b"}"
        if around and around[0].is_file_wide:
            if item.is_file_wide:
                around.clear()
            return _FILE
    return around[-1] if around else _FILE


def _enter(around: list[_Around], source: Source, item: Found, path: tuple[str, ...]) -> None:
    """Put ``item`` round what follows inside it."""
    kind = "class" if item.kind == "scope" else item.kind
    end = len(source.text) if item.is_file_wide else item.end
    around.append(_Around(end, path, kind, item.is_file_wide))


def _join_clauses(definitions: Sequence[Definition]) -> list[Definition]:
    """Make one definition of a type signature and the clauses that follow it."""
    joined: list[Definition] = []
    for item in definitions:
        last = joined[-1] if joined else None
        if (
            last is not None
            and (last.name, last.enclosing) == (item.name, item.enclosing)
            and item.kind in _CLAUSE_KINDS
            and last.kind in _CLAUSE_KINDS
        ):
            kind = item.kind if last.kind == "declaration" else last.kind
            joined[-1] = last._replace(kind=kind, end_byte=item.end_byte, end_line=item.end_line)
        else:
            joined.append(item)
    return joined


def _split_name(
    source: Source, language: str, span: Span, *, is_qualified: bool
) -> tuple[tuple[str, ...], str]:
    """Return the owners written before the name, and the name."""
    text = source.slice(*span)
    if not is_qualified and text.isidentifier():
        return (), text
    text = text.strip("\"'`")
    if language in TRIMMED:
        text = text.strip(TRIMMED[language])
    if not is_qualified:
        return (), text if text.isidentifier() else " ".join(text.split())
    text, operator, sign = text.partition("operator")
    while (bare := _TYPE_ARGUMENTS.sub("", text)) != text:
        text = bare
    parts = [part.strip("\"'`[]() ") for part in _OWNER_SEPARATOR.split(text)]
    if operator:
        parts[-1] += operator + sign
    return tuple(part for part in parts[:-1] if part and part not in NO_OWNERS), parts[-1]


def _with_leading(source: Source, start: int, leading: Sequence[Span], ends: Sequence[int]) -> int:
    """Return where the definition begins with the decorators and comments above it."""
    text = source.text
    index = bisect_right(ends, start) - 1
    while index >= 0:
        first, last = leading[index]
        if not _ONE_BREAK.fullmatch(text, last, start):
            break
        head = line_head(source, first)
        if source.indented_from(head) is None:
            break
        start = head
        index -= 1
        while index >= 0 and ends[index] > start:
            index -= 1
    return start
