"""What a file of prose or configuration is divided into: headings and keys as definitions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wherein.parse.spans import MAX_NAME_BYTES, Source
from wherein.types import Definition, Parsed

__all__ = ["OUTLINES", "Entry", "outline"]

_MAX_SIGNATURE_CHARS = 200
_PARAGRAPH_DEPTH = 50
"""Deeper than any heading: a section is cut at its paragraphs only when it does not fit."""

_PARAGRAPH = re.compile(rb"\n[^\S\n]*\n(?=[^\n])")
_FENCE = re.compile(rb"^ {0,3}(```+|~~~+)[^\n]*$", re.MULTILINE)
_ATX = re.compile(
    rb"^ {0,3}(#{1,6})(?:[^\S\n]+([^\n]*?))?(?:[^\S\n]+#+)?[^\S\n]*\r?$", re.MULTILINE
)
_SETEXT = re.compile(
    rb"^ {0,3}([^\s>#|`~-][^\n]*?)[^\S\n]*\r?\n {0,3}(=+|--+)[^\S\n]*\r?$", re.MULTILINE
)
_FRONT_MATTER = re.compile(rb"\A---[^\S\n]*\r?\n.*?^---[^\S\n]*\r?$", re.MULTILINE | re.DOTALL)
_RST_TITLE = re.compile(
    rb"^(?:([=\-`:.'\"~^_*+#<>])\1{2,}[^\S\n]*\r?\n)?[^\S\n]?([^\s=\-`:.'\"~^_*+#<>][^\n]*?)[^\S\n]*\r?\n"
    rb"([=\-`:.'\"~^_*+#<>])\3{2,}[^\S\n]*\r?$",
    re.MULTILINE,
)
_ASCIIDOC = re.compile(rb"^(={1,6})[^\S\n]+([^\n]+?)[^\S\n]*\r?$", re.MULTILINE)
_ORG = re.compile(rb"^(\*{1,8})[^\S\n]+([^\n]+?)[^\S\n]*\r?$", re.MULTILINE)
_LATEX = re.compile(
    rb"^[^\S\n]*\\(part|chapter|section|subsection|subsubsection|paragraph)\*?\{([^\n}]*)\}",
    re.MULTILINE,
)
_LATEX_LEVELS = (b"part", b"chapter", b"section", b"subsection", b"subsubsection", b"paragraph")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
_MARKUP = re.compile(r"[`*]+|<[^<>]*>")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Entry:
    """A heading or key: where it begins, how deep it is, and what it is called."""

    start: int
    level: int
    name: str
    kind: str = "section"
    is_named: bool = True
    """False for a place to cut that is no definition."""
    title: int | None = None
    """Where the line with the name begins, when that is not ``start`` (a title under a line)."""


def outline(text: bytes, entries: Sequence[Entry], comments: Sequence[tuple[int, int]]) -> Parsed:
    """Return the definitions and cuts of ``entries``, which are in order."""
    source = Source(text)
    definitions: list[Definition] = []
    ends = _ends(entries, len(text))
    around: list[Entry] = []
    cuts: dict[int, int] = {}
    for match in _PARAGRAPH.finditer(text):
        cuts[match.end()] = _PARAGRAPH_DEPTH
    for entry, end in zip(entries, ends, strict=True):
        while around and around[-1].level >= entry.level:
            around.pop()
        cuts[entry.start] = entry.level
        if not entry.is_named or not entry.name or len(entry.name) > MAX_NAME_BYTES:
            continue
        title = entry.start if entry.title is None else entry.title
        head = text[title : source.next_line_start(title)].decode("utf-8", "replace")
        definitions.append(
            Definition(
                name=entry.name,
                kind=entry.kind,
                enclosing=tuple(outer.name for outer in around),
                start_byte=entry.start,
                end_byte=end,
                start_line=source.line_of(entry.start),
                end_line=source.last_line_of(entry.start, end),
                name_line=source.line_of(title),
                signature=_SPACES.sub(" ", head).strip()[:_MAX_SIGNATURE_CHARS],
            )
        )
        around.append(entry)
    cuts.pop(0, None)
    cuts.pop(len(text), None)
    places = sorted(cuts.items())
    return Parsed(
        definitions=tuple(definitions),
        references=(),
        imports=(),
        comments=tuple(comments),
        cuts=tuple(offset for offset, _ in places),
        cut_depths=tuple(depth for _, depth in places),
    )


def _ends(entries: Sequence[Entry], end: int) -> list[int]:
    """Return where each entry ends: at the next one that is not deeper."""
    ends = [end] * len(entries)
    waiting: list[int] = []
    for index, entry in enumerate(entries):
        while waiting and entries[waiting[-1]].level >= entry.level:
            ends[waiting.pop()] = entry.start
        waiting.append(index)
    return ends


def _heading(raw: bytes) -> str:
    text = _LINK.sub(r"\1", raw.decode("utf-8", "replace"))
    return _SPACES.sub(" ", _MARKUP.sub("", text)).strip()


def _markdown(text: bytes) -> Parsed:
    hidden = _fences(text)
    front = _FRONT_MATTER.match(text)
    if front is not None:
        hidden.insert(0, front.span())
    found = [(m.start(), len(m.group(1)), m.group(2) or b"") for m in _ATX.finditer(text)]
    found += [
        (m.start(), 1 if m.group(2).startswith(b"=") else 2, m.group(1))
        for m in _SETEXT.finditer(text)
    ]
    return outline(text, _visible(sorted(found), hidden), ())


def _visible(
    found: Sequence[tuple[int, int, bytes]], hidden: Sequence[tuple[int, int]]
) -> list[Entry]:
    """Return the headings that do not stand in a code block."""
    entries: list[Entry] = []
    index = 0
    for start, level, raw in found:
        while index < len(hidden) and hidden[index][1] <= start:
            index += 1
        if index == len(hidden) or start < hidden[index][0]:
            entries.append(Entry(start, level, _heading(raw)))
    return entries


def _fences(text: bytes) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    opened: tuple[int, bytes] | None = None
    for match in _FENCE.finditer(text):
        mark = match.group(1)
        if opened is None:
            opened = (match.start(), mark)
        elif mark[:1] == opened[1][:1] and len(mark) >= len(opened[1]):
            spans.append((opened[0], match.end()))
            opened = None
    if opened is not None:
        spans.append((opened[0], len(text)))
    return spans


def _rst(text: bytes) -> Parsed:
    levels: dict[bytes, int] = {}
    entries: list[Entry] = []
    for match in _RST_TITLE.finditer(text):
        over, title, under = match.groups()
        if over is not None and over != under:
            continue
        level = levels.setdefault((over or b"") + under, len(levels) + 1)
        entries.append(Entry(match.start(), level, _heading(title), title=match.start(2)))
    return outline(text, entries, ())


def _by_sign(pattern: re.Pattern[bytes]) -> Callable[[bytes], Parsed]:
    """Return a reader of headings whose level is the number of signs before them."""

    def read(text: bytes) -> Parsed:
        found = pattern.finditer(text)
        return outline(
            text, [Entry(m.start(), len(m.group(1)), _heading(m.group(2))) for m in found], ()
        )

    return read


def _latex(text: bytes) -> Parsed:
    entries = [
        Entry(match.start(), _LATEX_LEVELS.index(match.group(1)), _heading(match.group(2)))
        for match in _LATEX.finditer(text)
    ]
    return outline(text, entries, ())


OUTLINES: dict[str, Callable[[bytes], Parsed]] = {
    "asciidoc": _by_sign(_ASCIIDOC),
    "latex": _latex,
    "markdown": _markdown,
    "org": _by_sign(_ORG),
    "rst": _rst,
    "typst": _by_sign(_ASCIIDOC),
}
"""Language of prose to its reader."""
