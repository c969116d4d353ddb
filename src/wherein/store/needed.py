"""Says what a text must contain for a regular expression to match in it.

The answer is an and-or tree of literal texts, made conservatively: whatever the small parser here
does not know gives "anything", never a text that a match could do without. (The method is Russ
Cox's, "Regular Expression Matching with a Trigram Index", 2012, with exact sets only.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

__all__ = ["All", "Needed", "OneOf", "Text", "folds_case", "needed_by", "needed_by_texts"]

MAX_EXACT = 16
"""Texts a piece of the pattern may stand for before it is taken apart."""

MAX_EXACT_BYTES = 200
MAX_CLASS = 8
"""Characters of a class that are tried one by one."""

MAX_DEPTH = 50
"""Groups inside groups; more are a generated pattern, which needs no index."""


@dataclass(frozen=True, slots=True)
class Text:
    """These bytes must occur; in lower case when the search ignores case."""

    data: bytes


@dataclass(frozen=True, slots=True)
class All:
    """Each part must hold."""

    parts: tuple[Needed, ...]


@dataclass(frozen=True, slots=True)
class OneOf:
    """At least one part must hold."""

    parts: tuple[Needed, ...]


Needed = Text | All | OneOf


class _UnknownError(Exception):
    """The pattern uses what the parser does not know: anything may match."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """What a part of the pattern stands for."""

    exact: frozenset[bytes] | None
    """All the texts it can match; None when there are too many or they are not known."""
    needed: Needed | None = None
    """What must occur besides; None for nothing."""


_EMPTY = _Piece(frozenset({b""}))
_ANY = _Piece(None)


def needed_by_texts(texts: Iterable[str], *, ignore_case: bool) -> Needed | None:
    """Return what is needed to match one of several plain texts, None for anything."""
    parts = [_text_needed(text, ignore_case=ignore_case) for text in texts]
    return _one_of(parts)


def _text_needed(text: str, *, ignore_case: bool) -> Needed | None:
    if not ignore_case:
        return _literal(text.encode("utf-8", "surrogateescape"))
    pieces: list[str] = [""]
    for character in text:
        if character.isascii():
            pieces[-1] += character.lower()
        else:
            pieces.append("")
    return _all([_literal(piece.encode()) for piece in pieces])


def needed_by(patterns: Sequence[str], *, ignore_case: bool) -> Needed | None:
    """Return what is needed to match one of several regular expressions, None for anything.

    Args:
        patterns: In the dialect of Rust's ``regex``.
        ignore_case: True when letters may match in either case; texts then come in lower case.
    """
    folds = ignore_case or any("(?" in pattern and "i" in pattern for pattern in patterns)
    parts: list[Needed | None] = []
    for pattern in patterns:
        try:
            parts.append(_whole(_Parser(pattern, folds=folds).parse()))
        except _UnknownError:
            return None
    return _one_of(parts)


def folds_case(patterns: Sequence[str], *, ignore_case: bool) -> bool:
    """Return True when `needed_by` gives its texts in lower case."""
    return ignore_case or any("(?" in pattern and "i" in pattern for pattern in patterns)


def _whole(piece: _Piece) -> Needed | None:
    return _all([piece.needed, _exact_needed(piece.exact)])


def _exact_needed(exact: frozenset[bytes] | None) -> Needed | None:
    if exact is None:
        return None
    return _one_of([_literal(text) for text in sorted(exact)])


def _literal(data: bytes) -> Needed | None:
    return Text(data) if len(data) >= 3 else None


def _all(parts: Iterable[Needed | None]) -> Needed | None:
    known = tuple(dict.fromkeys(part for part in parts if part is not None))
    if len(known) < 2:
        return known[0] if known else None
    return All(known)


def _one_of(parts: Sequence[Needed | None]) -> Needed | None:
    known = tuple(dict.fromkeys(part for part in parts if part is not None))
    if not parts or len([part for part in parts if part is not None]) < len(parts):
        return None
    return known[0] if len(known) == 1 else OneOf(known)


def _concatenate(pieces: Sequence[_Piece]) -> _Piece:
    """Join pieces that follow one another."""
    needed: list[Needed | None] = []
    run: frozenset[bytes] = frozenset({b""})
    is_exact = True
    for piece in pieces:
        needed.append(piece.needed)
        joined = None if piece.exact is None else _product(run, piece.exact)
        if joined is not None:
            run = joined
            continue
        is_exact = False
        needed.append(_exact_needed(run))
        run = piece.exact if piece.exact is not None else frozenset({b""})
    if is_exact:
        return _Piece(run, _all(needed))
    return _Piece(None, _all([*needed, _exact_needed(run)]))


def _product(left: frozenset[bytes], right: frozenset[bytes]) -> frozenset[bytes] | None:
    if len(left) * len(right) > MAX_EXACT:
        return None
    joined = frozenset(a + b for a, b in product(left, right))
    return joined if max(map(len, joined)) <= MAX_EXACT_BYTES else None


def _alternate(pieces: Sequence[_Piece]) -> _Piece:
    """Join pieces of which one matches."""
    if len(pieces) == 1:
        return pieces[0]
    exact: frozenset[bytes] | None = frozenset()
    for piece in pieces:
        exact = None if exact is None or piece.exact is None else exact | piece.exact
    if exact is not None and len(exact) <= MAX_EXACT and not any(p.needed for p in pieces):
        return _Piece(exact)
    return _Piece(None, _one_of([_whole(piece) for piece in pieces]))


_SIMPLE_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_ZERO_WIDTH = frozenset("bBAz<>")
_CLASS_ESCAPES = frozenset("dDwWsS")
_FLAGS = frozenset("imsUR-")


class _Parser:
    """Reads a pattern from left to right."""

    def __init__(self, pattern: str, *, folds: bool) -> None:
        self._pattern = pattern
        self._at = 0
        self._folds = folds
        self._depth = 0

    def parse(self) -> _Piece:
        piece = self._alternatives()
        if self._at < len(self._pattern):
            raise _UnknownError
        return piece

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _take(self) -> str:
        character = self._peek()
        if not character:
            raise _UnknownError
        self._at += 1
        return character

    def _alternatives(self) -> _Piece:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _UnknownError
        branches: list[_Piece] = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._sequence())
        self._depth -= 1
        return _alternate(branches)

    def _sequence(self) -> _Piece:
        pieces: list[_Piece] = []
        while self._peek() not in {"", "|", ")"}:
            piece = self._atom()
            pieces.append(self._repeated(piece))
        return _concatenate(pieces)

    def _atom(self) -> _Piece:
        character = self._take()
        match character:
            case "(":
                return self._group()
            case "[":
                return self._class()
            case "\\":
                return self._escape()
            case ".":
                return _ANY
            case "^" | "$":
                return _EMPTY
            case "*" | "+" | "?" | "{":
                raise _UnknownError
            case _:
                return self._character(character)

    def _character(self, character: str) -> _Piece:
        if not self._folds:
            return _Piece(frozenset({character.encode("utf-8", "surrogateescape")}))
        if not character.isascii():
            return _ANY  # its other cases may be written in other bytes
        return _Piece(frozenset({character.lower().encode()}))

    def _repeated(self, piece: _Piece) -> _Piece:
        """Apply the quantifiers that follow."""
        while self._peek() in {"*", "+", "?", "{"}:
            lowest, highest = self._quantifier()
            if self._peek() == "?":
                self._at += 1
            piece = self._times(piece, lowest, highest)
        return piece

    def _quantifier(self) -> tuple[int, int | None]:
        mark = self._take()
        if mark != "{":
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[mark]
        end = self._pattern.find("}", self._at)
        if end == -1:
            raise _UnknownError
        body = self._pattern[self._at : end].replace(" ", "")
        self._at = end + 1
        low, comma, high = body.partition(",")
        if not low.isdecimal() or (high and not high.isdecimal()):
            raise _UnknownError
        return int(low), int(high) if high else None if comma else int(low)

    @staticmethod
    def _times(piece: _Piece, lowest: int, highest: int | None) -> _Piece:
        if lowest == 0:
            if highest == 1 and piece.exact is not None and piece.needed is None:
                return _Piece(piece.exact | {b""})
            return _ANY
        if lowest == highest and lowest <= MAX_EXACT:
            return _concatenate([piece] * lowest)
        # At least once, and nothing is known of what stands before and after.
        return _Piece(None, _whole(piece))

    def _group(self) -> _Piece:
        if self._peek() == "?":
            self._at += 1
            if self._group_head():
                return _EMPTY
        piece = self._alternatives()
        if self._take() != ")":
            raise _UnknownError
        return piece

    def _group_head(self) -> bool:
        """Read what follows ``(?``; return True when that was the whole group."""
        if self._peek() in {"P", "<"}:
            if self._take() == "P" and self._take() != "<":
                raise _UnknownError
            if self._peek() in {"=", "!"}:  # lookbehind: another dialect
                raise _UnknownError
            end = self._pattern.find(">", self._at)
            if end == -1:
                raise _UnknownError
            self._at = end + 1
            return False
        while self._peek() not in {":", ")"}:
            if self._take() not in _FLAGS:
                raise _UnknownError  # x changes what blanks mean, u what bytes mean
        return self._take() == ")"

    def _escape(self) -> _Piece:
        character = self._take()
        if character in _CLASS_ESCAPES:
            return _ANY
        if character in _ZERO_WIDTH:
            if character == "b" and self._peek() == "{":
                self._skip_braces()
            return _EMPTY
        if character in {"p", "P"}:
            if self._peek() == "{":
                self._skip_braces()
            else:
                self._take()
            return _ANY
        if character in {"x", "u", "U"}:
            return self._character(self._code(character))
        if character in _SIMPLE_ESCAPES:
            return self._character(_SIMPLE_ESCAPES[character])
        if character.isalnum() or not character.isascii():
            raise _UnknownError
        return self._character(character)

    def _skip_braces(self) -> None:
        end = self._pattern.find("}", self._at)
        if end == -1:
            raise _UnknownError
        self._at = end + 1

    def _code(self, kind: str) -> str:
        if self._peek() == "{":
            end = self._pattern.find("}", self._at)
            digits = self._pattern[self._at + 1 : end] if end != -1 else ""
            self._at = end + 1
        else:
            length = {"x": 2, "u": 4, "U": 8}[kind]
            digits = self._pattern[self._at : self._at + length]
            self._at += length
        try:
            return chr(int(digits, 16))
        except (ValueError, OverflowError):
            raise _UnknownError from None

    def _class(self) -> _Piece:
        """Read a class; a small one without ranges stands for its characters."""
        is_negated = self._peek() == "^"
        if is_negated:
            self._at += 1
        members: list[_Piece] | None = []
        is_first = True
        while True:
            character = self._take()
            if character == "]" and not is_first:
                break
            is_first = False
            if character == "[":
                self._class()
                members = None
            elif character in {"-", "&", "~"}:
                members = None
            elif members is not None:
                members.append(self._escape() if character == "\\" else self._character(character))
            elif character == "\\":
                self._take()
        if is_negated or not members or len(members) > MAX_CLASS:
            return _ANY
        return _alternate(members)
