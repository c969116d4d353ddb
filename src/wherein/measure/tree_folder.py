"""Writes the tree that is replayed to a folder, for searchers that read files."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from wherein.measure.replay_trees import TextTree

__all__ = ["TreeFolder"]


class TreeFolder:
    """A folder of our own with the files of one tree after another."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="wherein-replay-")).resolve()
        self._written: dict[str, str] = {}

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
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
