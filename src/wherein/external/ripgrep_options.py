"""What a search asks of ripgrep, and the command-line options that say it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "VERSION_CONTROL_FOLDERS",
    "CaseMode",
    "SearchOptions",
    "file_arguments",
    "pattern_arguments",
]

VERSION_CONTROL_FOLDERS = (".git", ".svn", ".hg", ".bzr", ".jj", ".sl")
"""Never searched, though hidden files are."""

_SPANNING = re.compile(r"\\[nsWDRxuUpPzA]|\[\^|\[\[|\(\?[a-zA-Z]*s|[\^$\n]")
"""What can match at a line end."""

_PLAIN = re.compile(
    r"(?:[A-Za-z0-9_ /\"'<>=,;:@%&!~`#-]"
    r"|\\[.()\[\]{}*+?|^$/-]"
    r"|\[(?:\w-\w|\w)+\]"
    r"|[()|])+",
    re.ASCII,
)
"""What Python's expressions and Rust's take alike: letters, escapes, classes, groups and bars."""


class CaseMode(StrEnum):
    """How letters are compared."""

    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"
    SMART = "smart"


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What to look for and how, in ripgrep's terms."""

    patterns: tuple[str, ...]
    is_fixed: bool = False
    case: CaseMode = CaseMode.SENSITIVE
    is_word: bool = False
    is_multiline: bool = False
    dot_matches_newline: bool = False
    is_inverted: bool = False
    is_pcre2: bool = False
    only_matching: bool = False
    before: int = 0
    after: int = 0
    types: tuple[str, ...] = ()
    excluded_types: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    """Tied to the folder ripgrep runs in."""

    def may_span_lines(self) -> bool:
        """Return True when ripgrep will not search line by line: a match may hold a line end.

        Even with multiline, a pattern that cannot match a line end is searched by lines.
        """
        if not (self.is_multiline or self.dot_matches_newline):
            return False
        return self.dot_matches_newline or any(_SPANNING.search(text) for text in self.patterns)

    def plain_expression(self) -> re.Pattern[bytes] | None:
        r"""Return an expression that finds in a line the matches that ripgrep finds in it.

        None where only ripgrep knows them: with what depends on Unicode, such as ``.``, ``\w``,
        ``\b`` and letter case, with repetitions, and where an empty text matches.
        """
        if len(self.patterns) != 1 or self.case is not CaseMode.SENSITIVE:
            return None
        if self.is_word or self.is_inverted or self.is_pcre2:
            return None
        text = self.patterns[0]
        if self.is_fixed:
            text = re.escape(text) if text.isascii() else ""
        elif not _PLAIN.fullmatch(text):
            return None
        try:
            expression = re.compile(text.encode())
        except re.error:
            return None
        return expression if expression.search(b"") is None else None

    def takes_crlf(self) -> bool:
        r"""Return True when ``$`` must also match before ``\r\n``.

        ``--crlf`` also keeps ``.`` off a lone ``\r``, so it is given only where it is needed.
        """
        if self.is_fixed:
            return False
        text = "".join(self.patterns)
        return "$" in text and "\\r" not in text and "\r" not in text and "\\x0" not in text


def pattern_arguments(options: SearchOptions) -> list[str]:
    """Return the options that say what is looked for."""
    arguments = [f"--regexp={pattern}" for pattern in options.patterns]
    flags = (
        (options.is_fixed, "--fixed-strings"),
        (options.case is CaseMode.INSENSITIVE, "--ignore-case"),
        (options.case is CaseMode.SMART, "--smart-case"),
        (options.is_word, "--word-regexp"),
        (options.is_multiline or options.dot_matches_newline, "--multiline"),
        (options.dot_matches_newline, "--multiline-dotall"),
        (options.is_inverted, "--invert-match"),
        (options.is_pcre2, "--pcre2"),
        (options.takes_crlf(), "--crlf"),
    )
    arguments.extend(flag for is_set, flag in flags if is_set)
    return arguments


def file_arguments(options: SearchOptions, *, is_in_git: bool) -> list[str]:
    """Return the options that decide which files are searched."""
    arguments = ["--hidden"]
    if not is_in_git:
        arguments.append("--no-require-git")
    arguments.extend(f"--glob={glob}" for glob in options.globs)
    arguments.extend(f"--glob=!{name}" for name in VERSION_CONTROL_FOLDERS)
    arguments.extend(f"--type={name}" for name in options.types)
    arguments.extend(f"--type-not={name}" for name in options.excluded_types)
    return arguments
