"""How large a piece of text is, in characters that are not white space."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["count_ink", "ink_before"]

WHITE_SPACE = b" \t\n\r\v\f"
_CONTINUATION = bytes(range(0x80, 0xC0))
_NO_INK = WHITE_SPACE + _CONTINUATION
"""Bytes that add nothing: white space, and all but the first byte of a UTF-8 character."""


def count_ink(text: bytes) -> int:
    """Return the number of characters of ``text`` that are not white space."""
    return len(text.translate(None, _NO_INK))


def ink_before(text: bytes) -> NDArray[np.uint32]:
    """Return, for every offset 0 to ``len(text)``, the ink before it: uint32 ``(n + 1,)``."""
    import numpy as np

    counts = np.zeros(256, dtype=np.uint8)
    counts[:] = 1
    counts[list(_NO_INK)] = 0
    before = np.zeros(len(text) + 1, dtype=np.uint32)
    np.cumsum(counts[np.frombuffer(text, dtype=np.uint8)], out=before[1:])
    return before
