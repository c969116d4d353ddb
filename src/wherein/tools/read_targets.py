"""Understands what to read: ``path``, ``path:10-20``, ``path:10``, ``path#Symbol``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wherein.errors import PathError, UsageError
from wherein.tools.file_paths import Place, Scope, resolve_place
from wherein.tools.read_lines import Range

__all__ = ["Target", "parse_target"]

_LINES = re.compile(
    r"(?P<path>.+?):(?P<ranges>L?\d+(?:-(?:L?\d+)?)?(?:,L?\d+(?:-(?:L?\d+)?)?)*)(?::\d*.*)?",
    re.DOTALL,
)
_TAIL = re.compile(r"(?P<path>.+):-(?P<count>\d+)", re.DOTALL)
_ANCHOR = re.compile(r"(?P<path>.+)#L(?P<start>\d+)(?:-L?(?P<end>\d+))?", re.DOTALL)
_SYMBOL = re.compile(r"(?P<path>.+?)#(?P<symbol>.+)", re.DOTALL)
_TEST = re.compile(r"(?P<path>.+?)::(?P<symbol>[^\[]+)(?:\[.*\])?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Target:
    """One place to read."""

    place: Place
    ranges: tuple[Range, ...] = ()
    """Empty: all of it."""
    symbol: str = ""


def parse_target(scope: Scope, text: str) -> Target:
    """Return what ``text`` names; a file whose name looks like another form is that file.

    ``path:-20`` are the last 20 lines; ``path:5-10,40`` are two ranges; ``path#L5-L10`` and a
    line of grep's output are understood, too, and ``path::Class::test[case]`` as pytest writes it.

    Raises:
        PathError: There is no such file.
        UsageError: A range is not one.
    """
    try:
        return Target(resolve_place(scope, text))
    except PathError as error:
        refusal = error
    for read in (_read_tail, _read_lines, _read_anchor, _read_symbol, _read_test):
        found = read(text)
        if found is None:
            continue
        path, ranges, symbol = found
        try:
            return Target(resolve_place(scope, path), ranges, symbol)
        except PathError as error:
            refusal = error
    raise refusal


_Found = tuple[str, tuple[Range, ...], str]


def _read_tail(text: str) -> _Found | None:
    match = _TAIL.fullmatch(text)
    if match is None:
        return None
    if int(match["count"]) < 1:
        message = f"{text!r} asks for no line"
        raise UsageError(message, hint="':-20' is the last 20 lines")
    return match["path"], (Range(tail=int(match["count"])),), ""


def _read_lines(text: str) -> _Found | None:
    match = _LINES.fullmatch(text)
    if match is None:
        return None
    ranges = tuple(_range(piece, text) for piece in match["ranges"].replace("L", "").split(","))
    return match["path"], ranges, ""


def _range(piece: str, text: str) -> Range:
    start, dash, end = piece.partition("-")
    first = int(start)
    last = int(end) if end else None if dash else first
    if first < 1 or (last is not None and last < first):
        message = f"{text!r}: no lines {piece}"
        raise UsageError(message, hint="lines are counted from 1, the first before the last")
    return Range(first, last)


def _read_anchor(text: str) -> _Found | None:
    match = _ANCHOR.fullmatch(text)
    if match is None:
        return None
    end = f"-{match['end']}" if match["end"] else ""
    return match["path"], (_range(match["start"] + end, text),), ""


def _read_symbol(text: str) -> _Found | None:
    match = _SYMBOL.fullmatch(text)
    return (match["path"], (), match["symbol"]) if match is not None else None


def _read_test(text: str) -> _Found | None:
    match = _TEST.fullmatch(text)
    return (match["path"], (), match["symbol"]) if match is not None else None
