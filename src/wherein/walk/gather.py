"""Gathers the paths of a tree: git's list, or what the ignore rules leave where git is silent."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from wherein.errors import ExternalError
from wherein.external.git import Git
from wherein.external.git_folder import GitFolder, find_git_folder, is_repository, user_git_files
from wherein.external.git_index import (
    GITLINK,
    IndexEntry,
    UnknownIndexError,
    read_index_file,
)
from wherein.types import Skipped
from wherein.walk.hidden import OWN_IGNORE_FILES, HidingRules, read_rules
from wherein.walk.ignore import IgnoreRules

__all__ = [
    "RULE_FILES",
    "Candidate",
    "Gathered",
    "Repository",
    "gather",
    "gather_plain",
    "gather_repository",
]

MAX_DEPTH = 100
"""Repositories nested deeper than this are a loop, not source."""

RULE_FILES = frozenset({".gitignore", *OWN_IGNORE_FILES})
"""Names whose content decides about other files."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository met on the way; ``prefix`` leads to it from the walk's root."""

    folder: GitFolder
    prefix: str
    written_ns: int
    git: Git | None


class Candidate(NamedTuple):
    """A path in the tree's file set, before anything is known of the file."""

    path: str
    entry: IndexEntry | None = None
    repository: Repository | None = None
    """The repository whose index holds ``entry``."""


@dataclass(slots=True)
class Gathered:
    """What a look at the tree found. Filled while walking, only read afterwards."""

    hiding: HidingRules
    candidates: dict[str, Candidate] = field(default_factory=dict[str, Candidate])
    folders: set[str] = field(default_factory=set[str])
    """Every folder that could gain a file of the set; the root is the empty name."""
    watched: set[str] = field(default_factory=set[str])
    """Absolute paths, perhaps absent, whose change can change the set or the head."""
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    notes: list[str] = field(default_factory=list[str])
    head: str | None = None


def gather(root: Path, hiding: HidingRules, include: IgnoreRules | None = None) -> Gathered:
    """Return the paths of the file set under ``root`` (a real path).

    Args:
        root: The folder to look at.
        hiding: Rules that hide paths, tracked or not.
        include: Rules for paths that are wanted though git ignores them.
    """
    found = Gathered(hiding)
    outer = find_git_folder(root)
    found.watched.add(str(root / ".git"))
    git = None
    if outer is not None:
        probe = Git.probe(root)
        git = probe.git
        if git is None:
            found.notes.append(f"{probe.reason}; files are listed by the ignore rules alone")
        elif git.prefix and git.at_top().ignored_among([git.prefix[:-1]]):
            found.notes.append("git ignores this folder; it is listed by its own ignore rules")
            git = None
    if git is None or not _gather_with_git(git, "", found, include, 0):
        gather_plain(root, "", outer, found, include, 0)
    if outer is not None:
        found.head = outer.head() or (git.head() if git is not None else None)
    return found


def _gather_with_git(
    git: Git, prefix: str, found: Gathered, include: IgnoreRules | None, depth: int
) -> bool:
    """Add the files of one working tree as git lists them; return False when git fails."""
    try:
        gather_repository(git, prefix, found, include, depth)
    except ExternalError as error:  # a damaged index, or a pipe called .gitignore
        found.notes.append(f"{error.message}; files are listed by the ignore rules alone")
        return False
    return True


def gather_repository(
    git: Git, prefix: str, found: Gathered, include: IgnoreRules | None, depth: int
) -> None:
    """Add the files of one working tree as git lists them."""
    folder = GitFolder(git.top, git.git_dir, git.common_dir)
    _watch_repository(folder, git.root, found)
    index = git.index()
    repository = Repository(folder, prefix, index.written_ns, git)
    nested = _add_tracked(index.entries, git.prefix, repository, found)
    for path in git.untracked():
        if path.endswith("/"):
            nested.append(prefix + path[:-1])
        else:
            found.candidates[prefix + path] = Candidate(prefix + path)
    for path in _scan_folders(git, prefix, found):
        if path not in nested:
            nested.append(path)
    for path in sorted(nested):
        _gather_nested(git.root / path[len(prefix) :], path, folder, found, include, depth + 1)
    if include is not None:
        for path in git.ignored():
            _gather_included(git.root, prefix, prefix + path, folder, found, include, depth + 1)


def _add_tracked(
    entries: tuple[IndexEntry, ...], inner: str, repository: Repository, found: Gathered
) -> list[str]:
    """Add the index entries under ``inner`` (of the working tree); return the submodules."""
    cut = len(inner)
    prefix = repository.prefix
    submodules: list[str] = []
    for entry in entries:
        path = entry.path
        if inner and not path.startswith(inner):
            continue
        path = prefix + path[cut:]
        if entry.mode == GITLINK:
            submodules.append(path)
        else:
            found.candidates[path] = Candidate(path, entry, repository)
    return submodules


def _watch_repository(folder: GitFolder, root: Path, found: Gathered) -> None:
    found.watched.update(folder.watched())
    found.watched.update(user_git_files())
    excludes = folder.excludes_file()
    if excludes is not None:
        found.watched.add(str(excludes))
        _note_catch_all(excludes, found)
    above = root
    while above != folder.top and above != above.parent:
        above = above.parent
        found.watched.add(str(above / ".gitignore"))


def _note_catch_all(excludes: Path, found: Gathered) -> None:
    """Say when the user's own ignore file hides everything git does not track."""
    rules = read_rules(excludes)
    for rule in rules.rules if rules is not None else ():
        if rule.pattern in {b"*", b"**", b"/*", b"/**"} and not rule.is_negated:
            shown = f"{excludes}:{rule.line}:{os.fsdecode(rule.pattern)}"
            note = f"untracked files are hidden by the personal rule {shown}"
            if note not in found.notes:
                found.notes.append(note)


def _gather_nested(
    place: Path,
    path: str,
    outer: GitFolder | None,
    found: Gathered,
    include: IgnoreRules | None,
    depth: int,
) -> None:
    """Add a submodule's or nested clone's files: it has an index and rules of its own."""
    found.watched.add(str(place / ".git"))
    if depth > MAX_DEPTH or place.is_symlink() or found.hiding.hides_folder(path):
        return
    folder = find_git_folder(place) if is_repository(place) else None
    if folder is None:
        return  # a submodule that is not checked out
    if outer is not None and folder.common_dir == outer.common_dir:
        found.skipped.append(Skipped(path, "linked worktree"))
        return
    inner = Git.find(place)
    if inner is not None and inner.prefix:
        inner = None  # git takes it for a part of the tree around it
    if inner is not None and _gather_with_git(inner, f"{path}/", found, include, depth):
        return
    gather_plain(place, f"{path}/", folder, found, include, depth)


def _scan_folders(git: Git, prefix: str, found: Gathered) -> list[str]:
    """Find every folder that could gain a file, also empty ones, which git does not list.

    Returns:
        Nested repositories that git lists nothing of.
    """
    known = {prefix[:-1] if prefix else ""}
    for path in found.candidates:
        if path.startswith(prefix):
            _add_parents(path, known)
    known = {folder for folder in known if not found.hiding.sets_aside(folder)}
    nested: list[str] = []
    pending = sorted(known)
    while pending:
        unknown: list[str] = []
        for folder in pending:
            scanned = _scan(git.root, prefix, folder, found)
            unknown.extend(
                path for path in scanned if path not in known and not found.hiding.sets_aside(path)
            )
        cut = len(prefix)
        ignored = _ignored(git, [path[cut:] for path in unknown])
        pending = []
        for path in unknown:
            if path[cut:] in ignored:
                continue
            if is_repository(git.root / path[cut:]):
                nested.append(path)
            else:
                pending.append(path)
                known.add(path)
    return nested


def _ignored(git: Git, folders: list[str]) -> set[str]:
    """Return those of ``folders`` that git ignores, or that it will not judge."""
    try:
        return set(git.ignored_among(folders))
    except ExternalError:
        if len(folders) == 1:
            return set(folders)
        # One odd path ends the whole answer: find it by halves.
        half = len(folders) // 2
        return _ignored(git, folders[:half]) | _ignored(git, folders[half:])


def _scan(root: Path, prefix: str, folder: str, found: Gathered) -> list[str]:
    """Return the subfolders of ``folder``; note rule files and what is no file at all."""
    subfolders: list[str] = []
    start = f"{folder}/" if folder else ""
    try:
        with os.scandir(root / folder[len(prefix) :]) as entries:
            for entry in entries:
                name = entry.name
                if entry.is_dir(follow_symlinks=False):
                    if name != ".git":
                        subfolders.append(start + name)
                elif name in RULE_FILES:
                    _note_rules(entry.path, start, name, found)
                elif not entry.is_file(follow_symlinks=False) and not entry.is_symlink():
                    found.skipped.append(Skipped(start + name, "not a regular file"))
    except FileNotFoundError:
        return []  # tracked files whose folder was deleted: the one above tells when it is back
    except OSError as error:
        found.skipped.append(Skipped(folder, "unreadable", error.strerror or ""))
    found.folders.add(folder)
    return sorted(subfolders)


def _note_rules(place: str, start: str, name: str, found: Gathered) -> None:
    found.watched.add(place)
    if name in OWN_IGNORE_FILES:
        found.hiding.add_file(Path(place), start, name)


def _add_parents(path: str, known: set[str]) -> None:
    end = path.rfind("/")
    while end > 0:
        folder = path[:end]
        if folder in known:
            return
        known.add(folder)
        end = path.rfind("/", 0, end)


def _gather_included(
    root: Path,
    prefix: str,
    path: str,
    repository: GitFolder | None,
    found: Gathered,
    include: IgnoreRules,
    depth: int,
) -> None:
    """Add from one ignored path what ``include`` names; nested clones keep their own rules."""
    if not path.endswith("/"):
        if _decides_for(include, path, is_folder=False):
            found.candidates.setdefault(path, Candidate(path))
        return
    folder = path[:-1]
    place = root / folder[len(prefix) :]
    if depth > MAX_DEPTH or found.hiding.hides_folder(folder):
        return
    if _decides_for(include, folder, is_folder=True):
        if is_repository(place):
            _gather_nested(place, folder, repository, found, None, depth)
        else:
            gather_plain(place, path, None, found, None, depth)
    elif may_match_below(include, folder):
        found.folders.add(folder)
        for name, is_folder in _names(place):
            below = f"{path}{name}/" if is_folder else path + name
            _gather_included(root, prefix, below, repository, found, include, depth + 1)


def _names(place: Path) -> list[tuple[str, bool]]:
    try:
        with os.scandir(place) as entries:
            return sorted(
                (entry.name, entry.is_dir(follow_symlinks=False))
                for entry in entries
                if entry.name != ".git"
            )
    except OSError:
        return []


def _decides_for(include: IgnoreRules, path: str, *, is_folder: bool) -> bool:
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


def gather_plain(
    root: Path,
    prefix: str,
    folder: GitFolder | None,
    found: Gathered,
    include: IgnoreRules | None,
    depth: int,
) -> None:
    """Walk ``root`` ourselves under the rules git would apply.

    Args:
        root: Where the walk starts.
        prefix: Path of ``root`` from the walk's first root, empty or ending in ``/``.
        folder: The repository ``root`` lies in, when there is one git does not list for us.
        found: Where everything goes.
        include: Rules for ignored paths that are wanted.
        depth: How many repositories surround this one.
    """
    walk = _PlainWalk(root, prefix, folder, found, include, depth)
    walk.run()


class _PlainWalk:
    """One walk over one working tree or plain folder."""

    def __init__(
        self,
        root: Path,
        prefix: str,
        folder: GitFolder | None,
        found: Gathered,
        include: IgnoreRules | None,
        depth: int,
    ) -> None:
        self._root = root
        self._prefix = prefix
        self._folder = folder
        self._found = found
        self._include = include
        self._depth = depth
        self._inner = ""
        self._ignore_case = folder is not None and folder.ignores_case()
        self._tracked_folders: set[str] = set()
        self._submodules: set[str] = set()

    def run(self) -> None:
        level = _Level((), is_ignored=False)
        if self._folder is not None:
            level = self._open_repository(self._folder)
        pending = [(self._prefix[:-1] if self._prefix else "", level)]
        while pending:
            folder, level = pending.pop()
            pending.extend(reversed(self._visit(folder, level)))

    def _open_repository(self, folder: GitFolder) -> _Level:
        """Take over the tracked paths and the rules above the root."""
        _watch_repository(folder, self._root, self._found)
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
        self._submodules = set(_add_tracked(entries, self._inner, repository, self._found))
        for path in (*self._found.candidates, *self._submodules):
            if path.startswith(self._prefix):
                _add_parents(path, self._tracked_folders)
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
            _note_rules(str(place / name), start, name, found)
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
        if is_ignored and self._include is not None:
            _gather_included(
                self._root, self._prefix, f"{path}/", self._folder, self._found, self._include,
                self._depth + 1,
            )  # fmt: skip
        if is_ignored and path not in self._tracked_folders:
            return None
        if self._found.hiding.hides_folder(path):
            return None
        return _Level(level.rules, is_ignored)

    def _nested(self, path: str) -> None:
        place = self._root / path[len(self._prefix) :]
        _gather_nested(place, path, self._folder, self._found, self._include, self._depth + 1)

    def _add_file(self, path: str, level: _Level) -> None:
        if (not level.is_ignored and not level.ignores(self._from_top(path), is_folder=False)) or (
            self._include is not None and _decides_for(self._include, path, is_folder=False)
        ):
            self._found.candidates[path] = Candidate(path)
