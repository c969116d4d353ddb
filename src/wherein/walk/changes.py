"""Tells what changed since a listing, without listing again: the cost of the look and the changes.

Handles the changes of everyday work: files edited, added, moved or deleted, branches switched,
commits made. For rarer ones (ignore rules, settings, submodules, no git) it says to list again.
"""

from __future__ import annotations

import os
import stat
import struct
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from wherein.errors import ExternalError
from wherein.external.git import Git
from wherein.external.git_folder import GitFolder, find_git_folder, is_repository
from wherein.external.git_index import GITLINK, Index
from wherein.settings import Settings
from wherein.types import Skipped
from wherein.walk.collector import paused_collector
from wherein.walk.gathered import RULE_FILES, Candidate, Gathered, Repository
from wherein.walk.hidden import (
    OWN_IGNORE_FILES,
    HidingRules,
    ignore_patterns,
    parse_patterns,
)
from wherein.walk.signature import (
    ABSENT,
    Places,
    Row,
    Signature,
    outer_row,
    pack_rows,
    pack_signature,
    stat_fields,
    stat_row,
    unpack_signature,
)
from wherein.walk.walker import ListedFile, Lister, real_root

__all__ = ["Changes", "list_changes"]


@dataclass(frozen=True, slots=True)
class Changes:
    """How a tree differs from the one a signature was made for."""

    listed: tuple[ListedFile, ...]
    """Admitted files that are new or whose stat changed, sorted by path."""
    skipped: tuple[Skipped, ...]
    """New or changed paths that are not admitted; they replace what was said of these paths."""
    removed: tuple[str, ...]
    """Paths that are no longer in the file set, sorted."""
    head: str | None
    signature: bytes
    """For the next comparison; the very object that was given when nothing at all changed."""
    started_ns: int
    has_other_names: bool = False
    """Whether a file that was known before has a second name (a hard link), maybe outside."""

    @property
    def is_empty(self) -> bool:
        """Whether no path changed; the head and the signature may have."""
        return not (self.listed or self.skipped or self.removed)


_BATCH = 2000
"""Files looked at together: 150,000 stats at once cost a quarter more than in turns."""

_n_names = attrgetter("st_nlink")
_ROW = struct.Struct("<5q")
"""A row as `pack_rows` writes it."""


class _ListAgainError(Exception):
    """The change is of a kind that only a whole listing handles."""


def list_changes(root: Path, settings: Settings, signature: bytes) -> Changes | None:
    """Return what changed under ``root`` since the listing that gave ``signature``.

    Args:
        root: The folder that was listed.
        settings: As they were then.
        signature: From `Listing` or from earlier `Changes`.

    Returns:
        None when the tree must be listed again.

    Raises:
        PathError: ``root`` is no folder any more.
    """
    real = real_root(root)
    started_ns = time.time_ns()
    with paused_collector():
        known = unpack_signature(real, settings, signature)
        if known is None or settings.include:
            return None
        try:
            return _Comparison(real, settings, known, signature, started_ns).run()
        except (_ListAgainError, ExternalError):
            return None


class _Comparison:
    """One comparison of a tree with its signature."""

    def __init__(
        self,
        root: Path,
        settings: Settings,
        known: Signature,
        given: bytes,
        started_ns: int,
    ) -> None:
        self._root = root
        self._base = f"{root}/"
        self._settings = settings
        self._known = known
        self._given = given
        self._started_ns = started_ns
        self._hiding = HidingRules(parse_patterns(ignore_patterns(settings, root), "ignore"))
        self._found = Gathered(self._hiding)
        self._outer: dict[str, Row] = {}
        self._rows: dict[str, Row] = {}
        self._folders: dict[str, Row] = {}
        self._has_other_names = False

    def run(self) -> Changes | None:
        folder = find_git_folder(self._root)
        places = self._known.places
        is_index_changed = self._look_outside(folder)
        new_rows, removed = self._look_at_files()
        moved = self._look_at_folders()
        if not (new_rows or removed or moved or is_index_changed):
            head = folder.head() if folder is not None else None
            return Changes((), (), (), head, self._given, self._started_ns, self._has_other_names)
        old_rows = _ROW.iter_unpack(self._known.stamps[: len(places.files) * _ROW.size])
        self._rows = {**dict(zip(places.files, old_rows, strict=True)), **new_rows}
        for path in removed:
            del self._rows[path]
        changed = list(new_rows)
        if moved or is_index_changed:
            git = self._open_git(folder)
            new = self._new_names(git, moved)
            if is_index_changed:
                removed |= self._compare_index(git, new)
            changed.extend(sorted(new))
            for path in removed:
                self._rows.pop(path, None)
        found = self._found
        for path in changed:
            found.candidates.setdefault(path, Candidate(path))
        lister = Lister(self._root, found, parse_patterns(self._settings.deny, "deny"), {})
        files = lister.list()
        for path, result in lister.stats:
            self._rows[path] = stat_fields(result)
        gone = {path for path in changed if path not in self._rows} & set(places.files)
        return Changes(
            tuple(files),
            tuple(sorted((*found.skipped, *lister.skipped), key=lambda s: (s.path, s.reason))),
            tuple(sorted(removed | gone)),
            folder.head() if folder is not None else None,
            self._signature(),
            self._started_ns,
            self._has_other_names,
        )

    def _signature(self) -> bytes:
        names = sorted(self._rows)
        folders = sorted(self._folders)
        outer = sorted(self._outer)
        rows = [self._rows[name] for name in names]
        rows.extend(self._folders[name] for name in folders)
        rows.extend(self._outer[name] for name in outer)
        return pack_signature(
            self._root, self._settings, Places(names, folders, outer), rows, self._started_ns
        )

    def _look_outside(self, folder: GitFolder | None) -> bool:
        """Compare what decides about the set; return whether git's index or head changed.

        Raises:
            _ListAgainError: Something else changed.
        """
        places = self._known.places
        start = len(places.files) + len(places.folders)
        soft = set(folder.watched_for_head()) if folder is not None else set[str]()
        refs = f"{folder.common_dir}/refs/" if folder is not None else "\0"
        is_soft_changed = False
        for i, path in enumerate(places.outer, start):
            row = outer_row(path)
            self._outer[path] = row
            name = path[path.rfind("/") + 1 :]
            if pack_rows([row]) != self._known.row(i):
                if path not in soft and not path.startswith(refs):
                    raise _ListAgainError
                is_soft_changed = True
            if name in OWN_IGNORE_FILES and path.startswith(self._base):
                start_folder = path[len(self._base) : -len(name)]
                self._hiding.add_file(Path(path), start_folder, name)
        for path in soft:  # another branch brings another ref
            self._outer.setdefault(path, outer_row(path))
        return is_soft_changed

    def _look_at_files(self) -> tuple[dict[str, Row], set[str]]:
        """Return the files whose stat changed, with it, and those that are gone."""
        names, stamps = self._known.places.files, self._known.stamps
        changed: dict[str, Row] = {}
        removed: set[str] = set()
        for first in range(0, len(names), _BATCH):
            part = names[first : first + _BATCH]
            rows = self._file_rows(part)
            packed = pack_rows(rows)
            if stamps.startswith(packed, first * _ROW.size):
                continue
            for i, (name, row) in enumerate(zip(part, rows, strict=True)):
                if row is ABSENT or stat.S_ISDIR(row[0]):
                    removed.add(name)
                elif packed[i * _ROW.size : (i + 1) * _ROW.size] != self._known.row(first + i):
                    changed[name] = row
        return changed, removed

    def _file_rows(self, names: Sequence[str]) -> list[Row]:
        paths = [self._base + name for name in names]
        try:
            stats = list(map(os.lstat, paths))
        except OSError:
            self._has_other_names = True  # nobody looked; one is gone, which is a change anyway
            return list(map(stat_row, paths))
        if max(map(_n_names, stats)) > 1:
            self._has_other_names = True
        return list(map(stat_fields, stats))

    def _look_at_folders(self) -> list[str]:
        """Return the folders in which names came or went; forget those that are gone."""
        names, first = self._known.places.folders, len(self._known.places.files)
        rows = [stat_row(self._base + name) for name in names]
        packed = pack_rows(rows)
        moved: list[str] = []
        for i, (name, row) in enumerate(zip(names, rows, strict=True)):
            if row is ABSENT or not stat.S_ISDIR(row[0]):
                continue
            self._folders[name] = row
            if packed[i * _ROW.size : (i + 1) * _ROW.size] != self._known.row(first + i):
                moved.append(name)
        return moved

    def _open_git(self, folder: GitFolder | None) -> Git:
        """Return git for the one repository the tree is."""
        markers = [path for path in self._outer if path.endswith("/.git")]
        if folder is None or markers != [f"{self._base}.git"]:
            raise _ListAgainError  # plain folders, submodules and nested clones
        git = Git.find(self._root)
        if git is None or git.top != folder.top:
            raise _ListAgainError
        if git.prefix and git.at_top().ignored_among([git.prefix[:-1]]):
            raise _ListAgainError
        return git

    def _new_names(self, git: Git, moved: list[str]) -> set[str]:
        """Return files that are in the set now, from the folders in which names came or went."""
        new: set[str] = set()
        pending = moved
        while pending:
            unknown: dict[str, bool] = {}
            for folder in pending:
                self._scan(folder, unknown)
            ignored = git.ignored_among(sorted(unknown))
            pending = []
            for path in sorted(set(unknown) - set(ignored)):
                if not unknown[path]:
                    new.add(path)
                    continue
                if is_repository(self._root / path):
                    raise _ListAgainError
                row = stat_row(self._base + path)
                if row is not ABSENT:
                    self._folders[path] = row
                    pending.append(path)
        return new

    def _scan(self, folder: str, unknown: dict[str, bool]) -> None:
        """Add the names in a folder that the signature does not have; True marks folders."""
        start = f"{folder}/" if folder else ""
        try:
            with os.scandir(self._base + folder) as entries:
                for entry in entries:
                    path = start + entry.name
                    if entry.is_dir(follow_symlinks=False):
                        is_known = entry.name == ".git" or path in self._folders
                        if not is_known and not self._hiding.sets_aside(path):
                            unknown[path] = True
                        continue
                    if path in self._rows:
                        continue
                    if entry.name in RULE_FILES:
                        if entry.path not in self._outer:
                            raise _ListAgainError
                        continue
                    if entry.is_symlink() or entry.is_file(follow_symlinks=False):
                        unknown[path] = False
                    else:
                        self._found.skipped.append(Skipped(path, "not a regular file"))
        except OSError as error:
            raise _ListAgainError from error

    def _compare_index(self, git: Git, new: set[str]) -> set[str]:
        """Apply a changed index: tracked paths are in; return those that are in no longer."""
        index: Index = git.index()
        repository = Repository(git.folder, "", index.written_ns, git)
        cut = len(git.prefix)
        tracked: set[str] = set()
        for entry in index.entries:
            if not entry.path.startswith(git.prefix):
                continue
            path = entry.path[cut:]
            if entry.mode == GITLINK:
                raise _ListAgainError
            tracked.add(path)
            if path not in self._rows and os.path.lexists(self._base + path):
                new.add(path)
            if path in new:
                self._found.candidates[path] = Candidate(path, entry, repository)
        untracked = _absent_from(tracked, self._rows)
        return set(git.ignored_among(untracked))


def _absent_from(tracked: set[str], rows: Iterable[str]) -> list[str]:
    return sorted(path for path in rows if path not in tracked)
