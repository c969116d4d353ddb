"""Takes a shell command apart into its programs, what they read and where they write."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Program", "after_options", "is_elsewhere", "is_temporary", "programs"]

_WRAPPERS: dict[str, frozenset[str]] = {
    "command": frozenset(),
    "env": frozenset({"-u", "-C", "-S"}),
    "nice": frozenset({"-n"}),
    "nohup": frozenset(),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "sudo": frozenset({"-u", "-g", "-C", "-D"}),
    "time": frozenset({"-f", "-o"}),
    "timeout": frozenset({"-k", "-s"}),
    "uvx": frozenset(),
    "xargs": frozenset({"-n", "-P", "-I", "-L", "-d"}),
}
"""Programs that start another one, with their options that take a word as value."""

_KEYWORDS = frozenset(["!", "(", "do", "elif", "else", "if", "then", "until", "while", "{"])
_DURATION = re.compile(r"\d+(\.\d+)?[smhd]?")
_SEPARATOR = re.compile(r"\|\||&&|\|&|(?<!>)\||[;\n]")
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_HERE_DOCUMENT = re.compile(
    r"(?<!<)(?P<start><<-?[ \t]*(?P<quote>['\"]?)(?P<end>\w+)(?P=quote)[^\n]*\n)"
    r"(?:(?!\s*(?P=end)\s*(?:\n|$))[^\n]*(?:\n|$))*"
)
_COMPARISON = re.compile(r"\$?\(\([^()]*\)\)|\[\[[^\[\]]*\]\]")
_REDIRECTION = re.compile(
    r"(?:(?<!\S)(?P<stream>\d+)|&)?(?<![<=-])(?:>>|>\||>&|>)[ \t]*(?P<target>[^\s;|&<>()]*)"
)
_TEMPORARY = (
    "/tmp/",  # noqa: S108 - recognised, not used
    "/var/tmp/",  # noqa: S108 - recognised, not used
    "/private/tmp/",
    "/private/var/folders/",
    "/var/folders/",
    "/dev/",
    "/proc/",
    "$TMP",
    "${TMP",
    "$TEMP",
    "${TEMP",
    "$env:TEMP",
    "%TEMP%",
    "$null",
    "$(mktemp",
    "~/.",
    "$HOME/.",
)
"""Beginnings of places that belong to no repository; the person's hidden folders are such too."""


@dataclass(frozen=True, slots=True)
class Program:
    """One program of a command."""

    words: tuple[str, ...]
    """Its name and arguments, without the programs that only start it and without redirections."""
    is_piped: bool
    """Whether it reads what the one before it writes."""
    targets: tuple[str, ...]
    """Files that its output is redirected to; those of its errors alone do not count."""
    has_text: bool
    """Whether a here-document gives it text that stands in the command."""


def programs(command: str) -> Iterator[Program]:
    """Yield the programs of a command in the order they are written."""
    command = _HERE_DOCUMENT.sub(r"\g<start>", command)
    # Quoted text may hold separators: blank it to find them, then cut the original there.
    blanked = _QUOTED.sub(lambda quoted: "x" * len(quoted.group()), command)
    blanked = _COMPARISON.sub(lambda compared: "x" * len(compared.group()), blanked)
    start, is_piped = 0, False
    ends = [(m.start(), m.end(), m.group() in {"|", "|&"}) for m in _SEPARATOR.finditer(blanked)]
    for end, resume, pipes in [*ends, (len(command), len(command), False)]:
        text, targets = _without_redirections(command[start:end], blanked[start:end])
        words = _without_wrappers(_split(text))
        if words:
            yield Program(tuple(words), is_piped, targets, "<<" in blanked[start:end])
        start, is_piped = resume, pipes


def _without_redirections(text: str, blanked: str) -> tuple[str, tuple[str, ...]]:
    """Return a program's text without the redirections of output, and their files."""
    kept: list[str] = []
    targets: list[str] = []
    at = 0
    for found in _REDIRECTION.finditer(blanked):
        kept.append(text[at : found.start()])
        at = found.end()
        target = text[found.start("target") : found.end("target")].strip("'\"")
        is_stream = target.isdigit() or target in {"", "-"}
        if not is_stream and found["stream"] in {None, "1"}:
            targets.append(target)
    return " ".join([*kept, text[at:]]), tuple(targets)


def is_temporary(path: str, folder: str) -> bool:
    """Return whether ``path`` is in no repository's tree but in a place for passing things.

    Args:
        path: As written.
        folder: Where the session works, empty when unknown; it may be in such a place itself.
    """
    return path.startswith(_TEMPORARY) and not _is_below(path, folder)


def is_elsewhere(path: str, folder: str) -> bool:
    """Return whether ``path`` is temporary, or known to be outside the session's folder."""
    if is_temporary(path, folder):
        return True
    return bool(folder) and path.startswith("/") and not _is_below(path, folder)


def _is_below(path: str, folder: str) -> bool:
    return bool(folder) and f"{path}/".startswith(f"{folder.rstrip('/')}/")


def after_options(words: Sequence[str], with_value: frozenset[str]) -> list[str]:
    """Return ``words`` from the first that is neither an option nor the value of one."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in with_value else 1
    return list(words[at:])


def _without_wrappers(words: list[str]) -> list[str]:
    """Return the words from the program that does the work: `timeout 9 rg x` is `rg x`."""
    while words:
        first = words[0].lstrip("(") or "("
        program = first.rsplit("/", 1)[-1]
        if program in _WRAPPERS:
            words = after_options(words[1:], _WRAPPERS[program])
            if program == "timeout" and words and _DURATION.fullmatch(words[0]):
                words = words[1:]
        elif first in _KEYWORDS or "=" in first:
            words = words[1:]
        else:
            return [first, *words[1:]]
    return words


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
