"""Reads files for an answer and tells which are not as they were indexed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from wherein.errors import PathError
from wherein.store.manifest import Manifest
from wherein.walk.blob import blob_id
from wherein.walk.encoding import decode
from wherein.walk.reading import TreeReader

__all__ = ["VerifiedTexts"]


class VerifiedTexts:
    """Reads files for an answer, and notes those that are not as they were indexed."""

    def __init__(self, root: Path, manifest: Manifest) -> None:
        self._manifest = manifest
        self._reader = TreeReader(root)
        self._texts: dict[str, str | None] = {}
        self._doubted: set[str] = set()
        self.n_files = 0
        self.n_bytes = 0

    def __call__(self, path: str) -> str | None:
        """Return the text of ``path`` as it was indexed, None when it is not so any more."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def _read(self, path: str) -> str | None:
        entries = self._manifest.entries
        place = entries.find(path)
        self.n_files += 1
        try:
            data = self._reader.read(path).data
        except PathError:
            self._doubted.add(path)
            return None
        self.n_bytes += len(data)
        if place is None or blob_id(data) != entries.blob_id(place):
            self._doubted.add(path)
            return None
        decoded = decode(data)
        return decoded.text if decoded else None

    def doubted(self, paths: Iterable[str]) -> frozenset[str]:
        """Return the files read, and those of ``paths``, that are not as they were indexed."""
        for path in paths:
            self(path)
        self.close()
        return frozenset(self._doubted)

    def close(self) -> None:
        """Close the folder that is open."""
        self._reader.close()
