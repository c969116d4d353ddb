"""What a file of prose or configuration is divided into: headings and keys as definitions."""

from __future__ import annotations

from collections.abc import Callable

from wherein.types import Parsed

__all__ = ["OUTLINES"]

OUTLINES: dict[str, Callable[[bytes], Parsed]] = {}
"""Language to its reader."""
