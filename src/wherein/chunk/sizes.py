"""How large a piece of text is, in characters that are not white space."""

from __future__ import annotations

__all__ = ["count_ink"]

_NO_INK = b" \t\n\r\v\f" + bytes(range(0x80, 0xC0))
"""Bytes that add nothing: white space, and all but the first byte of a UTF-8 character."""


def count_ink(text: bytes) -> int:
    """Return the number of characters of ``text`` that are not white space."""
    return len(text.translate(None, _NO_INK))
