"""Every deliberate exception, each with a hint that says how to mend it.

WhereinError
├── UsageError              a value the caller gave is wrong
│   ├── PathError           no such path, no directory, outside the root, unreadable
│   ├── QueryError          empty query, bad filter, unknown language or kind
│   ├── PatternError        a glob or regular expression that does not compile
│   ├── RevisionError       a revision git does not know
│   └── SettingsError       an unknown or invalid setting
├── StoreError              the index cannot be used
│   ├── CorruptIndexError   damaged; one command rebuilds it
│   ├── NewerIndexError     written by a newer Wherein
│   └── LockedError         another process is writing and did not finish in time
├── ExternalError           a program we start failed
│   ├── MissingProgramError not installed
│   └── ProgramTimeoutError did not answer in time
└── ProviderError           an embedding or reranking provider failed
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = [
    "CorruptIndexError",
    "ExternalError",
    "LockedError",
    "MissingProgramError",
    "NewerIndexError",
    "PathError",
    "PatternError",
    "ProgramTimeoutError",
    "ProviderError",
    "QueryError",
    "RevisionError",
    "SettingsError",
    "StoreError",
    "UsageError",
    "WhereinError",
    "near_name_hint",
]


class WhereinError(Exception):
    """Root of the tree: ``message`` says what is wrong with the value, ``hint`` how to mend it."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(WhereinError):
    """A value the caller gave is wrong."""


class PathError(UsageError):
    """A path does not exist, is of the wrong type, unreadable, or outside the root."""


class QueryError(UsageError):
    """A query or filter cannot be answered."""


class PatternError(UsageError):
    """A glob or regular expression does not compile."""


class RevisionError(UsageError):
    """Git does not know the revision."""


class SettingsError(UsageError):
    """A setting is unknown or its value invalid."""


class StoreError(WhereinError):
    """The index cannot be used."""


class CorruptIndexError(StoreError):
    """The index is damaged; the hint names the command that rebuilds it."""


class NewerIndexError(StoreError):
    """The index was written by a newer version."""


class LockedError(StoreError):
    """Another process holds the write lock and did not finish in time."""


class ExternalError(WhereinError):
    """A program that Wherein starts failed."""


class MissingProgramError(ExternalError):
    """A program that Wherein starts is not installed."""


class ProgramTimeoutError(ExternalError):
    """A program that Wherein starts did not answer in time."""


class ProviderError(WhereinError):
    """An embedding or reranking provider failed."""


def near_name_hint(name: str, known: Iterable[str], *, fallback: str = "") -> str:
    """Return ``did you mean 'x'?`` when a known name is near, else ``fallback``."""
    near = get_close_matches(name, sorted(known), n=1)
    return f"did you mean {near[0]!r}?" if near else fallback
