"""The pieces of a term that has no row of its own: what unknown terms are made of."""

from __future__ import annotations

from functools import lru_cache

from wherein.tokens import term_id

__all__ = ["MOST_PIECES", "piece_buckets", "term_pieces"]

_LENGTH = 4
MOST_PIECES = 6
"""Of a longer term so many are taken, evenly spread from its beginning to its end."""


def term_pieces(term: str) -> tuple[str, ...]:
    """Return the runs of four characters of ``<term>``, at least one, at most `MOST_PIECES`."""
    marked = f"<{term}>"
    n = len(marked) - _LENGTH + 1
    if n <= 0:
        return (marked,)
    if n > MOST_PIECES:
        starts = [round(k * (n - 1) / (MOST_PIECES - 1)) for k in range(MOST_PIECES)]
    else:
        starts = list(range(n))
    return tuple(marked[start : start + _LENGTH] for start in starts)


@lru_cache(maxsize=1 << 16)
def piece_buckets(term: str, n_buckets: int) -> tuple[int, ...]:
    """Return the bucket of each piece, below ``n_buckets``."""
    return tuple(term_id(f"\0{piece}") % n_buckets for piece in term_pieces(term))
