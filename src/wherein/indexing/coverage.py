"""What a refresh gives: which files the index covers, and where it lies."""

from __future__ import annotations

from dataclasses import dataclass

from wherein.errors import ProviderError
from wherein.store.layout import Layout
from wherein.store.manifest import Manifest

__all__ = ["Coverage", "current"]


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the index covers now.

    ``manifest`` describes only files that are as they were when indexed; the rest is in
    ``not_covered``.
    """

    manifest: Manifest
    layouts: tuple[Layout, ...]
    """Where its segments lie, in the order to look."""
    not_covered: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    files_read: int = 0
    files_indexed: int = 0
    failure: ProviderError | None = None
    """Why the model gave no vectors for what is not covered."""


def current(manifest: Manifest, layouts: tuple[Layout, ...], *notes: str) -> Coverage:
    """Return the coverage of a manifest that the tree agrees with."""
    return Coverage(manifest, layouts, notes=(*manifest.head.notes, *notes))
