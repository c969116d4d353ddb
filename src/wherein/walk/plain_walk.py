"""Walks a folder under the ignore rules that git would apply there."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wherein.external.git_folder import GitFolder, is_repository
from wherein.external.git_index import UnknownIndexError, read_index_file
from wherein.types import Skipped
from wherein.walk.gathered import (
    RULE_FILES,
    Candidate,
    Gathered,
    Repository,
    add_parents,
    add_tracked,
    note_rules,
    watch_repository,
)
from wherein.walk.hidden import read_rules
from wherein.walk.ignore import IgnoreRules
from wherein.walk.included import decides_for

__all__ = ["PlainWalk"]


@dataclass(frozen=True, slots=True)
class _Level:
    """The git rules that act in a folder: weakest first, each with the folder it lies in."""

    rules: tuple[tuple[bytes, IgnoreRules], ...]
    is_ignored: bool

    def ignores(self, path: bytes, *, is_folder: bool) -> bool:
        """Decide about ``path`` (relative to the top), the deepest rule file first."""
        for base, rules in reversed(self.rules):
            rule = rules.decide(path[len(base) :], is_folder=is_folder)
            if rule is not None:
                return not rule.is_negated
        return False

    def below(self, base: bytes, rules: IgnoreRules | None) -> _Level:
        return self if rules is None else _Level((*self.rules, (base, rules)), self.is_ignored)


class PlainWalk:
    """One walk over one working tree or plain folder.

    Args:
        root: Where it starts.
        prefix: Path of ``root`` from the first root, empty or ending in ``/``.
        folder: The repository ``root`` lies in, when there is one.
        found: Where everything goes.
        include: Rules for ignored files that are wanted.
        nested: Called with each repository that lies inside.
        ignored: Called with each folder that git ignores.
    """

    def __init__(
        self,
        root: Path,
        prefix: str,
        folder: GitFolder | None,
        found: Gathered,
        include: IgnoreRules | None,
        nested: Callable[[str], None],
        ignored: Callable[[str], None],
    ) -> None:
        self._root = root
        self._prefix = prefix
        self._folder = folder
        self._found = found
        self._include = include
        self._nested = nested
        self._ignored = ignored
        self._inner = ""
        self._ignore_case = folder is not None and folder.ignores_case()
        self._tracked_folders: set[str] = set()
        self._submodules: set[str] = set()

    def run(self) -> None:
        """Walk; a stack of our own, so that depth costs no recursion."""
        level = _Level((), is_ignored=False)
        if self._folder is not None:
            level = self._open_repository(self._folder)
        pending = [(self._prefix[:-1] if self._prefix else "", level)]
        while pending:
            folder, level = pending.pop()
            pending.extend(reversed(self._visit(folder, level)))

    def _open_repository(self, folder: GitFolder) -> _Level:
        """Take over the tracked paths and the rules above the root."""
        watch_repository(folder, self._root, self._found)
        if self._root != folder.top:
            self._inner = self._root.relative_to(folder.top).as_posix() + "/"
        try:
            index = read_index_file(folder.git_dir)
            entries, written_ns = index.entries, index.written_ns
        except UnknownIndexError:
            self._found.notes.append(
                "git's index has a form only git reads; tracked files that are ignored are missed"
            )
            entries, written_ns = (), 0
        repository = Repository(folder, self._prefix, written_ns, None)
        self._submodules = set(add_tracked(entries, self._inner, repository, self._found))
        for path in (*self._found.candidates, *self._submodules):
            if path.startswith(self._prefix):
                add_parents(path, self._tracked_folders)
        return self._rules_above(folder)

    def _rules_above(self, folder: GitFolder) -> _Level:
        level = _Level((), is_ignored=False)
        excludes = folder.excludes_file()
        for path in (excludes, folder.common_dir / "info" / "exclude"):
            if path is not None:
                level = level.below(b"", read_rules(path, ignore_case=self._ignore_case))
        above = ""
        parts = self._inner.split("/")[:-1]
        for part in parts:
            rules = read_rules(
                folder.top / above / ".gitignore", ignore_case=self._ignore_case, follow=False
            )
            level = level.below(os.fsencode(above), rules)
            above = f"{above}{part}/"
            if level.ignores(os.fsencode(above[:-1]), is_folder=True):
                # The root itself is ignored: asked for by name, it is read under its own rules.
                return _Level((), is_ignored=False)
        return level

    def _visit(self, folder: str, level: _Level) -> list[tuple[str, _Level]]:
        """Add a folder's files; return its subfolders with the rules that act there."""
        found = self._found
        start = f"{folder}/" if folder else ""
        place = self._root / folder[len(self._prefix) :]
        try:
            with os.scandir(place) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError as error:
            found.skipped.append(Skipped(folder, "unreadable", error.strerror or ""))
            return []
        found.folders.add(folder)
        for name in sorted(RULE_FILES & {entry.name for entry in entries}):
            note_rules(str(place / name), start, name, found)
            if name == ".gitignore" and not level.is_ignored:
                rules = read_rules(place / name, ignore_case=self._ignore_case, follow=False)
                level = level.below(self._from_top(start), rules)
        below: list[tuple[str, _Level]] = []
        for entry in entries:
            if entry.name == ".git":
                continue
            path = start + entry.name
            if entry.is_dir(follow_symlinks=False):
                inner = self._enter(path, level)
                if inner is not None:
                    below.append((path, inner))
            elif path not in found.candidates:
                self._add_file(path, level)
        return below

    def _from_top(self, path: str) -> bytes:
        return os.fsencode(self._inner + path[len(self._prefix) :])

    def _enter(self, path: str, level: _Level) -> _Level | None:
        """Return the rules for a subfolder, None when it is not walked here."""
        if path in self._submodules:
            self._nested(path)
            return None
        is_ignored = level.is_ignored or level.ignores(self._from_top(path), is_folder=True)
        place = self._root / path[len(self._prefix) :]
        if not is_ignored and is_repository(place):
            self._nested(path)
            return None
        if is_ignored:
            self._ignored(path)
        if is_ignored and path not in self._tracked_folders:
            return None
        if self._found.hiding.hides_folder(path):
            return None
        return _Level(level.rules, is_ignored)

    def _add_file(self, path: str, level: _Level) -> None:
        if (not level.is_ignored and not level.ignores(self._from_top(path), is_folder=False)) or (
            self._include is not None and decides_for(self._include, path, is_folder=False)
        ):
            self._found.candidates[path] = Candidate(path)
