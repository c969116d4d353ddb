"""Chooses the files a search can match in, from an n-gram index of one tree's contents.

The index never decides that a file matches, only that it cannot: ripgrep searches what is left.
Which files there are and what they hold comes from the workspace, as fresh as it promises; a file
whose content is not in the index yet is always searched.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

import msgspec

from wherein.errors import CorruptIndexError, PathError
from wherein.external.ripgrep_options import CaseMode, SearchOptions
from wherein.store.needed import Needed, folds_case, needed_by, needed_by_texts
from wherein.store.ngrams import MAX_CONTENT_BYTES, NgramPart, remove_parts, write_parts
from wherein.tools.grep_run import Narrowed
from wherein.walk.blob import blob_id
from wherein.walk.reading import TreeReader

__all__ = ["GrepIndex", "can_narrow"]

MAX_SHARE = 0.2
"""With more of the files left to search than this, ripgrep's own walk is as fast."""

MAX_CANDIDATES = 5_000
"""Files handed to ripgrep by name: more do not fit a command line."""

MAX_PARTS = 16
"""With more parts the index is written anew: each costs a look in every search."""

SETTLE_NS = 2_000_000_000
"""A file written this shortly before it was read may change again without a change of its stat."""


File = tuple[str, str]
"""Path and blob id; the id is empty where the workspace does not know it."""


class _Remembered(msgspec.Struct, frozen=True, array_like=True):
    """The content of a file that the workspace does not hash: its stat and its blob id."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    blob_id: str

    def is_of(self, found: os.stat_result) -> bool:
        return (self.size, self.mtime_ns, self.ctime_ns, self.inode) == (
            found.st_size,
            found.st_mtime_ns,
            found.st_ctime_ns,
            found.st_ino,
        )


class _State(msgspec.Struct, array_like=True):
    """What is kept of an index beside its parts."""

    parts: list[str]
    remembered: dict[bytes, _Remembered]


class GrepIndex:
    """The n-gram index of one tree. May be used from several threads.

    Args:
        root: The tree's real path.
        folder: Where the parts lie; trees of one repository may share it.
        state: File that names this tree's parts.
        max_share: With more of the files left to search than this, it does not narrow.
    """

    def __init__(
        self, root: Path, folder: Path, state: Path, *, max_share: float = MAX_SHARE
    ) -> None:
        self._max_share = max_share
        self._root = root
        self._folder = folder
        self._state_path = state
        self._lock = Lock()
        self._key = ""
        self._state = _State([], {})
        self._parts: list[NgramPart] = []
        self._places: dict[str, tuple[int, int]] = {}
        """Blob id to its part and ordinal."""
        self._paths: list[list[list[str]]] = []
        """For each part and ordinal the paths that hold the content."""
        self._uncovered: list[File] = []
        self._n_files = 0
        self._is_narrowing = False
        self._load()

    @property
    def is_built(self) -> bool:
        """Whether there is anything to look into."""
        return bool(self._parts)

    @property
    def n_files(self) -> int:
        """Files of the tree."""
        return self._n_files

    @property
    def n_uncovered(self) -> int:
        """Files whose content is not in the index: they are searched each time."""
        return len(self._uncovered)

    def take(self, files: Iterable[File], key: str) -> None:
        """Take over the tree's files as they are now.

        Args:
            files: Every file that a search of the whole tree goes through.
            key: Names this state of the tree; the same key again costs nothing.
        """
        with self._lock:
            if key == self._key:
                return
            known = [self._identified(file) for file in files]
            self._arrange(known)
            self._key = key
            self._is_narrowing = not self._has_widening_rules(known)

    def build(self, is_cancelled: Callable[[], bool] | None = None) -> int:
        """Index the contents that are not covered; return how many files were read.

        Raises:
            OSError: The index cannot be written.
        """
        with self._lock:
            todo = list(self._uncovered)
            is_anew = len(self._parts) >= MAX_PARTS
            if is_anew:
                todo = [*todo, *self._covered()]
        read = _Reading(self._root, todo, {} if is_anew else self._places, is_cancelled)
        names = write_parts(self._folder, read)
        with self._lock:
            kept = [] if is_anew else self._state.parts
            remembered = {**self._state.remembered, **read.remembered}
            self._state = _State([*kept, *names], remembered)
            self._save()
            self._open_parts()
            files = [*self._covered(), *self._uncovered] if not is_anew else todo
            self._arrange([self._identified(file) for file in dict.fromkeys(files)])
        return read.n_read

    def narrow(self, options: SearchOptions) -> Narrowed | None:
        """Return the only files that can match, None when knowing them would not help."""
        needed = _needed(options)
        with self._lock:
            if needed is None or not self._is_narrowing or not self._parts:
                return None
            most = min(MAX_CANDIDATES, int(self._n_files * self._max_share))
            paths = [file[0] for file in self._uncovered]
            folds = _folds(options)
            try:
                for part, by_ordinal in zip(self._parts, self._paths, strict=True):
                    found = part.candidates(needed, ignore_case=folds)
                    if int(found.sum()) > most:
                        return None
                    for ordinal in found.nonzero()[0].tolist():
                        paths.extend(by_ordinal[ordinal])
            except CorruptIndexError:
                self._forget()
                return None
            return Narrowed(paths, self._n_files) if len(paths) <= most else None

    def _load(self) -> None:
        try:
            self._state = msgspec.msgpack.decode(self._state_path.read_bytes(), type=_State)
        except (OSError, msgspec.MsgspecError):
            return
        self._open_parts()

    def _save(self) -> None:
        self._state_path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._state_path.with_name(f".{self._state_path.name}.{os.getpid()}.tmp")
        temporary.write_bytes(msgspec.msgpack.encode(self._state))
        temporary.replace(self._state_path)

    def _open_parts(self) -> None:
        self._parts = []
        for name in self._state.parts:
            with suppress(CorruptIndexError):
                self._parts.append(NgramPart.open(self._folder, name))
        self._places = {
            blob: (number, ordinal)
            for number, part in enumerate(self._parts)
            for ordinal, blob in enumerate(part.blobs())
        }

    def _forget(self) -> None:
        """Drop a damaged index; everything is uncovered until it is built again."""
        files = [*self._covered(), *self._uncovered]
        self._state = _State([], {})
        self._parts, self._places = [], {}
        remove_parts(self._folder, ())
        self._arrange(files)

    def _covered(self) -> list[File]:
        blobs = [part.blobs() for part in self._parts]
        return [
            (path, blobs[number][ordinal])
            for number, by_ordinal in enumerate(self._paths)
            for ordinal, paths in enumerate(by_ordinal)
            for path in paths
        ]

    def _arrange(self, files: Sequence[File]) -> None:
        """Sort the files by where their contents are in the index."""
        self._paths = [[[] for _ in range(part.n_contents)] for part in self._parts]
        self._uncovered = []
        for file in files:
            place = self._places.get(file[1]) if file[1] else None
            if place is None:
                self._uncovered.append(file)
            else:
                self._paths[place[0]][place[1]].append(file[0])
        self._n_files = len(files)

    def _identified(self, file: File) -> File:
        """Fill in the blob id of a file that was read before and has not changed since."""
        if file[1]:
            return file
        known = self._state.remembered.get(os.fsencode(file[0]))
        if known is None:
            return file
        try:
            found = (self._root / file[0]).lstat()
        except OSError:
            return file
        return (file[0], known.blob_id if known.is_of(found) else "")

    def _has_widening_rules(self, files: Sequence[File]) -> bool:
        """Return True when an ``.ignore`` file brings back what git ignores.

        Ripgrep heeds it and the workspace does not, so that the tree has files unknown here.
        """
        for file in files:
            if file[0] == ".ignore" or file[0].endswith("/.ignore"):
                with suppress(OSError):
                    if b"!" in (self._root / file[0]).read_bytes():
                        return True
        return False


class _Reading:
    """Reads files for the index: an iterable of blob ids and bytes, each id once."""

    def __init__(
        self,
        root: Path,
        files: Sequence[File],
        known: Iterable[str],
        is_cancelled: Callable[[], bool] | None,
    ) -> None:
        self._root = root
        self._files = files
        self._seen = set(known)
        self._is_cancelled = is_cancelled
        self.n_read = 0
        self.remembered: dict[bytes, _Remembered] = {}

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        with TreeReader(self._root) as reader:
            for file in sorted(self._files, key=lambda file: file[0]):
                if self._is_cancelled is not None and self._is_cancelled():
                    return
                if file[1] and file[1] in self._seen:
                    continue
                item = self._read(reader, file)
                if item is not None and item[0] not in self._seen:
                    self._seen.add(item[0])
                    yield item

    def _read(self, reader: TreeReader, file: File) -> tuple[str, bytes] | None:
        now = time.time_ns()
        try:
            read = reader.read(file[0], MAX_CONTENT_BYTES + 1)
        except (PathError, OSError):
            return None
        if not read.is_whole or not read.is_settled or not stat.S_ISREG(read.stat.mode):
            return None
        self.n_read += 1
        blob = blob_id(read.data)
        if not file[1] and max(read.stat.mtime_ns, read.stat.ctime_ns) < now - SETTLE_NS:
            self.remembered[os.fsencode(file[0])] = _Remembered(
                read.stat.size, read.stat.mtime_ns, read.stat.ctime_ns, read.stat.inode, blob
            )
        return blob, read.data


def _folds(options: SearchOptions) -> bool:
    ignores = options.case is not CaseMode.SENSITIVE
    if options.is_fixed:
        return ignores
    return folds_case(options.patterns, ignore_case=ignores)


def can_narrow(options: SearchOptions) -> bool:
    """Return whether an index could leave out files in a search with ``options``."""
    return _needed(options) is not None


def _needed(options: SearchOptions) -> Needed | None:
    """Return what a match of ``options`` needs, None for anything."""
    if options.is_inverted or options.is_pcre2:
        return None
    if any(not glob.startswith("!") for glob in options.globs):
        return None  # ripgrep also searches ignored files that a glob names
    ignores = options.case is not CaseMode.SENSITIVE
    if options.is_fixed:
        return needed_by_texts(options.patterns, ignore_case=ignores)
    return needed_by(options.patterns, ignore_case=ignores)
