"""Keeps the tree index of the last manifest open, with its segments."""

from __future__ import annotations

from collections.abc import Sequence

from wherein.indexing.coverage import Coverage
from wherein.store.layout import Layout
from wherein.store.manifest import Manifest, SegmentUse
from wherein.store.segment import Segment
from wherein.store.tree_index import TreeIndex

__all__ = ["OpenedIndex"]


class OpenedIndex:
    """What is open of one tree; a segment stays open from one manifest to the next."""

    def __init__(self) -> None:
        self._segments: dict[str, Segment] = {}
        self._last: tuple[Manifest, TreeIndex] | None = None

    def of(self, coverage: Coverage) -> TreeIndex:
        """Return the tree index of a manifest.

        Raises:
            CorruptIndexError: A segment is gone or damaged.
        """
        manifest = coverage.manifest
        last = self._last
        if last is not None and last[0] is manifest:
            return last[1]
        uses = manifest.head.segments
        segments = {use.segment_id: self._segment(use, coverage.layouts) for use in uses}
        index = TreeIndex([(segments[use.segment_id], use.dead_files()) for use in uses])
        self._segments = segments
        self._last = (manifest, index)
        return index

    def close(self) -> None:
        """Let go of everything; it is opened again when asked for."""
        self._last = None
        self._segments.clear()

    def _segment(self, use: SegmentUse, layouts: Sequence[Layout]) -> Segment:
        opened = self._segments.get(use.segment_id)
        if opened is not None:
            return opened
        folders = [layout.segment(use.segment_id) for layout in layouts]
        found = next((folder for folder in folders if folder.is_dir()), folders[-1])
        return Segment.open(found)
