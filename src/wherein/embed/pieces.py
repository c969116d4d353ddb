"""The pieces of a term that has no row of its own: what unknown terms are made of."""

from __future__ import annotations

from functools import lru_cache

from wherein.tokens import term_id

__all__ = ["MOST_PIECES", "piece_buckets", "term_pieces"]

_id_of = term_id.__wrapped__
"""The function behind the cache, which is for terms."""

_LENGTH = 4
MOST_PIECES = 6
"""Of a longer term so many are taken, evenly spread from its beginning to its end."""


@lru_cache(maxsize=128)
def _starts(n: int) -> tuple[int, ...]:
    """Return where the pieces begin, of ``n`` places."""
    if n <= MOST_PIECES:
        return tuple(range(n))
    return tuple(round(k * (n - 1) / (MOST_PIECES - 1)) for k in range(MOST_PIECES))


def term_pieces(term: str) -> tuple[str, ...]:
    """Return the runs of four characters of ``<term>``, at least one, at most `MOST_PIECES`."""
    marked = f"<{term}>"
    starts = _starts(max(1, len(marked) - _LENGTH + 1))
    return tuple([marked[start : start + _LENGTH] for start in starts])


@lru_cache(maxsize=1 << 17)
def _bucket(piece: str, n_buckets: int) -> int:
    return _id_of(f"\0{piece}") % n_buckets


def piece_buckets(term: str, n_buckets: int) -> list[int]:
    """Return the bucket of each piece, below ``n_buckets``."""
    return [_bucket(piece, n_buckets) for piece in term_pieces(term)]
