"""Puts one member into a JSON file with comments, touching no other byte."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from wherein.errors import UsageError

__all__ = ["find_member", "with_member", "without_member"]

_BLANK = re.compile(r"(?:[\s\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r"[^\s,:\[\]{}\"/]+")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"', re.DOTALL)
_REST_OF_LINE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\n]*?\*/[ \t]*)?(?=\r?\n)")
_DEFAULT_INDENT = "  "
_MAX_DEPTH = 200


@dataclass(frozen=True, slots=True)
class _Member:
    key: str
    start: int
    """Of the key's quote."""
    value_start: int
    value_end: int
    comma: int
    """Of the comma behind it, -1 without one."""


@dataclass(frozen=True, slots=True)
class _Object:
    open: int
    close: int
    members: tuple[_Member, ...]


def find_member(text: str, keys: Sequence[str]) -> object:
    """Return the value of the member that ``keys`` lead to; None when there is none.

    Raises:
        UsageError: The text is no JSON with comments.
    """
    found = _deepest(text, keys)
    if found is None or found[1] < len(keys) - 1:
        return None
    member = _member(found[0], keys[-1])
    return _loads(text[member.value_start : member.value_end]) if member else None


def with_member(text: str, keys: Sequence[str], value: object) -> str:
    """Return ``text`` with the member set; one that is equal already changes nothing.

    A new member becomes the first of its object; objects on the way are made. Only our own text is
    inserted (or our own value replaced), in the file's indentation and line ends.

    Raises:
        UsageError: The text is no JSON with comments, or a key on the way holds no object.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    found = _deepest(text, keys)
    if found is None:
        return text + _format(_nested(keys, value), "", _DEFAULT_INDENT, newline) + newline
    target, depth = found
    member = _member(target, keys[depth])
    if member is not None and depth < len(keys) - 1:
        message = f"{keys[depth]!r} holds no object"
        raise UsageError(message, hint="mend the file by hand, then run install again")
    if member is not None:
        if _loads(text[member.value_start : member.value_end]) == value:
            return text
        indent, step = _indents(text, target)
        new = _format(value, indent, step, newline)
        return text[: member.value_start] + new + text[member.value_end :]
    return _inserted(text, target, keys[depth], _nested(keys[depth + 1 :], value), newline)


def without_member(text: str, keys: Sequence[str]) -> str:
    """Return ``text`` without the member that ``keys`` lead to; empty parents stay."""
    found = _deepest(text, keys)
    if found is None or found[1] < len(keys) - 1:
        return text
    target = found[0]
    member = _member(target, keys[-1])
    if member is None:
        return text
    at = target.members.index(member)
    if member.comma >= 0:
        return text[: _line_start(text, member.start)] + text[member.comma + 1 :]
    start = target.members[at - 1].comma if at else _line_start(text, member.start)
    return text[:start] + text[member.value_end :]


def _line_start(text: str, at: int) -> int:
    """Return where the blanks before ``at`` begin, with the line end before them."""
    start = at
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    if start > 0 and text[start - 1] == "\n":
        start -= 1
        if start > 0 and text[start - 1] == "\r":
            start -= 1
        return start
    return at


def _nested(keys: Sequence[str], value: object) -> object:
    for key in reversed(keys):
        value = {key: value}
    return value


def _inserted(text: str, target: _Object, key: str, value: object, newline: str) -> str:
    at = target.open + 1
    if "\n" not in text[target.open : target.close] and target.members:
        compact = f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}, "
        return text[:at] + compact + text[at:]
    rest = _REST_OF_LINE.match(text, at)
    if target.members and rest is not None:
        at = rest.end()
    indent, step = _indents(text, target)
    new = f"{newline}{indent}{json.dumps(key)}: {_format(value, indent, step, newline)}"
    if target.members:
        new += ","
    elif "\n" not in text[target.open : target.close]:
        new += newline + indent[: len(indent) - len(step)]
    return text[:at] + new + text[at:]


def _indents(text: str, target: _Object) -> tuple[str, str]:
    """Return the indentation of the object's members, and one step of it."""
    line = text.rfind("\n", 0, target.open) + 1
    outer = text[line : target.open]
    base = outer[: len(outer) - len(outer.lstrip(" \t"))]
    step = _step(text)
    if target.members:
        first = target.members[0].start
        own = text[text.rfind("\n", 0, first) + 1 : first]
        if own.strip(" \t") == "" and "\n" in text[target.open : first]:
            return own, step
    return base + step, step


def _step(text: str) -> str:
    match = re.search(r"\n([ \t]+)\S", text)
    if match is None:
        return _DEFAULT_INDENT
    return "\t" if match.group(1)[0] == "\t" else match.group(1)


def _format(value: object, indent: str, step: str, newline: str) -> str:
    lines = json.dumps(value, indent=step, ensure_ascii=False).split("\n")
    return newline.join([lines[0], *(indent + line for line in lines[1:])])


def _loads(text: str) -> object:
    without_comments = re.sub(
        r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', r"\1", text, flags=re.DOTALL
    )
    plain = re.sub(r'("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])', r"\1", without_comments)
    try:
        return json.loads(plain)
    except (ValueError, RecursionError):  # a number may have too many digits
        return None


def _deepest(text: str, keys: Sequence[str]) -> tuple[_Object, int] | None:
    """Return the deepest object that exists along ``keys`` and its depth; None for a blank text."""
    start = _skip(text, 0)
    if start == len(text):
        return None
    reader = _Reader(text)
    target = reader.read_object(start)
    if _skip(text, target.close + 1) != len(text):
        raise _bad(text, target.close + 1)
    for depth, key in enumerate(keys[:-1]):
        member = _member(target, key)
        if member is None or text[member.value_start] != "{":
            return target, depth
        target = reader.read_object(member.value_start)
    return target, len(keys) - 1


def _member(target: _Object, key: str) -> _Member | None:
    """Return the member with this key; the last of several counts, as for every reader."""
    return next((item for item in reversed(target.members) if item.key == key), None)


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _bad(text: str, at: int) -> UsageError:
    line = text.count("\n", 0, at) + 1
    message = f"no JSON at line {line}"
    return UsageError(message, hint="mend the file by hand, then run install again")


class _Reader:
    """Reads where values begin and end, without recursion limits being reached."""

    def __init__(self, text: str) -> None:
        self._text = text

    def read_object(self, at: int) -> _Object:
        if self._text[at : at + 1] != "{":
            raise _bad(self._text, at)
        members: list[_Member] = []
        position = _skip(self._text, at + 1)
        while self._text[position : position + 1] != "}":
            member = self._read_member(position)
            members.append(member)
            after = _skip(self._text, member.value_end)
            if member.comma < 0:
                if self._text[after : after + 1] != "}":
                    raise _bad(self._text, after)
                position = after
            else:
                position = _skip(self._text, member.comma + 1)
        return _Object(at, position, tuple(members))

    def _read_member(self, at: int) -> _Member:
        key = _STRING.match(self._text, at)
        if key is None:
            raise _bad(self._text, at)
        colon = _skip(self._text, key.end())
        if self._text[colon : colon + 1] != ":":
            raise _bad(self._text, colon)
        start = _skip(self._text, colon + 1)
        end = self._value_end(start)
        after = _skip(self._text, end)
        comma = after if self._text[after : after + 1] == "," else -1
        return _Member(str(json.loads(key.group())), at, start, end, comma)

    def _value_end(self, at: int) -> int:
        """Return where the value at ``at`` ends; brackets are counted, strings jumped over."""
        depth = 0
        position = at
        while position < len(self._text):
            char = self._text[position]
            if char == '"':
                match = _STRING.match(self._text, position)
                if match is None:
                    raise _bad(self._text, position)
                position = match.end()
            elif char in "[{":
                depth += 1
                position += 1
            elif char in "]}":
                depth -= 1
                position += 1
            elif char in ",:":
                position += 1
            else:
                position = self._scalar_end(position)
            if depth > _MAX_DEPTH or depth < 0:
                raise _bad(self._text, position)
            if depth == 0:
                return position
            position = _skip(self._text, position)
        raise _bad(self._text, at)

    def _scalar_end(self, at: int) -> int:
        match = _SCALAR.match(self._text, at)
        if match is None:
            raise _bad(self._text, at)
        return match.end()
