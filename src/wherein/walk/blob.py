"""Computes the id of a content: git's blob hash, inside git and outside."""

from __future__ import annotations

from hashlib import sha1

__all__ = ["blob_id"]


def blob_id(data: bytes) -> str:
    """Return git's blob hash of ``data``, 40 hex digits."""
    # git's own content address, not a signature
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
