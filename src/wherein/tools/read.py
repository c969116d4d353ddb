"""Reads what targets name: files, parts of them and folders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha1
from typing import TYPE_CHECKING

from wherein.budget import count_tokens
from wherein.errors import PathError, UsageError, WhereinError
from wherein.external.ripgrep_options import VERSION_CONTROL_FOLDERS
from wherein.tools.file_filter import FileFilter
from wherein.tools.file_paths import Place, Scope
from wherein.tools.globbing import escape_glob
from wherein.tools.read_file import Asked, file_parts, large_file_parts
from wherein.tools.read_lines import open_regular
from wherein.tools.read_targets import parse_target
from wherein.tools.read_types import PartKind, ReadPart, ReadResult
from wherein.tools.session import Session
from wherein.walk.paths import show_path

if TYPE_CHECKING:
    from wherein.tools.context import ToolContext

__all__ = ["ReadResult", "read", "read_targets"]

LIMIT = 2_000
"""Lines of one part, as agents know it from their own tools."""

LARGE_BYTES = 10_000_000
"""A larger file is never held in memory."""

MAX_ENTRIES = 500
MIN_NAMED_CHARS = 200
"""A shorter text costs no more than the sentence that says it is unchanged."""


def read(
    call: ToolContext,
    /,
    target: str | Sequence[str],
    *,
    offset: int | None = None,
    limit: int = LIMIT,
    end_line: int | None = None,
    force: bool = False,
    numbers: bool = True,
) -> ReadResult:
    """Give a path, path:start-end, path#Symbol (Class.method), or several of them in one call.

    Returns the lines with their numbers. ``path:-20`` are the last 20 lines; a folder gives its
    entries; a notebook its cells; a binary or an image is described. A cut answer says at which
    line to go on. What this session was shown and has not changed since is answered in one line;
    set force to see it again. Read a symbol or a range rather than a whole file.

    Raises:
        PathError: There is no such file, or it may not be read; the hint has near names.
        UsageError: A range is not one, or the symbol is not in the file.
    """
    targets = (target,) if isinstance(target, str) else tuple(target)
    if end_line is not None:
        first = offset or 1
        if end_line < first:
            message = f"end_line {end_line} comes before line {first}"
            raise UsageError(message, hint="lines are counted from 1, the first before the last")
        limit = min(limit, end_line - first + 1)
    return read_targets(
        Scope.of(call),
        targets,
        offset=offset,
        limit=limit,
        force=force,
        numbers=numbers,
        session=call.session,
    )


def read_targets(
    scope: Scope,
    targets: Sequence[str],
    *,
    offset: int | None = None,
    limit: int = LIMIT,
    force: bool = False,
    numbers: bool = True,
    session: Session | None = None,
) -> ReadResult:
    """Read each target; one that fails among several is reported in its place.

    Args:
        scope: Where to look.
        targets: See `tools.read_targets`.
        offset: First line of targets that name no lines, 1-based.
        limit: Most lines of each part.
        force: Show again what the session was shown.
        numbers: Line numbers in the plain form.
        session: Memory of the conversation.

    Raises:
        WhereinError: The only target cannot be read.
    """
    if (offset is not None and offset < 1) or limit < 1 or not targets:
        message = f"offset {offset} and limit {limit} name no lines" if targets else "no target"
        raise UsageError(message, hint="lines are counted from 1; limit is at least 1")
    asked = Asked(offset or 1, limit, numbers=numbers)
    parts: list[ReadPart] = []
    for text in targets:
        try:
            found = _read_target(scope, text, asked)
        except WhereinError as error:
            if len(targets) == 1:
                raise
            notes = (f"{error.message}; {error.hint}" if error.hint else error.message,)
            parts.append(ReadPart(text, PartKind.ERROR, notes=notes, hint=error.hint))
            continue
        parts.extend(part if force else _named_if_shown(session, part) for part in found)
    return ReadResult(tuple(parts))


def _named_if_shown(session: Session | None, part: ReadPart) -> ReadPart:
    """Return one line instead of text that the session was shown, but never twice in a row."""
    if session is None or part.kind not in {PartKind.TEXT, PartKind.NOTEBOOK}:
        return part
    text = part.text
    if len(text) < MIN_NAMED_CHARS:
        return part
    key = f"{part.path}:{part.start_line}-{part.end_line}:{part.has_numbers}"
    digest = sha1(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
    if not session.is_shown("read", key, digest):
        session.remember("read", key, digest)
        return part
    session.remember("read", key, "named")
    session.count_repeat(count_tokens(text))
    note = (
        f"unchanged since it was shown: lines {part.start_line}-{part.end_line} of "
        f"{part.n_lines or 'more'}, content {part.digest[:12]}; set force to see it again"
    )
    return replace(part, kind=PartKind.UNCHANGED, texts=(), notes=(note,))


def _read_target(scope: Scope, text: str, asked: Asked) -> list[ReadPart]:
    try:
        target = parse_target(scope, text)
    except PathError as error:
        raise _with_namesakes(scope, text, error) from None
    place = target.place
    if place.is_folder:
        return [_folder(place)]
    reason = FileFilter(scope.settings, place.root).refusal(place.path, is_named=True)
    if reason:
        message = f"{show_path(place.shown(place.path))!r} is not shown: {reason}"
        raise PathError(message, hint="files that hold secrets are never read")
    with open_regular(place.root, place.path) as descriptor:
        n_bytes = os.fstat(descriptor).st_size
        if n_bytes > LARGE_BYTES:
            return large_file_parts(target, descriptor, n_bytes, asked)
        data = _all_bytes(descriptor, n_bytes)
    return file_parts(target, data, asked)


def _with_namesakes(scope: Scope, text: str, error: PathError) -> PathError:
    """Name files of the same name elsewhere when nothing near was found."""
    name = text.strip().partition("#")[0].partition(":")[0].rpartition("/")[2]
    if "did you mean" in error.hint or not name or "outside" in error.message:
        return error
    from wherein.tools.glob import find_files

    try:
        found = find_files(scope, [f"**/{escape_glob(name)}"], by_name=True, limit=3)
    except WhereinError:
        return error
    paths = [repr(show_path(file.path)) for file in found.files]
    hint = f"did you mean {' or '.join(paths)}?" if paths else error.hint
    return PathError(error.message, hint=hint)


def _all_bytes(descriptor: int, n_bytes: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while block := os.pread(descriptor, max(n_bytes - size, 0) + 1, size):
        parts.append(block)
        size += len(block)
    return b"".join(parts)


def _folder(place: Place) -> ReadPart:
    """List a folder's entries."""
    try:
        with os.scandir(place.real) as entries:
            names = sorted(
                entry.name + ("/" if entry.is_dir(follow_symlinks=False) else "")
                for entry in entries
                if entry.name not in VERSION_CONTROL_FOLDERS
            )
    except OSError as error:
        message = f"{show_path(place.shown(place.path))!r} cannot be listed: {error.strerror}"
        raise PathError(message) from None
    notes = [f"a folder with {len(names)} {'entry' if len(names) == 1 else 'entries'}"]
    if len(names) > MAX_ENTRIES:
        notes.append(f"the first {MAX_ENTRIES} are shown; use glob for the others")
    return ReadPart(
        path=place.shown(place.path) or ".",
        kind=PartKind.DIRECTORY,
        texts=tuple(show_path(name) for name in names[:MAX_ENTRIES]),
        notes=tuple(notes),
    )
