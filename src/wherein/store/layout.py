"""Where each part of an index lies under the user's cache folder.

    home/families/<family id>/format          one line: FORMAT_VERSION
                             /records.sqlite  what follows from the bytes alone (`records`)
                             /vectors.sqlite  vectors by optional models (`vector_cache`)
                             /departures      models elsewhere that the user was told of
                             /segments/<id>/  immutable pieces (`segment`), named by content
                             /trees/<id>/     one working tree: its manifest, locks and journal
                             /*.lock          kernel locks (`lock`)

A family is a git common directory with all its worktrees, or a folder outside git. Ids are hashes
of real paths, so no name grows with a path and every spelling of a folder finds the same index.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from wherein.errors import NewerIndexError

__all__ = ["FORMAT_VERSION", "REBUILD_HINT", "VECTORS_FILE", "Layout", "path_id"]

FORMAT_VERSION = 1
"""1: first form (2026-11)."""

REBUILD_HINT = "run 'wherein clear', then 'wherein index', to build it again"

VECTORS_FILE = "vectors.sqlite"
"""Name of the cache of vectors in a family's folder."""

_ID_BYTES = 10
"""80 bits: two of a million folders share an id with a chance below 10^-12."""


def path_id(path: Path) -> str:
    """Return the id of a folder: a hash of its real path, 20 hex digits."""
    real = os.fsencode(os.path.realpath(path))
    return blake2b(real, digest_size=_ID_BYTES).hexdigest()


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of one tree and of the family it shares records and segments with."""

    family: Path
    tree: Path

    @classmethod
    def of(cls, home: Path, root: Path, anchor: Path) -> Layout:
        """Return the layout of ``root``, whose family is named by ``anchor`` (git's common dir)."""
        family = home / "families" / path_id(anchor)
        return cls(family, family / "trees" / path_id(root))

    def at(self, home: Path) -> Layout:
        """Return the same layout below another home."""
        family = home / "families" / self.family.name
        return Layout(family, family / "trees" / self.tree.name)

    @property
    def records(self) -> Path:
        """The record store's file."""
        return self.family / "records.sqlite"

    @property
    def vectors(self) -> Path:
        """The cache of vectors by models that read texts."""
        return self.family / VECTORS_FILE

    @property
    def departures(self) -> Path:
        """Names the models elsewhere that the user was told text goes to."""
        return self.family / "departures"

    @property
    def segments(self) -> Path:
        """The folder of all segments."""
        return self.family / "segments"

    def segment(self, segment_id: str) -> Path:
        """Return the folder of one segment."""
        return self.segments / segment_id

    @property
    def manifest(self) -> Path:
        """What the tree holds."""
        return self.tree / "manifest"

    @property
    def journal(self) -> Path:
        """Contents being digested inside this process, so that a crash names them."""
        return self.tree / "journal"

    @property
    def tree_lock(self) -> Path:
        """Held by the one writer of the tree."""
        return self.tree / "write.lock"

    @property
    def build_lock(self) -> Path:
        """Held for large builds, so that sibling trees do not do the same work at once."""
        return self.family / "build.lock"

    @property
    def use_lock(self) -> Path:
        """Shared by writers; taken alone to collect what nothing uses."""
        return self.family / "use.lock"

    def tree_folders(self) -> list[Path]:
        """Return the folders of all trees of the family, sorted."""
        trees = self.family / "trees"
        return sorted(trees.iterdir()) if trees.is_dir() else []

    def prepare(self) -> None:
        """Make the folders; wipe what an older version wrote.

        Raises:
            NewerIndexError: A newer version wrote this index.
            OSError: The folders cannot be written.
        """
        version = self.check_version()
        if version is not None and version < FORMAT_VERSION:
            self.wipe()
            version = None
        self.segments.mkdir(parents=True, exist_ok=True)
        self.tree.mkdir(parents=True, exist_ok=True)
        if version is None:
            temporary = self.family / f"format.tmp-{os.getpid()}"
            temporary.write_text(f"{FORMAT_VERSION}\n", encoding="ascii")
            temporary.replace(self.family / "format")

    def check_version(self) -> int | None:
        """Return the version of the index there, None when there is none or it cannot be read.

        Raises:
            NewerIndexError: A newer version wrote it.
        """
        try:
            version = int((self.family / "format").read_text(encoding="ascii"))
        except (OSError, ValueError):
            # A lost or damaged mark says nothing of the rest: every part checks its own version.
            return None
        if version > FORMAT_VERSION:
            message = f"index {self.family.name} has format {version}, newer than {FORMAT_VERSION}"
            raise NewerIndexError(message, hint="update wherein, or run 'wherein clear'")
        return version

    def wipe(self) -> None:
        """Remove all that the family holds, lock files apart: others may be waiting on them."""
        if not self.family.is_dir():
            return
        for path in sorted(self.family.iterdir()):
            if path.name.endswith(".lock"):
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def size(self) -> int:
        """Return how many bytes the family's files take."""
        return _size(self.family)


def _size(folder: Path) -> int:
    n_bytes = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # another process collected it meanwhile
                n_bytes += Path(parent, name).lstat().st_size
    return n_bytes
