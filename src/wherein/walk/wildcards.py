"""Keeps a wildcard pattern from being tried in more ways than there is time for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

__all__ = ["tried_once"]

_Part = TypeVar("_Part", str, bytes)


def tried_once(
    parts: Sequence[_Part],
    lazy: Mapping[_Part, _Part],
    is_break: Callable[[_Part], bool],
    group: tuple[_Part, _Part],
) -> list[_Part]:
    """Return a regular expression's parts, open-ended ones tried once where that is enough.

    What stands between two stars of one name, or between two ``**/``, is best found where it first
    occurs: every later place leaves less for the rest. Else a name of fifty letters and a pattern
    with twelve stars are tried in some fifty to the twelfth ways.

    Args:
        parts: The expression, a part for each element of the pattern.
        lazy: The open-ended parts, each with the form that takes as little as it can.
        is_break: Whether the argument does not hold across a part, as for a slash between stars.
        group: Beginning and end of an atomic group.
    """
    ends = [i for i, part in enumerate(parts) if part in lazy or is_break(part)] + [len(parts)]
    out = list(parts[: ends[0]])
    for here, end in pairwise(ends):
        part, rest = parts[here], parts[here + 1 : end]
        if part in lazy and end < len(parts) and parts[end] in lazy:
            out += [group[0], lazy[part], *rest, group[1]]
        else:
            out += [part, *rest]
    return out
