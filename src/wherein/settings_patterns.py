"""Patterns of a repository's settings, as they act in a folder inside it that is searched alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

__all__ = ["patterns_below"]


def patterns_below(patterns: Iterable[str], folder: Sequence[str]) -> tuple[str, ...]:
    """Return what gitignore patterns of a root say below ``folder``, relative to it.

    Args:
        patterns: As written for the root.
        folder: Names from the root down to the folder.
    """
    found: list[str] = []
    for pattern in patterns:
        bang, body = ("!", pattern[1:]) if pattern.startswith("!") else ("", pattern)
        bare = body.rstrip("/")
        slash = body[len(bare) :]
        if "/" not in bare:  # a name, at any depth
            found.append(pattern)
            if any(fnmatchcase(name, bare) for name in folder):
                found.append(f"{bang}*")
            continue
        found += (
            f"{bang}/{'/'.join(rest)}{slash}" if rest else f"{bang}*"
            for rest in _rests(bare.lstrip("/").split("/"), folder)
        )
    return tuple(dict.fromkeys(found))


def _rests(names: Sequence[str], folder: Sequence[str]) -> Iterator[list[str]]:
    """Yield what is left of an anchored pattern below ``folder``; nothing left means all of it."""
    if not folder or not names:
        yield list(names)
    elif names[0] == "**":
        yield list(names)
        for n_passed in range(len(folder)):
            yield from _rests(names[1:], folder[n_passed:])
    elif fnmatchcase(folder[0], names[0]):
        yield from _rests(names[1:], folder[1:])
