"""Finds the team's glossary among the files of a tree, and keeps it while these stay the same."""

from __future__ import annotations

from wherein.glossary import Glossary
from wherein.glossary_block import GLOSSARY_FILES, glossary_in
from wherein.search.literal import TextReader
from wherein.store.manifest import Manifest

__all__ = ["TreeGlossary"]


class TreeGlossary:
    """The glossary of one tree.

    No file is looked at for it while the index says that the files are the same; when one of them
    changed, the index says so at the next search, and it is read once.
    """

    def __init__(self) -> None:
        self._manifest: Manifest | None = None
        self._blob_ids: tuple[str | None, ...] = ()
        self._glossary: Glossary | None = None

    def of(self, manifest: Manifest, read: TextReader) -> Glossary | None:
        """Return the glossary in the first file that has one; None when none has.

        Args:
            manifest: The files as they are indexed.
            read: Returns a file's text as it was indexed, None when it is so no more: then the
                answer is asked for again.
        """
        if manifest is not self._manifest:
            blob_ids = tuple(_blob_id(manifest, name) for name in GLOSSARY_FILES)
            if blob_ids != self._blob_ids:
                self._glossary, is_sure = _read(blob_ids, read)
                self._blob_ids = blob_ids if is_sure else ()
            self._manifest = manifest
        return self._glossary


def _blob_id(manifest: Manifest, name: str) -> str | None:
    place = manifest.entries.find(name)
    return None if place is None else manifest.entries.blob_id(place)


def _read(blob_ids: tuple[str | None, ...], read: TextReader) -> tuple[Glossary | None, bool]:
    """Return the first glossary, and whether every file before it could be read."""
    is_sure = True
    for name, blob_id in zip(GLOSSARY_FILES, blob_ids, strict=True):
        text = read(name) if blob_id is not None else None
        is_sure = is_sure and (text is not None or blob_id is None)
        found = glossary_in(text) if text is not None else None
        if found is not None:
            return found, is_sure
    return None, is_sure
