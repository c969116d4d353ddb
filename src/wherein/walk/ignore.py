"""Decides by rules in .gitignore's form, exactly as git does.

Git matches bytes, so patterns and names are bytes here. The odd corners (a ``**`` after a literal
beginning, unclosed brackets, escaped blanks) follow git's own matcher, as the differential tests
prove.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wherein.walk.wildcards import tried_once

__all__ = ["IgnoreRules", "Rule", "parse_rules"]

_SPECIAL = frozenset(b"*?[\\")
_NEVER = rb"(?!)"
_UPPER = frozenset(range(ord("A"), ord("Z") + 1))
_CLASSES: dict[bytes, frozenset[int]] = {
    b"alnum": frozenset(b for b in range(128) if chr(b).isalnum()),
    b"alpha": frozenset(b for b in range(128) if chr(b).isalpha()),
    b"blank": frozenset(b" \t"),
    b"cntrl": frozenset([*range(32), 127]),
    b"digit": frozenset(b"0123456789"),
    b"graph": frozenset(range(33, 127)),
    b"lower": frozenset(range(ord("a"), ord("z") + 1)),
    b"print": frozenset(range(32, 127)),
    b"punct": frozenset(b for b in range(33, 127) if not chr(b).isalnum()),
    b"space": frozenset(b" \t\n\v\f\r"),
    b"upper": frozenset(range(ord("A"), ord("Z") + 1)),
    b"xdigit": frozenset(b"0123456789abcdefABCDEF"),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file."""

    pattern: bytes
    """As written, without the negation mark and the trailing slash."""
    is_negated: bool
    is_for_folders: bool
    is_for_names: bool
    """True when it has no slash: it matches the last component at any depth."""
    line: int
    expression: re.Pattern[bytes]


def parse_rules(data: bytes, *, ignore_case: bool = False) -> tuple[Rule, ...]:
    """Return the rules in the bytes of an ignore file, in its order."""
    rules: list[Rule] = []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        # Git reads lines as C strings: a NUL ends one.
        pattern = _without_trailing_blanks(line.removesuffix(b"\r").partition(b"\0")[0])
        if not pattern or pattern.startswith(b"#"):
            continue
        is_negated = pattern.startswith(b"!")
        if is_negated:
            pattern = pattern[1:]
        is_for_folders = pattern.endswith(b"/")
        if is_for_folders:
            pattern = pattern[:-1]
        if not pattern:
            continue
        is_for_names = b"/" not in pattern
        expression = _compile(pattern, is_for_names=is_for_names, ignore_case=ignore_case)
        rules.append(Rule(pattern, is_negated, is_for_folders, is_for_names, number, expression))
    return tuple(rules)


class IgnoreRules:
    """The rules of one ignore file, which act below the folder it lies in."""

    __slots__ = ("_by_name", "_name_rules", "_path_rules", "rules", "source")

    def __init__(self, rules: Sequence[Rule], source: str = "") -> None:
        self.rules = tuple(rules)
        self.source = source
        """Path of the file, for messages."""
        numbered = list(enumerate(rules))[::-1]  # the last rule that matches decides
        self._name_rules = [(i, rule) for i, rule in numbered if rule.is_for_names]
        self._path_rules = [(i, rule) for i, rule in numbered if not rule.is_for_names]
        self._by_name: dict[tuple[bytes, bool], int] = {}

    def decide(self, path: bytes, *, is_folder: bool) -> Rule | None:
        """Return the rule that decides about ``path`` (relative to the rules' folder), if any."""
        name = path[path.rfind(b"/") + 1 :]
        key = (name, is_folder)
        best = self._by_name.get(key)
        if best is None:
            best = _first(self._name_rules, name, is_folder=is_folder)
            self._by_name[key] = best
        for i, rule in self._path_rules:
            if i <= best:
                break
            if (is_folder or not rule.is_for_folders) and rule.expression.fullmatch(path):
                return rule
        return self.rules[best] if best >= 0 else None


def _first(rules: Iterable[tuple[int, Rule]], name: bytes, *, is_folder: bool) -> int:
    for i, rule in rules:
        if (is_folder or not rule.is_for_folders) and rule.expression.fullmatch(name):
            return i
    return -1


def _without_trailing_blanks(line: bytes) -> bytes:
    """Cut unescaped spaces at the end; a backslash protects the character after it."""
    end = i = 0
    while i < len(line):
        if line[i : i + 1] == b"\\":
            i += 2
            if i > len(line):
                return line
            end = i
            continue
        i += 1
        if line[i - 1 : i] != b" ":
            end = i
    return line[:end]


def _compile(pattern: bytes, *, is_for_names: bool, ignore_case: bool) -> re.Pattern[bytes]:
    if not is_for_names:
        pattern = pattern.removeprefix(b"/")
    literal_end = next((i for i, b in enumerate(pattern) if b in _SPECIAL), len(pattern))
    if is_for_names:
        literal_end = literal_end if literal_end == len(pattern) else 0
    # Git compares the literal beginning and hands the matcher only what follows, so that a ``**``
    # right after it counts as one at the start of a component.
    body = _translate(pattern[literal_end:], is_path=not is_for_names, folds=ignore_case)
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else re.NOFLAG)
    return re.compile(re.escape(pattern[:literal_end]) + body, flags)


def _translate(pattern: bytes, *, is_path: bool, folds: bool) -> bytes:
    """Return the regular expression of a wildcard pattern."""
    out: list[bytes] = []
    i = 0
    while i < len(pattern):
        byte = pattern[i : i + 1]
        if byte == b"*":
            part, i = _stars(pattern, i, is_path=is_path)
        elif byte == b"?":
            part, i = (b"[^/]" if is_path else b"."), i + 1
        elif byte == b"[":
            part, i = _bracket(pattern, i, is_path=is_path, folds=folds)
        elif byte == b"\\":
            part = re.escape(pattern[i + 1 : i + 2]) if i + 1 < len(pattern) else _NEVER
            i += 2
        else:
            part, i = re.escape(byte), i + 1
        if part == _NEVER:
            return _NEVER
        out.append(part)
    out = tried_once(out, _DEEP, lambda _: False, _ATOMIC)
    return b"".join(tried_once(out, _STARS, lambda part: part == b"/" or part in _DEEP, _ATOMIC))


_STARS = {b"[^/]*": b"[^/]*?", b".*": b".*?"}
_DEEP = {b"(?:.*/)?": b"(?:.*?/)??"}
_ATOMIC = (b"(?>", b")")


def _stars(pattern: bytes, start: int, *, is_path: bool) -> tuple[bytes, int]:
    end = start
    while pattern[end : end + 1] == b"*":
        end += 1
    if not is_path:
        return b".*", end
    if end - start == 1:
        return b"[^/]*", end
    opens = start == 0 or pattern[start - 1 : start] == b"/"
    rest = pattern[end : end + 2]
    if opens and (rest[:1] in {b"", b"/"} or rest == b"\\/"):
        if rest[:1] == b"/":
            return b"(?:.*/)?", end + 1  # also no folder at all
        return b".*", end
    return b"[^/]*", end


def _bracket(pattern: bytes, start: int, *, is_path: bool, folds: bool) -> tuple[bytes, int]:
    """Translate a set like git's matcher reads it; a malformed one matches nothing."""
    i = start + 1
    is_negated = pattern[i : i + 1] in {b"!", b"^"}
    i += is_negated
    members: set[int] = set()
    previous, is_first = 0, True
    while True:
        if i >= len(pattern):
            return _NEVER, i
        byte = pattern[i]
        if byte == ord("]") and not is_first:
            break
        is_first = False
        found = _member(pattern, i, previous, members, folds=folds)
        if found is None:
            return _NEVER, i
        i, previous = found
    if is_negated:
        members = set(range(256)) - members
    if folds:  # git lower-cases the name, not the members
        members = {b for b in range(256) if (b | 0x20 if b in _UPPER else b) in members}
    if is_path:
        members.discard(ord("/"))
    if not members:
        return _NEVER, i + 1
    return b"[" + b"".join(b"\\x%02x" % b for b in sorted(members)) + b"]", i + 1


def _member(
    pattern: bytes, i: int, previous: int, members: set[int], *, folds: bool
) -> tuple[int, int] | None:
    """Read one member of a set; return the next position and what a range could start from."""
    byte = pattern[i]
    following = pattern[i + 1 : i + 2]
    if byte == ord("\\"):
        if not following:
            return None
        members.add(following[0])
        return i + 2, following[0]
    if byte == ord("-") and previous and following and following != b"]":
        i += 1
        if following == b"\\":
            i += 1
            if i >= len(pattern):
                return None
        span = range(previous, pattern[i] + 1)
        members.update(span)
        if folds:
            members.update(b | 0x20 for b in _UPPER.intersection(span))
        return i + 1, 0
    if byte == ord("[") and following == b":":
        return _named_class(pattern, i, members, folds=folds)
    members.add(byte)
    return i + 1, byte


def _named_class(
    pattern: bytes, i: int, members: set[int], *, folds: bool
) -> tuple[int, int] | None:
    end = pattern.find(b"]", i + 2)
    if end < 0:
        return None
    if end - 1 < i + 2 or pattern[end - 1 : end] != b":":
        members.add(ord("["))  # no ":]": an ordinary member
        return i + 1, ord("[")
    named = _CLASSES.get(pattern[i + 2 : end - 1])
    if named is None:
        return None
    members.update(named)
    if folds and named is _CLASSES[b"upper"]:
        members.update(_CLASSES[b"lower"])
    return end + 1, 0
