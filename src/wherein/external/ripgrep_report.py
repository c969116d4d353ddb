"""Reads what ripgrep says of its walk with ``--debug``: which entries the ignore rules hide."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

__all__ = ["Report", "clean_path", "is_read_otherwise", "read_report"]

_IGNORING = re.compile(
    rb"^rg: DEBUG\|ignore::walk\|[^ ]+: ignoring (.*?): Ignore\(IgnoreMatch\((\w+)\("
    rb"(?:Glob \{ from: Some\(\"(.*?)\"\), original: \"((?:[^\"\\]|\\.)*)\")?[^\n]*\n?",
    re.MULTILINE | re.DOTALL,
)
_BEGINNING = re.compile(rb"^rg: DEBUG\|ignore::walk\|[^ ]+: ignoring ", re.MULTILINE)
_OTHER = re.compile(rb"^rg: (?:DEBUG|TRACE)\|[^\n]*\n?", re.MULTILINE)

_SIMPLE_CLASS = re.compile(rb"\[[!^]?(?:[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9_.~$@ ])+\]")

_UNKNOWN = "\N{REPLACEMENT CHARACTER}".encode()
"""What ripgrep writes for the bytes of a name that are not UTF-8."""


@dataclass(frozen=True, slots=True)
class Report:
    """What one run of ripgrep left out."""

    ignored: tuple[str, ...]
    """Files and whole folders that git's rules hide (an ``.ignore`` file's are not listed)."""
    doubtful: tuple[str, ...]
    """Those of them that git may read otherwise: see `is_read_otherwise`."""
    repositories: tuple[str, ...]
    """Folders that have a ``.git`` of their own, the root's not among them."""
    rest: bytes
    """What it complained of: standard error without the report."""
    is_whole: bool
    """False when a name could not be read from it."""


def read_report(stderr: bytes) -> Report:
    """Return what ripgrep wrote on standard error with ``--debug``, taken apart."""
    ignored: list[str] = []
    doubtful: list[str] = []
    repositories: list[str] = []
    n_read = 0
    is_whole = True
    for path, kind, source, rule in _IGNORING.findall(stderr):
        n_read += 1
        if kind == b"Gitignore" and not source.endswith(b".ignore"):
            ignored.append(clean_path(path))
            if is_read_otherwise(rule):
                doubtful.append(ignored[-1])
            is_whole = is_whole and _UNKNOWN not in path
        elif kind == b"Override" and path.endswith(b"/.git") and path != b"./.git":
            repositories.append(clean_path(path[: -len(b"/.git")]))
    is_whole = is_whole and n_read == len(_BEGINNING.findall(stderr))
    rest = _OTHER.sub(b"", _IGNORING.sub(b"", stderr))
    return Report(tuple(ignored), tuple(doubtful), tuple(repositories), rest, is_whole)


def is_read_otherwise(rule: bytes) -> bool:
    """Return whether git may read an ignore rule in another way than ripgrep does.

    Git knows ``[[:digit:]]`` and backslashes in classes, and takes braces for themselves.
    """
    return b"{" in rule or b"[" in _SIMPLE_CLASS.sub(b"", rule)


def clean_path(path: bytes) -> str:
    """Return a path as ripgrep prints it, without the leading ``./``."""
    return os.fsdecode(path.removeprefix(b"./"))
