"""Which symbols a file defines: names, kinds, what encloses them, and their heads."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from wherein.parse.spans import MAX_NAME_BYTES, Source, Span
from wherein.parse.words import NOT_DEFINED
from wherein.types import Definition

__all__ = ["CONTAINER_KINDS", "DEFINITION_KINDS", "find_definitions"]

DEFINITION_KINDS = (
    "class",
    "struct",
    "interface",
    "trait",
    "enum",
    "union",
    "object",
    "extension",
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

_MAX_SIGNATURE_CHARS = 200
_HEAD_BYTES = 600
_MAX_ENCLOSING = 32
_MAX_DEFINITIONS = 50_000
"""Bound generated files and nonsense nested 100,000 deep."""
_FILE_WIDE = frozenset({("perl", "package"), ("csharp", "namespace"), ("php", "namespace")})
"""Statements that name all that follows them, up to the next of their kind."""

_NO_OWNERS = frozenset({"module", "exports", "prototype", "this", "window", "globalThis"})
"""JavaScript's places that own whatever a file hands out."""

_TRIMMED = {"bash": "=", "perl": "$@%&", "ruby": ":", "make": " ", "css": " "}
"""Signs that are written with a name and are no part of it."""

_IMPORTING = re.compile(rb"=\s*(?:await\s+)?(?:require|import|@import)\s*\(?\s*[\"'`]")
_MARKED = frozenset(
    ("csharp", "dart", "groovy", "java", "javascript", "kotlin", "rust", "scala", "swift", "tsx")
    + ("typescript",)
)
"""Languages whose annotations stand inside the definition; a signature begins after them."""

_C_FAMILY = frozenset({"c", "cpp", "objc"})
_CLAUSES = frozenset({"haskell", "elixir", "erlang"})
_CLAUSE_KINDS = frozenset({"function", "method", "macro", "declaration"})
"""Languages that define a function by several clauses, and the kinds of those."""

_OWNER_SEPARATOR = re.compile(r"::|[.:\\$]|->|#")
_TYPE_ARGUMENTS = re.compile(r"<[^<>]*>")
_WORDS = re.compile(rb"[\w\s@]*")
_ONE_BREAK = re.compile(rb"[^\S\n]*\n?[^\S\n]*")
_HEAD_END = re.compile(rb"[(){}\[\]\n;]|\bdo\b|:(?=\s*\n)")
_HEAD_REST = re.compile(r"[\s:{;,]*(?:\s=)?[\s:{;,]*$")
_SPACES = re.compile(r"\s+")
_MARKERS = re.compile(
    r"(?:@(?!interface\b)[\w.:]+(?:\([^()]*\))?\s*|\[[^\[\]]*\]\s+|#\[[^\[\]]*\]\s*)+"
)
_OPEN = frozenset(b"([")
_CLOSE = frozenset(b")]")


@dataclass(slots=True)
class _Found:
    """One definition under construction."""

    start: int
    end: int
    kind: str
    names: list[Span] = field(default_factory=list[Span])
    owners: list[Span] = field(default_factory=list[Span])
    qualified: set[Span] = field(default_factory=set[Span])
    """Names of the whole file that are written with their owners."""
    start_of_leading: int = 0
    is_file_wide: bool = False


@dataclass(frozen=True, slots=True)
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
    definitions: list[Definition] = []
    heads: list[Span] = []
    around: list[_Around] = []
    for item in _name(_lengthen(_ranges(spans), source, spans.get("tail", ())), spans):
        item.is_file_wide = (language, item.kind) in _FILE_WIDE and (
            source.text[item.start : item.end].rstrip()[-1:] != b"}"
        )
        outer = _leave(around, language, item)
        if item.kind == "function" and (outer.kind in CONTAINER_KINDS or item.owners):
            item.kind = "method"
        item.start_of_leading = _with_leading(source, item.start, leading, leading_ends)
        if item.start_of_leading < item.start:
            heads.append((item.start_of_leading, item.start))
        found, path = _define(source, language, item, outer)
        definitions += found
        if len(outer.path) < len(path) <= _MAX_ENCLOSING and not (
            item.kind == "type" and language in _C_FAMILY
        ):
            _enter(around, source, item, path)
    definitions.sort(key=lambda d: (d.start_byte, -d.end_byte, d.name_line, d.name))
    if language in _CLAUSES:
        definitions = _join_clauses(definitions)
    return tuple(definitions[:_MAX_DEFINITIONS]), heads


def _define(
    source: Source, language: str, item: _Found, outer: _Around
) -> tuple[list[Definition], tuple[str, ...]]:
    """Return a definition for each name of ``item``, and the path that it is for what it holds."""
    around = outer.path
    if item.kind == "field" and outer.kind in ("method", "constructor"):
        around = around[:-1]  # a constructor's parameter that is a property
    enclosing = around + tuple(source.slice(owner) for owner in item.owners)
    path = enclosing
    definitions: list[Definition] = []
    is_import = item.kind in ("constant", "variable") and _IMPORTING.search(
        source.text, item.start, min(item.end, item.start + _HEAD_BYTES)
    )
    for span in item.names:
        owners, name = _split_name(source, language, span, span in item.qualified)
        if not name or is_import or name in NOT_DEFINED.get(language, ()):
            continue
        if path is enclosing:
            path = (*enclosing, *owners, name)
        if item.kind != "scope":
            definitions.append(
                _definition(source, language, item, span, (*enclosing, *owners, name))
            )
    return definitions, path


def _leave(around: list[_Around], language: str, item: _Found) -> _Around:
    """Take away what ended before ``item``, and return what it lies in."""
    while around and around[-1].end <= item.start:
        around.pop()
    if (language, item.kind) in _FILE_WIDE and around and around[0].is_file_wide:
        if item.is_file_wide:
            around.clear()
        return _FILE
    return around[-1] if around else _FILE


def _enter(around: list[_Around], source: Source, item: _Found, path: tuple[str, ...]) -> None:
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
            joined[-1] = replace(last, kind=kind, end_byte=item.end_byte, end_line=item.end_line)
        else:
            joined.append(item)
    return joined


def _lengthen(found: list[_Found], source: Source, tails: Sequence[Span]) -> list[_Found]:
    """Add to each definition the body that follows it as a sibling (Dart)."""
    starts = [start for start, _ in tails]
    for item in found if tails else ():
        index = bisect_left(starts, item.end)
        if index < len(tails) and not source.text[item.end : starts[index]].strip():
            item.end = tails[index][1]
    return found


def _ranges(spans: dict[str, list[Span]]) -> list[_Found]:
    """Return the definitions and scopes by position, each range once."""
    kinds: dict[Span, str] = dict.fromkeys(spans.get("scope", ()), "scope")
    for kind in reversed(DEFINITION_KINDS):
        kinds.update(dict.fromkeys(spans.get(f"d.{kind}", ()), kind))
    order = sorted(kinds, key=lambda span: (span[0], -span[1]))
    return [_Found(start, end, kinds[start, end]) for start, end in order]


def _name(found: list[_Found], spans: dict[str, list[Span]]) -> list[_Found]:
    """Give each name and owner to the innermost definition round it."""
    qualified = set(spans.get("qualified", ()))
    owners = set(spans.get("owner", ()))
    names = sorted({*spans.get("name", ()), *qualified, *owners})
    around: list[_Found] = []
    position = 0
    for name in names:
        while position < len(found) and found[position].start <= name[0]:
            while around and around[-1].end <= found[position].start:
                around.pop()
            around.append(found[position])
            position += 1
        while around and around[-1].end < name[1]:
            around.pop()
        if not around or name[1] - name[0] > MAX_NAME_BYTES:
            continue
        if name in owners:
            around[-1].owners.append(name)
        else:
            around[-1].names.append(name)
    for item in found:
        item.qualified = qualified
    return found


def _split_name(
    source: Source, language: str, span: Span, is_qualified: bool
) -> tuple[tuple[str, ...], str]:
    """Return the owners written before the name, and the name."""
    text = source.slice(span).strip("\"'`")
    text = text.strip(_TRIMMED.get(language, ""))
    if not is_qualified:
        return (), _SPACES.sub(" ", text)
    text, operator, sign = text.partition("operator")
    while (bare := _TYPE_ARGUMENTS.sub("", text)) != text:
        text = bare
    parts = [part.strip("\"'`[]() ") for part in _OWNER_SEPARATOR.split(text)]
    if operator:
        parts[-1] += operator + sign
    return tuple(part for part in parts[:-1] if part and part not in _NO_OWNERS), parts[-1]


def _with_leading(source: Source, start: int, leading: Sequence[Span], ends: Sequence[int]) -> int:
    """Return where the definition begins with its modifiers, decorators and comments."""
    text = source.text
    start = _line_head(source, start)
    index = bisect_right(ends, start) - 1
    while index >= 0:
        first, last = leading[index]
        if not _ONE_BREAK.fullmatch(text, last, start):
            break
        head = _line_head(source, first)
        if text[source.line_start(head) : head].strip():
            break
        start = head
        index -= 1
        while index >= 0 and leading[index][1] > start:
            index -= 1
    return start


def _line_head(source: Source, start: int) -> int:
    """Return the first word of the line when only words (``export default``) stand before."""
    line_start = source.line_start(start)
    prefix = source.text[line_start:start]
    if len(prefix) <= MAX_NAME_BYTES and _WORDS.fullmatch(prefix):
        return start - len(prefix.lstrip())
    return start


def _definition(
    source: Source,
    language: str,
    item: _Found,
    span: Span,
    path: tuple[str, ...],
) -> Definition:
    is_method = item.kind == "function" and span in item.qualified and len(path) > 1
    return Definition(
        name=path[-1],
        kind="method" if is_method else item.kind,
        enclosing=path[:-1],
        start_byte=item.start_of_leading,
        end_byte=item.end,
        start_line=source.line_of(item.start_of_leading),
        end_line=source.last_line_of(item.start, item.end),
        name_line=source.line_of(span[0]),
        signature=_signature(source, item, span, has_markers=language in _MARKED),
    )


def _signature(source: Source, item: _Found, name: Span, *, has_markers: bool) -> str:
    """Return the head on one line: up to the body, or the end of the line once brackets close."""
    text = source.text
    start = _line_head(source, item.start)
    limit = min(item.end, max(start, name[1]) + _HEAD_BYTES)
    if name[1] - start > _HEAD_BYTES:
        start = source.line_start(name[0])
    end = _head_end(text, name[1], limit)
    head = _SPACES.sub(" ", text[start:end].decode("utf-8", "replace")).strip()
    marked = _MARKERS.match(head) if has_markers else None
    if marked is not None and marked.end() < len(head):
        head = head[marked.end() :]
    return _HEAD_REST.sub("", head)[:_MAX_SIGNATURE_CHARS]


def _head_end(text: bytes, start: int, limit: int) -> int:
    depth = 0
    for match in _HEAD_END.finditer(text, start, limit):
        sign = text[match.start()]
        if sign in _OPEN:
            depth += 1
        elif sign in _CLOSE:
            depth = max(0, depth - 1)
        elif depth == 0:
            return match.start()
    return limit
