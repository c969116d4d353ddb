"""Says which paths a list of globs admits, in ripgrep's glob language.

A pattern without a slash matches the name at any depth; one with a slash is tied to the folder it
is given for. ``*`` and ``?`` stay inside one name, ``**`` crosses folders, ``{a,b}`` alternates,
``[a-z]`` and ``[!a-z]`` are classes, a backslash takes the next character as it is, and a leading
``!`` takes paths out again. The last pattern that matches decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from wherein.errors import PatternError
from wherein.walk.wildcards import tried_once

__all__ = ["GlobSet", "anchor_globs", "escape_glob", "without_steps_up"]

_SPECIAL = re.compile(r"([\\*?\[\]{}!])")


def escape_glob(text: str) -> str:
    """Return ``text`` as a glob that matches only itself."""
    return _SPECIAL.sub(r"\\\1", text)


@dataclass(frozen=True, slots=True)
class _Glob:
    """One compiled pattern."""

    admits: bool
    is_folder_only: bool
    regex: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class GlobSet:
    """Compiled globs; build it with `GlobSet.of`."""

    _patterns: tuple[_Glob, ...]
    is_narrowing: bool
    """True when one pattern admits: what none names is then left out."""

    @classmethod
    def of(cls, globs: Sequence[str], *, ignore_case: bool = False) -> GlobSet:
        """Compile ``globs``.

        Raises:
            PatternError: A class or a brace is not closed.
        """
        compiled = tuple(_compiled(glob, ignore_case) for glob in globs)
        return cls(compiled, any(glob.admits for glob in compiled))

    def admits(self, path: str) -> bool:
        """Return True when ``path`` (relative, with ``/``) is to be searched."""
        verdict = self._verdict(path, is_folder=False)
        if verdict is None and self.is_narrowing:
            return False
        return verdict is not False and not self._is_under_refused(path)

    def _verdict(self, path: str, *, is_folder: bool) -> bool | None:
        for glob in reversed(self._patterns):
            if (is_folder or not glob.is_folder_only) and glob.regex.match(path):
                return glob.admits
        return None

    def _is_under_refused(self, path: str) -> bool:
        """Return True when a folder above ``path`` is taken out, so that it is never entered."""
        if all(glob.admits for glob in self._patterns):
            return False
        cut = path.find("/")
        while cut != -1:
            if self._verdict(path[:cut], is_folder=True) is False:
                return True
            cut = path.find("/", cut + 1)
        return False


@lru_cache(maxsize=512)
def _compiled(glob: str, ignore_case: bool) -> _Glob:
    """Compile a whole pattern, with the rules for its sign and for slashes at its ends."""
    admits = not glob.startswith("!")
    body = glob if admits else glob[1:]
    is_folder_only = body.endswith("/") and not body.endswith("\\/")
    body = body[:-1] if is_folder_only else body
    is_tied = "/" in body
    body = body.removeprefix("/").removeprefix("./")
    if not is_tied and body != "**":
        body = f"**/{body}"
    if body.endswith("/**"):
        body += "/*"
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    regex = _Translator(body, glob).translate()
    return _Glob(admits, is_folder_only, re.compile(regex + r"\Z", flags))


_STARS = {"[^/]*": "[^/]*?"}
_DEEP = {"(?:[^/]*/)*": "(?:[^/]*/)*?"}
_ATOMIC = ("(?>", ")")
_ALTERNATION = frozenset({"(?:", "|", ")", ".*"})


def _ends_folders(part: str) -> bool:
    """Return whether the next ``**/`` is another matter; a class may match a slash."""
    return part in _ALTERNATION or (part.startswith("[") and not part.startswith("[^/]"))


def _ends_star(part: str) -> bool:
    return part == "/" or part in _DEEP or _ends_folders(part)


class _Translator:
    """Reads one glob from left to right; errors name it as it was ``written``."""

    def __init__(self, glob: str, written: str) -> None:
        self._glob = glob
        self._written = written
        self._at = 0
        self._depth = 0

    def translate(self) -> str:
        out: list[str] = []
        while self._at < len(self._glob):
            out.append(self._next())
        if self._depth:
            self._fail("'{' is not closed", "close it with '}', or write '[{]'")
        out = tried_once(out, _DEEP, _ends_folders, _ATOMIC)
        return "".join(tried_once(out, _STARS, _ends_star, _ATOMIC))

    def _next(self) -> str:
        character = self._glob[self._at]
        self._at += 1
        match character:
            case "*":
                return self._stars()
            case "?":
                return "[^/]"
            case "[":
                return self._class()
            case "{":
                self._depth += 1
                return "(?:"
            case "}" | "," if self._depth:
                return self._alternate(character)
            case "\\":
                return self._escaped()
            case _:
                return re.escape(character)

    def _alternate(self, character: str) -> str:
        if character == ",":
            return "|"
        self._depth -= 1
        return ")"

    def _escaped(self) -> str:
        if self._at >= len(self._glob):
            self._fail("a backslash stands at the end", "write '\\\\' for a backslash")
        self._at += 1
        return re.escape(self._glob[self._at - 1])

    def _stars(self) -> str:
        start = self._at - 1
        while self._glob[self._at : self._at + 1] == "*":
            self._at += 1
        if self._at - start == 1:
            return "[^/]*"
        opens = start == 0 or self._glob[start - 1] in "/{,"
        if opens and self._glob[self._at : self._at + 1] == "/":
            self._at += 1
            return "(?:[^/]*/)*"
        if opens and self._at == len(self._glob):
            return ".*"
        return "[^/]*"

    def _class(self) -> str:
        start = self._at
        end = start + 1 if self._glob[start : start + 1] in ("!", "^") else start
        end = self._glob.find("]", end + 1)
        if end == -1:
            self._fail("'[' is not closed", "close it with ']', or write '[[]'")
        self._at = end + 1
        body = self._glob[start:end]
        negation = ""
        if body[0] in "!^":
            negation, body = "^", body[1:]  # as in ripgrep, it may match a slash
        body = "".join(f"\\{c}" if c in "\\[]^&~|" else c for c in body)
        try:
            re.compile(f"[{body}]")
        except re.error:
            self._fail(f"the class [{body}] has a range that runs backwards", "swap its ends")
        return f"[{negation}{body}]"

    def _fail(self, what: str, hint: str) -> None:
        message = f"glob {self._written!r}: {what}"
        raise PatternError(message, hint=hint)


def anchor_globs(globs: Iterable[str], folder: str, root: Path) -> tuple[str, ...]:
    """Return ``globs``, given for ``folder``, as globs for the root.

    A pattern with a slash is tied to ``folder`` (relative to the root, empty for the root itself).
    Agents also write such patterns from the root or as absolute paths: both are understood, and so
    is ``..`` after a folder's name.
    """
    return tuple(without_steps_up(form) for glob in globs for form in _anchored(glob, folder, root))


def without_steps_up(glob: str) -> str:
    """Return ``glob`` without ``name/..``, ``.`` and doubled slashes: no path it meets has any."""
    *folders, name = glob.removeprefix("!").removeprefix("/").split("/")
    if {"", ".", ".."}.isdisjoint(folders) and name != "..":
        return glob
    kept: list[str] = []
    for part in folders:
        if part == ".." and kept and kept[-1] != "..":
            kept.pop()
        elif part not in {"", "."}:
            kept.append(part)
    return f"{'!' if glob.startswith('!') else ''}/{'/'.join([*kept, name])}"


def _anchored(glob: str, folder: str, root: Path) -> list[str]:
    sign, body = ("!", glob[1:]) if glob.startswith("!") else ("", glob)
    absolute = _below(body, root)
    if absolute is not None:
        return [f"{sign}/{absolute}"]
    if body.startswith("./"):  # ripgrep takes the dot for a name
        body = body[1:]
    if not folder or "/" not in body.rstrip("/"):
        return [sign + body]
    forms: list[str] = []
    if body.startswith((f"{folder}/", f"{escape_glob(folder)}/")):
        forms.append(f"{sign}/{body}")
    forms.append(f"{sign}/{escape_glob(folder)}/{body.removeprefix('/')}")
    return forms


def _below(glob: str, root: Path) -> str | None:
    """Return what follows the root in an absolute glob, None when it is not under the root."""
    for spelled in (str(root), escape_glob(str(root))):
        if spelled != "/" and glob.startswith(f"{spelled}/"):
            return glob[len(spelled) + 1 :]
    return None
