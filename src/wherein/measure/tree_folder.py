"""Writes the tree that is replayed to a folder, for searchers that read files."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from wherein.measure.replay_trees import TextTree

__all__ = ["TreeFolder"]


class TreeFolder:
    """A folder of our own with the files of one tree after another, made when it is needed."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._written: dict[str, str] = {}

    @property
    def path(self) -> Path:
        """Where it is: a real path."""
        if self._path is None:
            self._path = Path(tempfile.mkdtemp(prefix="wherein-replay-")).resolve()
        return self._path

    @property
    def files(self) -> frozenset[str]:
        """The paths of the files in it, relative to it."""
        return frozenset(self._written)

    def write(self, tree: TextTree) -> bool:
        """Make the files those of ``tree``; only what differs is written. Return whether any."""
        gone = sorted(self._written.keys() - tree.files.keys())
        for path in gone:
            (self.path / path).unlink(missing_ok=True)
            del self._written[path]
        changed = {
            path: blob for path, blob in tree.files.items() if self._written.get(path) != blob
        }
        for path, blob in changed.items():
            target = self.path / path
            if target.is_dir():
                shutil.rmtree(target)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(tree.contents.bytes_of(blob))
            self._written[path] = blob
        return bool(gone or changed)

    def remove(self) -> None:
        """Remove the folder; the next tree gets another one."""
        if self._path is not None:
            shutil.rmtree(self._path, ignore_errors=True)
        self._path = None
        self._written.clear()
