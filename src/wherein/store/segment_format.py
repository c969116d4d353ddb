"""What the writer and the reader of a segment agree on, besides the names of its arrays."""

from __future__ import annotations

import msgspec

from wherein.types import FileKind

__all__ = ["FILE_KINDS", "FILE_NAME", "SEGMENT_VERSION", "SEPARATOR", "SegmentMetadata"]

SEGMENT_VERSION = 1
"""1: first form (2026-11)."""

FILE_NAME = "segment.bin"

SEPARATOR = "\x1f"
"""Joins names inside one stored string; no identifier holds it."""

FILE_KINDS = tuple(FileKind)
"""Rows hold the place in it."""


class SegmentMetadata(msgspec.Struct, frozen=True):
    """What is said once for all rows."""

    version: int
    dim: int
    languages: tuple[str, ...]
    kinds: tuple[str, ...]
    """Kinds of symbols and chunks, sorted; rows hold the place in this list."""
