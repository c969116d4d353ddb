"""Makes the parts of one file that a target names: lines, symbols, cells, or what it is."""

from __future__ import annotations

import os
from codecs import utf_8_decode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha1

from wherein.errors import PathError, UsageError
from wherein.tools.read_lines import Lines, Range, read_large, split_lines, take
from wherein.tools.read_media import Media, describe_media
from wherein.tools.read_notebook import notebook_lines
from wherein.tools.read_targets import Target
from wherein.tools.read_types import PartKind, ReadPart
from wherein.tools.symbols import definitions_named
from wherein.types import Definition
from wherein.walk.blob import blob_id
from wherein.walk.encoding import Decoded, decode, decode_unmarked
from wherein.walk.paths import show_path

__all__ = ["Asked", "file_parts", "large_file_parts"]

HEAD_BYTES = 1 << 16

_MARK = "\ufeff"
"""The byte-order mark, which is no part of the text."""

MAX_SAME_NAME = 5
"""Symbols of one name shown at once; more are overloads, listed by their lines."""

_ENDING_NOTES = {
    "crlf": "line endings CRLF",
    "mixed": "line endings mixed: CRLF and LF",
    "cr": "line endings CR; grep counts the file as one line",
}

_UNMARKED_NOTE = " without a byte-order mark; grep and search take the file for binary"


@dataclass(frozen=True, slots=True)
class Asked:
    """What holds for all targets of a call."""

    offset: int
    limit: int
    numbers: bool


def file_parts(target: Target, data: bytes, asked: Asked) -> list[ReadPart]:
    """Return the parts of the file with the content ``data``.

    Raises:
        PathError: It holds a private key, or no such symbol.
    """
    return _File(target, data, asked).parts()


def large_file_parts(target: Target, descriptor: int, n_bytes: int, asked: Asked) -> list[ReadPart]:
    """Return the parts of an open file that is too large to hold.

    Raises:
        UsageError: A symbol is asked for.
    """
    path = target.place.shown(target.place.path)
    head = os.pread(descriptor, HEAD_BYTES, 0)
    tail = os.pread(descriptor, 1024, max(0, n_bytes - 1024))
    media = describe_media(head, tail, n_bytes)
    if media is not None or head.startswith((b"\xff\xfe", b"\xfe\xff")) or _is_binary(head):
        return [_described(path, media, n_bytes)]
    _refuse_private_key(path, head.decode("utf-8", "replace"))
    if target.symbol:
        message = f"{show_path(path)!r} is too large to look for symbols ({n_bytes} bytes)"
        raise UsageError(message, hint="grep for the name and read the lines")
    parts: list[ReadPart] = []
    for wanted in target.ranges or (Range(asked.offset),):
        lines = read_large(descriptor, wanted, asked.limit)
        if lines.start == 1 and lines.texts:
            lines = replace(lines, texts=(lines.texts[0].removeprefix(_MARK), *lines.texts[1:]))
        shown = "\n".join(lines.texts)
        part = ReadPart(
            path=path,
            kind=PartKind.TEXT,
            n_bytes=n_bytes,
            encoding="utf-8",
            digest=sha1(shown.encode("utf-8", "replace"), usedforsecurity=False).hexdigest(),
            has_numbers=asked.numbers,
        )
        parts.append(_filled(part, lines, wanted, asked))
    return parts


class _File:
    """A file in memory and the target that names parts of it."""

    def __init__(self, target: Target, data: bytes, asked: Asked) -> None:
        self._target = target
        self._data = data
        self._asked = asked
        self._path = target.place.shown(target.place.path)

    def parts(self) -> list[ReadPart]:
        if not self._data:
            return [ReadPart(self._path, PartKind.EMPTY, notes=("the file is empty (0 bytes)",))]
        media = describe_media(self._data[:HEAD_BYTES], self._data[-1024:], len(self._data))
        decoded = None if media is not None else _decode(self._data)
        if decoded is None:
            return [_described(self._path, media, len(self._data))]
        _refuse_private_key(self._path, decoded.text)
        if self._target.symbol:
            return self._symbol_parts(decoded)
        if self._is_notebook():
            cells = notebook_lines(decoded.text)
            if cells is not None:
                return [self._notebook_part(decoded, cells)]
        lines, ending = split_lines(decoded.text)
        ranges = self._target.ranges or (Range(self._asked.offset),)
        return [self._part(decoded, lines, ending, wanted) for wanted in ranges]

    def _is_notebook(self) -> bool:
        is_whole = not self._target.ranges and self._asked.offset == 1
        return is_whole and self._path.endswith(".ipynb")

    def _base(self, decoded: Decoded) -> ReadPart:
        notes: list[str] = []
        if self._path.lower().endswith((".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ico")):
            what = "HTML text" if "<html" in decoded.text[:500].lower() else "text"
            notes.append(f"named as an image, but it is {what}, {len(self._data)} bytes")
        if decoded.encoding != "utf-8":
            notes.append(f"encoding {decoded.encoding}{_unmarked(decoded, self._data)}")
        return ReadPart(
            path=self._path,
            kind=PartKind.TEXT,
            encoding=decoded.encoding,
            ends_with_newline=decoded.text.endswith(("\n", "\r")),
            n_bytes=len(self._data),
            digest=blob_id(self._data),
            has_numbers=self._asked.numbers,
            notes=tuple(notes),
        )

    def _part(self, decoded: Decoded, lines: Sequence[str], ending: str, wanted: Range) -> ReadPart:
        taken = take(lines, ending, wanted, self._asked.limit)
        base = self._base(decoded)
        if ending in {"crlf", "cr", "mixed"}:
            base = replace(base, notes=(*base.notes, _ENDING_NOTES[ending]))
        return _filled(base, taken, wanted, self._asked)

    def _notebook_part(self, decoded: Decoded, cells: Sequence[str]) -> ReadPart:
        wanted = Range(self._asked.offset)
        taken = take(cells, "lf", wanted, self._asked.limit)
        note = "cells of the notebook; for lines of the file itself, ask for a range"
        if not cells:
            return replace(self._base(decoded), notes=("the notebook has no cells",))
        base = replace(self._base(decoded), kind=PartKind.NOTEBOOK, ends_with_newline=True)
        return _filled(replace(base, notes=(*base.notes, note)), taken, wanted, self._asked)

    def _symbol_parts(self, decoded: Decoded) -> list[ReadPart]:
        found = self._definitions(decoded)
        lines, ending = split_lines(decoded.text)
        parts: list[ReadPart] = []
        for definition in found[:MAX_SAME_NAME]:
            wanted = Range(definition.start_line, definition.end_line)
            part = self._part(decoded, lines, ending, wanted)
            name = ".".join((*definition.enclosing, definition.name))
            parts.append(replace(part, symbol=f"{definition.kind} {name}"))
        if len(found) > MAX_SAME_NAME:
            others = ", ".join(str(d.start_line) for d in found[MAX_SAME_NAME:])
            note = f"{len(found)} definitions have this name; further ones at lines {others}"
            parts[0] = replace(parts[0], notes=(*parts[0].notes, note))
        return parts

    def _definitions(self, decoded: Decoded) -> list[Definition]:
        from wherein.parse.tags import parse
        from wherein.walk.language import detect_language

        path = self._target.place.path
        language = detect_language(path, self._data[:8192])
        parsed = parse(decoded.text.encode("utf-8", "replace"), language)
        return definitions_named(parsed.definitions, self._target.symbol, self._path)


def _filled(part: ReadPart, lines: Lines, wanted: Range, asked: Asked) -> ReadPart:
    """Put lines into a part, with what is to be said about them."""
    notes = list(part.notes)
    next_line = 0
    if not lines.texts:
        notes.append(f"line {lines.start} is past the end: the file has {lines.n_lines} lines")
    elif len(lines.texts) == asked.limit and lines.end != (wanted.end or lines.n_lines):
        next_line = 0 if lines.end == lines.n_lines else lines.end + 1
    if next_line:
        of = f" of {lines.n_lines}" if lines.n_lines else ""
        notes.append(f"lines {lines.start}-{lines.end}{of}; go on with offset {next_line}")
    elif wanted.end is not None and lines.texts and lines.end < wanted.end:
        notes.append(f"the file ends at line {lines.end}")
    if lines.n_cut:
        notes.append(f"{lines.n_cut} long lines are cut")
    return replace(
        part,
        start_line=lines.start if lines.texts else 0,
        end_line=lines.end if lines.texts else 0,
        n_lines=lines.n_lines,
        texts=lines.texts,
        line_ending=lines.ending,
        next_line=next_line,
        notes=tuple(notes),
    )


def _described(path: str, media: Media | None, n_bytes: int) -> ReadPart:
    """Describe a file that has no lines to show."""
    if media is None:
        note = f"binary file, {n_bytes} bytes"
        return ReadPart(path, PartKind.BINARY, n_bytes=n_bytes, notes=(note,))
    size = f", {media.width}x{media.height}" if media.width else ""
    name = f"damaged {media.name}" if media.is_damaged else media.name
    return ReadPart(
        path=path,
        kind=PartKind.IMAGE if media.is_image and not media.is_damaged else PartKind.BINARY,
        n_bytes=n_bytes,
        media_type=media.media_type,
        width=media.width,
        height=media.height,
        notes=(f"{name}{size}, {n_bytes} bytes",),
    )


def _refuse_private_key(path: str, text: str) -> None:
    """Refuse a file that is a key; one that only quotes a key in passing is not."""
    start = text[:200].lstrip()
    if start.startswith("-----BEGIN ") and "PRIVATE KEY" in start.partition("\n")[0]:
        message = f"{show_path(path)!r} is not shown: it holds a private key"
        raise PathError(message, hint="files that hold secrets are never read")


def _unmarked(decoded: Decoded, data: bytes) -> str:
    """Return what is to be said of UTF-16 or UTF-32 without a byte-order mark."""
    is_wide = decoded.encoding.startswith(("utf-16", "utf-32"))
    is_marked = data.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff"))
    return _UNMARKED_NOTE if is_wide and not is_marked else ""


def _decode(data: bytes) -> Decoded | None:
    """Decode a file; one that is text but for its NULs is text, and they are shown as marks."""
    decoded = decode(data) or decode_unmarked(data)
    if decoded is not None:
        return decoded
    if b"\0" not in data or _is_binary(data):
        return None
    return Decoded(data.decode("utf-8", "backslashreplace"), "utf-8")


def _is_binary(data: bytes) -> bool:
    """Return whether a file that begins so is no text with a few NULs behind its first line."""
    nul = data.find(b"\0")
    if nul == -1:
        return False
    try:
        utf_8_decode(data, "strict", False)  # its end may be cut off
    except UnicodeDecodeError:
        return True
    return b"\n" not in data[:nul]
