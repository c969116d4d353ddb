"""Lists the files of a tree, each with its language, kind and marks.

Git decides inside git; elsewhere our own walk under the same rules does. On top of both come
``.ignore``, ``.whereinignore`` and the settings, which can only hide.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from wherein.errors import PathError
from wherein.external.git_index import vouches
from wherein.settings import Settings
from wherein.types import FileStat, Skipped, SourceFile
from wherein.walk.classify import classify, skip_reason
from wherein.walk.collector import paused_collector
from wherein.walk.conversion import Conversions
from wherein.walk.gather import gather
from wherein.walk.gathered import Candidate, Gathered
from wherein.walk.hidden import HidingRules, ignore_patterns, parse_patterns
from wherein.walk.ignore import IgnoreRules
from wherein.walk.language import HEAD_BYTES, detect_language, needs_head
from wherein.walk.paths import show_path
from wherein.walk.reading import TreeReader, file_stat
from wherein.walk.signature import is_racy, look_unchanged, make_signature

__all__ = [
    "ListedFile",
    "Lister",
    "Listing",
    "is_racy",
    "list_files",
    "look_unchanged",
    "real_root",
    "with_links_now",
]


SHA1_DIGITS = 40
"""Repositories with longer hashes have no ids of ours."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    """An admitted file."""

    file: SourceFile
    blob_id: str | None
    """Git's id of exactly the bytes on disk, where git vouches for it; None: hash the bytes."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A tree's file set as it was between ``started_ns`` and the end of the listing."""

    files: tuple[ListedFile, ...]
    """Sorted by path."""
    skipped: tuple[Skipped, ...]
    head: str | None
    signature: bytes
    """What `look_unchanged` compares with."""
    started_ns: int
    """A file with `is_racy(file.stat, started_ns)` must be hashed again at the next look."""
    notes: tuple[str, ...] = ()
    """What the asker should know, such as that git refused."""


def list_files(
    root: Path, settings: Settings, previous: Mapping[str, SourceFile] | None = None
) -> Listing:
    """List the files under ``root``.

    Args:
        root: A folder.
        settings: Patterns to ignore, deny and include.
        previous: Files of an earlier listing by path; one whose stat is the same is taken over
            as it was, without a look into it.

    Raises:
        PathError: ``root`` is no folder, or unreadable.
        PatternError: A pattern of the settings is unusable.
    """
    real = real_root(root)
    with paused_collector():
        return _list(real, settings, previous or {})


def _list(real: Path, settings: Settings, previous: Mapping[str, SourceFile]) -> Listing:
    started_ns = time.time_ns()
    hiding = HidingRules(parse_patterns(ignore_patterns(settings, real), "ignore"))
    found = gather(real, hiding, parse_patterns(settings.include, "include"))
    lister = Lister(real, found, parse_patterns(settings.deny, "deny"), previous)
    files = lister.list()
    skipped = sorted({(s.path, s.reason, s.detail) for s in (*found.skipped, *lister.skipped)})
    signature = make_signature(
        real, settings, lister.stats, found.folders, found.watched, started_ns
    )
    return Listing(
        tuple(files),
        tuple(Skipped(*fields) for fields in skipped if not hiding.hides(fields[0])),
        found.head,
        signature,
        started_ns,
        tuple(found.notes),
    )


def real_root(root: Path) -> Path:
    """Return the real path of a folder that can be listed.

    Raises:
        PathError: It does not exist, is no folder, or may not be read.
    """
    shown = show_path(str(root))
    try:
        real = root.resolve(strict=True)
        is_folder = real.is_dir()
    except (OSError, RuntimeError, ValueError):
        message = f"no folder {shown!r}"
        raise PathError(message, hint="give the path of an existing folder") from None
    if not is_folder:
        message = f"{shown!r} is not a folder"
        raise PathError(message, hint="give the folder that holds the file")
    if not os.access(real, os.R_OK | os.X_OK):
        message = f"{shown!r} is not readable"
        raise PathError(message, hint="check the folder's permissions")
    return real


class Lister:
    """Turns gathered paths into listed files; collects stats and what is skipped."""

    def __init__(
        self,
        root: Path,
        found: Gathered,
        deny: IgnoreRules | None,
        previous: Mapping[str, SourceFile],
    ) -> None:
        self._root = root
        self._base = f"{root}/"
        self._found = found
        self._deny = HidingRules(deny)
        self._previous = previous
        self._conversions = Conversions(found)
        self._user_id = os.geteuid()
        self.skipped: list[Skipped] = []
        self.stats: list[tuple[str, os.stat_result]] = []
        """Every path of the file set that is on disk, in order."""

    def list(self) -> list[ListedFile]:
        """Return the admitted files, sorted by path."""
        files: list[ListedFile] = []
        base, stats = self._base, self.stats
        candidates = self._found.candidates
        hiding, deny = self._found.hiding, self._deny
        hides_any, denies_any = not hiding.is_empty, not deny.is_empty
        with TreeReader(self._root) as reader:
            for path in sorted(candidates):
                if hides_any and hiding.hides(path):
                    continue
                if denies_any and deny.hides(path):
                    self.skipped.append(Skipped(path, "denied"))
                    continue
                try:
                    found = os.lstat(base + path)
                except OSError:  # deleted, or left out of a sparse checkout
                    continue
                if stat.S_ISDIR(found.st_mode):  # the file is gone, a folder took its name
                    continue
                stats.append((path, found))
                listed = self._list_one(candidates[path], found, reader)
                if listed is not None:
                    files.append(listed)
        return files

    def _list_one(
        self, candidate: Candidate, found: os.stat_result, reader: TreeReader
    ) -> ListedFile | None:
        path = candidate.path
        known = self._previous.get(path)
        if known is not None and _is_same(known.stat, found):
            return ListedFile(known, self._blob_id(candidate, found))
        reason, detail = self._refusal(path, found)
        if reason:
            self.skipped.append(Skipped(path, reason, detail))
            return None
        head: bytes | None = None
        if needs_head(path):
            try:
                head = reader.read(path, HEAD_BYTES).data
            except PathError as error:
                self.skipped.append(Skipped(path, "unreadable", error.message))
                return None
        language = detect_language(path, head)
        kind, flags = classify(path, language, found.st_size)
        file = SourceFile(path, file_stat(found), language, kind, flags)
        return ListedFile(file, self._blob_id(candidate, found))

    def _refusal(self, path: str, found: os.stat_result) -> tuple[str, str]:
        """Return why a path is not admitted, with detail; empty when it is."""
        mode = found.st_mode
        if stat.S_ISLNK(mode):
            return _link_reason(self._root, path)
        if not stat.S_ISREG(mode):
            return "not a regular file", ""
        reason = skip_reason(path)
        if reason:
            return reason, ""
        is_owner = found.st_uid == self._user_id
        if (mode & stat.S_IRUSR if is_owner else mode & stat.S_IROTH) or os.access(
            self._base + path, os.R_OK
        ):
            return "", ""
        return "unreadable", "no permission"

    def _blob_id(self, candidate: Candidate, found: os.stat_result) -> str | None:
        entry, repository = candidate.entry, candidate.repository
        if entry is None or repository is None:
            return None
        if len(entry.blob_id) != SHA1_DIGITS or not vouches(entry, found, repository.written_ns):
            return None
        return entry.blob_id if self._conversions.keep_bytes(repository, self._root) else None


def _is_same(known: FileStat, found: os.stat_result) -> bool:
    return (
        known.ctime_ns == found.st_ctime_ns
        and known.mtime_ns == found.st_mtime_ns
        and known.size == found.st_size
        and known.inode == found.st_ino
        and known.mode == found.st_mode
    )


_LINK_REASONS = frozenset({"link", "broken link", "link leaves the root"})
_LINK_DETAIL = "a link to "


def with_links_now(root: Path, skipped: Iterable[Skipped]) -> tuple[Skipped, ...]:
    """Return ``skipped`` with where each symbolic link leads now.

    That changes without a change of the link, so no look at the tree can tell.
    """
    return tuple(
        Skipped(item.path, *_link_reason(root, item.path))
        if item.reason in _LINK_REASONS or item.detail.startswith(_LINK_DETAIL)
        else item
        for item in skipped
    )


def _link_reason(root: Path, path: str) -> tuple[str, str]:
    """Say where a symbolic link leads, which may change without the link; it is never followed."""
    full = root / path
    try:
        target = str(full.readlink())
    except OSError:
        return "broken link", ""
    try:
        real = Path(os.path.realpath(full, strict=True))
        mode = real.stat().st_mode
    except OSError:
        return "broken link", show_path(target)
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        return "not a regular file", f"{_LINK_DETAIL}{show_path(target)}"
    if not real.is_relative_to(root):
        return "link leaves the root", show_path(target)
    return "link", show_path(target)
