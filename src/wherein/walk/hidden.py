"""Hides paths by rules of our own: ``.ignore``, ``.whereinignore`` and the settings' patterns.

They can only hide, tracked files too, and never bring back what git ignores: nothing in a
repository may widen what is read.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from wherein.errors import PatternError
from wherein.settings import Settings
from wherein.walk.ignore import IgnoreRules, Rule, parse_rules

__all__ = ["OWN_IGNORE_FILES", "HidingRules", "ignore_patterns", "parse_patterns", "read_rules"]

OWN_IGNORE_FILES = (".ignore", ".whereinignore")
"""The weaker first."""

MAX_RULE_FILE_BYTES = 10_000_000
"""A larger ignore file is a mistake; git stops at 100 MB."""


def read_rules(path: Path, *, ignore_case: bool = False, follow: bool = True) -> IgnoreRules | None:
    """Return the rules in a file, None when there is none or it is no regular file."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # a folder of that name, a pipe
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(MAX_RULE_FILE_BYTES)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    rules = parse_rules(data or b"", ignore_case=ignore_case)
    return IgnoreRules(rules, str(path)) if rules else None


def parse_patterns(patterns: Sequence[str], name: str) -> IgnoreRules | None:
    """Return the rules of a setting's patterns, None when it has none.

    Raises:
        PatternError: A pattern holds a line end.
    """
    for pattern in patterns:
        if "\n" in pattern or "\0" in pattern:
            message = f"{name} has a pattern over several lines: {pattern!r}"
            raise PatternError(message, hint="give each pattern by itself")
    rules = parse_rules(b"\n".join(os.fsencode(pattern) for pattern in patterns))
    return IgnoreRules(rules, f"setting {name}") if rules else None


def ignore_patterns(settings: Settings, root: Path) -> tuple[str, ...]:
    """Return what hides paths under ``root``: the setting ``ignore``, and Wherein's own folder.

    The folder for indexes lies in the tree when somebody searches their whole home folder; every
    index would change what it is an index of.
    """
    home = Path(os.path.realpath(settings.home))
    if home == root or not home.is_relative_to(root):
        return settings.ignore
    own = re.sub(r"([\\*?\[])", r"\\\1", home.relative_to(root).as_posix())
    return (*settings.ignore, f"/{own}/")


class HidingRules:
    """What hides paths of one tree. Folders are decided once and remembered."""

    def __init__(self, settings_rules: IgnoreRules | None = None) -> None:
        self._settings_rules = settings_rules
        self._files: dict[str, list[IgnoreRules]] = {}
        self._folders: dict[str, bool] = {"": False}

    def add_file(self, path: Path, start: str, name: str) -> None:
        """Take over the rules of ``path``, which act in the folder ``start`` (``src/``)."""
        rules = read_rules(path, follow=False)
        if rules is None:
            return
        here = self._files.setdefault(start, [])
        if name == OWN_IGNORE_FILES[-1]:
            here.append(rules)
        else:
            here.insert(0, rules)
        self._folders = {"": False}

    @property
    def is_empty(self) -> bool:
        """Whether nothing is hidden at all."""
        return self._settings_rules is None and not self._files

    def sets_aside(self, folder: str) -> bool:
        """Return whether the settings alone hide everything under ``folder``.

        Nothing that happens there can change the file set, so nobody need look.
        """
        if self._settings_rules is None:
            return False
        while folder:
            rule = self._settings_rules.decide(os.fsencode(folder), is_folder=True)
            if rule is not None and not rule.is_negated:
                return True
            folder = folder.rpartition("/")[0]
        return False

    def hides_folder(self, folder: str) -> bool:
        """Return whether everything under ``folder`` is hidden."""
        chain: list[str] = []
        known = self._folders.get(folder)
        while known is None:  # no recursion: folders nest thousands deep
            chain.append(folder)
            folder = folder.rpartition("/")[0]
            known = self._folders.get(folder)
        for below in reversed(chain):
            known = known or self._hides(below, is_folder=True)
            self._folders[below] = known
        return known

    def hides(self, path: str) -> bool:
        """Return whether the file ``path`` is hidden, itself or by a folder above it."""
        if self.is_empty:
            return False
        return self.hides_folder(path.rpartition("/")[0]) or self._hides(path, is_folder=False)

    def _hides(self, path: str, *, is_folder: bool) -> bool:
        rule = self._decide(path, is_folder=is_folder)
        return rule is not None and not rule.is_negated

    def _decide(self, path: str, *, is_folder: bool) -> Rule | None:
        """Return the rule that decides: the settings, then the deepest file."""
        if self._settings_rules is not None:
            rule = self._settings_rules.decide(os.fsencode(path), is_folder=is_folder)
            if rule is not None:
                return rule
        start = path[: path.rfind("/") + 1]
        while self._files:
            for rules in reversed(self._files.get(start, ())):
                rule = rules.decide(os.fsencode(path[len(start) :]), is_folder=is_folder)
                if rule is not None:
                    return rule
            if not start:
                break
            start = start[: start.rfind("/", 0, -1) + 1]
        return None
