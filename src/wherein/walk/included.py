"""What the setting ``include`` asks for although git ignores it."""

from __future__ import annotations

import os

from wherein.walk.ignore import IgnoreRules

__all__ = ["decides_for", "may_match_below"]


def decides_for(include: IgnoreRules, path: str, *, is_folder: bool) -> bool:
    """Return whether the rules name ``path`` itself."""
    rule = include.decide(os.fsencode(path), is_folder=is_folder)
    return rule is not None and not rule.is_negated


def may_match_below(include: IgnoreRules, folder: str) -> bool:
    """Return whether a path below ``folder`` could match, by the rules' literal beginnings."""
    encoded = os.fsencode(folder) + b"/"
    for rule in include.rules:
        if rule.is_for_names:
            return True
        pattern = rule.pattern.removeprefix(b"/")
        specials = [i for i in map(pattern.find, (b"*", b"?", b"[", b"\\")) if i >= 0]
        literal = pattern[: min(specials, default=len(pattern))]
        if encoded.startswith(literal) or literal.startswith(encoded):
            return True
    return False
