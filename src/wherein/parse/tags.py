"""What a file defines, uses and imports, and where it may be cut: one parse and one query pass.

A query marks what it finds by capture name:

- ``@d.<kind>`` a definition of one of `DEFINITION_KINDS`; ``@name`` inside it is its name
  (two names make two definitions), ``@qualified`` a name written with its owners
  (``Foo::bar``), ``@owner`` a receiver (Go's ``func (t *T)``). A name belongs to the innermost
  definition round it, so no pairing by match is needed, and the pass can use the cheaper flat
  captures.
- ``@scope`` a range that encloses others under its ``@name`` without defining it (Rust's impl).
- ``@r.<kind>`` the name of a reference of one of `REFERENCE_KINDS`.
- ``@comment``, ``@doc`` comments and documentation strings; ``@leading`` what stands before a
  definition and belongs to it (decorators, attributes).
- ``@import`` a whole import statement, read by `parse.imports`.
- ``@inside`` a node whose children the patterns below ``; inside`` are for (`parse.grammars`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from wherein.parse import grammars
from wherein.parse.cuts import order_cuts, walk_large
from wherein.parse.definitions import find_definitions
from wherein.parse.imports import find_imports
from wherein.parse.keys import KEYS
from wherein.parse.notebook import NOTEBOOK, cell_sources, is_python
from wherein.parse.outline import OUTLINES
from wherein.parse.pairing import DEFINITION_KINDS
from wherein.parse.references import REFERENCE_KINDS, find_references
from wherein.parse.script import blank_markup, part_starts
from wherein.parse.spans import Source, Span
from wherein.types import Import, Parsed

if TYPE_CHECKING:
    from tree_sitter import Node, Query, Tree

__all__ = ["DEFINITION_KINDS", "PARSE_VERSION", "REFERENCE_KINDS", "can_parse", "parse"]

PARSE_VERSION = 1
"""Part of the recipe: raise it when any definition, reference, import or cut can change."""

_EMPTY = Parsed((), (), (), (), (), ())

_READERS = OUTLINES | KEYS
"""Prose and configuration are read by their lines; a syntax tree would add nothing."""

_MATCH_LIMIT = 4096
"""Matches under way at once; without a bound, broken input can make a query quadratic."""

_STEPS_PER_BYTE = 0.15
_MIN_STEPS = 2_000
"""Progress calls a parse may make; sound code makes 0.003 to 0.01 a byte, tables of
short numbers and squeezed statements 0.055, a hundred thousand open braces one or more, each
slower than the last. Watching costs nothing that shows."""

_LONG_LINED = frozenset({"css", "javascript", "python", "scss", "tsx", "typescript"})
_MAX_LINE_BYTES = 5_000
"""Other languages' longer lines are data or hostile, and not parsed: scanners of several grammars
(bash, cmake, dart, kotlin) take quadratic time or more on them within one step, where no progress
call comes. In these six minified code is usual, and hostile lines were measured to end soon."""

_WORD_BYTES = 32


def can_parse(language: str | None) -> bool:
    """Return whether `parse` knows the language; other text is cut by lines."""
    return language is not None and (
        language in _READERS
        or language in grammars.EMBEDDED
        or language in grammars.query_languages()
    )


def parse(text: bytes, language: str | None) -> Parsed:
    """Return what the grammar says of one file.

    Args:
        text: The file as UTF-8. Any bytes do; those that are not UTF-8 are shown replaced.
        language: Grammar name. One without a query gives an empty answer.

    Returns:
        Definitions by position, references and imports by line, comments and cuts by offset.
        The same input always gives the same answer: limits count steps, not seconds.
    """
    if language is None or not can_parse(language):
        return _EMPTY
    if language in _READERS:
        return _READERS[language](text)
    name = grammars.EMBEDDED.get(language, language)
    code = _code_alone(text, language)
    source = Source(code)
    if name not in _LONG_LINED and source.longest_line() > _MAX_LINE_BYTES:
        return _without_tags(())
    tree = _tree(code, name)
    if tree is None:
        return _without_tags(())
    parsed = _tags(source, name, tree.root_node)
    if code is text or language == NOTEBOOK:
        return parsed
    cuts = dict(zip(parsed.cuts, parsed.cut_depths, strict=True))
    cuts.update(dict.fromkeys(part_starts(text), 0))
    cuts.pop(0, None)
    return replace(
        parsed, cuts=tuple(sorted(cuts)), cut_depths=tuple(cuts[x] for x in sorted(cuts))
    )


def _code_alone(text: bytes, language: str) -> bytes:
    """Return the text of what the grammar knows, in its place."""
    if language == NOTEBOOK:
        return cell_sources(text) if is_python(text) else b""
    return blank_markup(text) if language in grammars.EMBEDDED else text


def _tags(source: Source, language: str, root: Node) -> Parsed:
    depths, is_too_deep = walk_large(source, root)
    if is_too_deep:
        cuts = order_cuts(source, depths, ())
        return _without_tags(cuts)
    spans, is_cut_off = _captures(language, root)
    comments = _join(spans.pop("comment", []) + spans.pop("doc", []))
    leading = sorted({*comments, *spans.pop("leading", [])})
    imports = spans.pop("import", [])
    definitions, heads = find_definitions(source, language, spans, leading)
    imported = find_imports(source, language, imports)
    known = {definition.name for definition in definitions}
    known.update(name for item in imported for name in item.names)
    references, calls = find_references(source, language, spans, known)
    if calls:
        imported = tuple(sorted({*imported, *find_imports(source, language, calls)}, key=_by_line))
    cuts = order_cuts(source, depths, heads)
    return Parsed(
        definitions=definitions,
        references=references,
        imports=imported,
        comments=tuple(comments),
        cuts=tuple(offset for offset, _ in cuts),
        cut_depths=tuple(depth for _, depth in cuts),
        is_partial=is_cut_off or root.has_error,
    )


def _without_tags(cuts: Sequence[tuple[int, int]]) -> Parsed:
    """Return what can be said of a text that is too hostile to be queried."""
    offsets, depths = tuple(offset for offset, _ in cuts), tuple(depth for _, depth in cuts)
    return Parsed((), (), (), (), offsets, depths, is_partial=True)


def _by_line(item: Import) -> tuple[int, str, tuple[str, ...]]:
    return item.line, item.module, item.names


def _captures(language: str, root: Node) -> tuple[dict[str, list[Span]], bool]:
    """Return the spans of every capture, in no order, and whether the match limit cut some off."""
    from tree_sitter import QueryCursor

    queries = grammars.queries(language)
    spans: defaultdict[str, list[Span]] = defaultdict(list)
    is_cut_off = False

    def ask(query: Query, nodes: Sequence[Node], max_depth: int | None) -> list[Node]:
        nonlocal is_cut_off
        cursor = QueryCursor(query, match_limit=_MATCH_LIMIT)
        if max_depth is not None:
            cursor.set_max_start_depth(max_depth)
        inside: list[Node] = []
        for node in nodes:
            captures = cursor.captures(node)
            inside += captures.pop("inside", ())
            for name, found in captures.items():
                spans[name] += [node.byte_range for node in found]
            is_cut_off = is_cut_off or cursor.did_exceed_match_limit
        return inside

    inside = ask(queries.anywhere, [root], None)
    if queries.top is not None:
        inside += ask(queries.top, [root], 0)
    if queries.inside is not None:
        ask(queries.inside, inside, 1)
    return spans, is_cut_off


def _tree(text: bytes, language: str) -> Tree | None:
    """Return the syntax tree, or None when the parse took far more steps than sound code does."""
    parser = grammars.parser(language)
    steps_left = _MIN_STEPS + int(len(text) * _STEPS_PER_BYTE)
    reader = _Reader(text)

    def is_over(_offset: int, _has_error: bool) -> bool:
        nonlocal steps_left
        steps_left -= 1
        return steps_left < 0

    try:
        tree = parser.parse(reader, progress_callback=is_over)
    except ValueError:  # "Parsing failed": the callback ended it
        return None
    reader.end_parse()
    return tree


class _Reader:
    """Hands the text to the parser through a call: only so can a parse be watched.

    The parser gets a view of all that follows (scanners that look far ahead ask a hundred thousand
    times; copying a piece each time doubled the cost of Scala). The tree asks again for the text
    of a node that a predicate compares, and there the binding reads bytes unchecked, so after the
    parse it gets bytes, as few as a word has.
    """

    __slots__ = ("_text", "_view")

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._view: memoryview | None = memoryview(text)

    def __call__(self, offset: int, _point: object) -> bytes | memoryview:
        if self._view is not None:
            return self._view[offset:]
        return self._text[offset : offset + _WORD_BYTES]

    def end_parse(self) -> None:
        """Give bytes from now on."""
        self._view = None


def _join(spans: list[Span]) -> list[Span]:
    """Return the spans in order without overlap."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            if end > joined[-1][1]:
                joined[-1] = (joined[-1][0], end)
        elif end > start:
            joined.append((start, end))
    return joined
