"""Which files may be shown, by their names, the settings and Wherein's own ignore files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from wherein.external.git import Git
from wherein.settings import Settings
from wherein.walk.classify import is_secret_name
from wherein.walk.hidden import ignore_patterns, read_rules
from wherein.walk.ignore import IgnoreRules, parse_rules

__all__ = ["FileFilter", "is_hidden_by", "rules_of"]

OWN_IGNORE_FILE = ".whereinignore"

_RulesAbove = tuple[tuple[str, IgnoreRules], ...]
"""Folders and the rules of their own ignore files, the deepest first."""


@dataclass(slots=True)
class FileFilter:
    """Says of a path whether it may be shown, by its name and the settings."""

    settings: Settings
    root: Path
    _rules: dict[str, _RulesAbove] = field(default_factory=dict[str, "_RulesAbove"])
    _worktrees: list[str] = field(default_factory=list[str])
    _ignored: tuple[str, ...] | None = None
    """Patterns of the setting ``ignore`` and of Wherein's own folder, read when first asked."""

    def _rules_above(self, folder: str) -> _RulesAbove:
        """Return the rules of the own ignore files of ``folder`` and of the folders above it."""
        unknown: list[str] = []
        while folder not in self._rules:  # no recursion: folders nest thousands deep
            unknown.append(folder)
            folder = folder.rpartition("/")[0]
            if not unknown[-1]:
                break
        found = self._rules.get(folder, ())
        for below in reversed(unknown):
            path = os.path.join(self.root, below, OWN_IGNORE_FILE)  # noqa: PTH118 - for speed
            # Nearly always there is none, which `access` says without an exception.
            own = read_rules(Path(path), follow=False) if os.access(path, os.F_OK) else None
            found = found if own is None else ((below, own), *found)
            self._rules[below] = found
        return found

    def _is_hidden(self, path: str) -> bool:
        """Return True when the ignore file of a folder above ``path`` hides it."""
        folder = path.rpartition("/")[0]
        above = self._rules.get(folder)
        if above is None:
            above = self._rules_above(folder)
        return bool(above) and any(
            is_hidden_by(rules, path[len(folder) + 1 :] if folder else path)
            for folder, rules in above
        )

    def add_worktrees(self, root: Path, git: Git | None, named: Sequence[str]) -> None:
        """Take out linked worktrees of the same repository, unless a named path lies in one.

        They hold the same files once more.
        """
        if git is None:
            return
        for folder in _linked_worktrees(root, git.common_dir):
            if not any(path == folder or path.startswith(f"{folder}/") for path in named):
                self._worktrees.append(f"{folder}/")

    def refusal(self, path: str, *, is_named: bool = False) -> str:
        """Return why ``path`` is not searched, empty when it is.

        Args:
            path: Relative path with ``/``.
            is_named: True for a path that was asked for by name: ignore rules do not hide it.
        """
        if _is_secret(path):
            return "secret-like name"
        if self.settings.deny and is_hidden_by(rules_of(self.settings.deny), path):
            return "denied"
        if is_named:
            return ""
        if self._worktrees and path.startswith(tuple(self._worktrees)):
            return "linked worktree"
        if self._ignored is None:
            self._ignored = ignore_patterns(self.settings, self.root)
        if self._ignored and is_hidden_by(rules_of(self._ignored), path):
            return "ignored by settings"
        if self._is_hidden(path):
            return f"ignored by {OWN_IGNORE_FILE}"
        return ""


_is_secret = lru_cache(maxsize=1 << 14)(is_secret_name)
"""The same files are found again and again."""


@lru_cache(maxsize=8)
def rules_of(patterns: tuple[str, ...]) -> IgnoreRules:
    """Return the rules of a setting."""
    return IgnoreRules(parse_rules(os.fsencode("\n".join(patterns))), "settings")


def is_hidden_by(rules: IgnoreRules, path: str) -> bool:
    """Return True when the rules hide ``path`` or a folder it lies in."""
    raw = os.fsencode(path)
    cut = raw.find(b"/")
    while cut != -1:
        rule = rules.decide(raw[:cut], is_folder=True)
        if rule is not None and not rule.is_negated:
            return True
        cut = raw.find(b"/", cut + 1)
    rule = rules.decide(raw, is_folder=False)
    return rule is not None and not rule.is_negated


def _linked_worktrees(root: Path, common_dir: Path) -> Iterator[str]:
    """Yield the linked worktrees that lie below ``root``, relative to it."""
    try:
        records = sorted((common_dir / "worktrees").iterdir())
    except OSError:
        return
    for record in records:
        try:
            text = (record / "gitdir").read_text("utf-8", "surrogateescape")
        except OSError:
            continue
        folder = Path(text.strip()).parent
        if folder != root and folder.is_relative_to(root):
            yield folder.relative_to(root).as_posix()
