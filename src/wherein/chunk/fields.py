"""Which terms stand in which field of a file's chunks: one scan for the index and the embedding."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from wherein.chunk.vocabulary import Vocabulary
from wherein.tokens import scan_words
from wherein.types import FIELDS, Chunk, ChunkTerms, Definition, Parsed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["chunk_terms", "text_words"]

_BODY, _SIGNATURE, _DOCUMENTATION, _NAMES, _ENCLOSING = range(len(FIELDS))
_MAX_COUNT = 255
_MAX_LENGTH = 65_535
_MAX_VOCABULARY = 1 << 18

_WORD_BYTES = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
_BLANK_SIGNS = bytes(byte if byte in _WORD_BYTES else 0x20 for byte in range(256))
_NAMED_SIGNS = (b"c++", b"C++", b"c#", b"C#", b"f#", b"F#")


def text_words(text: bytes) -> list[str]:
    """Return `tokens.scan_words` of UTF-8 ``text``, three times as fast where it is ASCII."""
    if text.isascii() and not (
        (b"+" in text or b"#" in text) and any(sign in text for sign in _NAMED_SIGNS)
    ):
        return text.translate(_BLANK_SIGNS).decode("ascii").split()
    return scan_words(text.decode("utf-8", "replace"))


@lru_cache(maxsize=1 << 16)
def _name_words(text: str) -> tuple[str, ...]:
    return tuple(text_words(text.encode("utf-8", "replace")))


class _Words:
    """The words of a file, one cell after the other; a cell is ``chunk * len(FIELDS) + field``."""

    __slots__ = ("cells", "sizes", "words")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.cells: list[int] = []
        self.sizes: list[int] = []
        """Number of words of the cell at the same place in ``cells``."""

    def add(self, cell: int, words: Sequence[str]) -> None:
        self.words += words
        self.cells.append(cell)
        self.sizes.append(len(words))

    def add_names(self, cell: int, names: Iterable[str]) -> None:
        self.add(cell, list(chain.from_iterable(map(_name_words, names))))


def chunk_terms(
    text: bytes, chunks: Sequence[Chunk], parsed: Parsed | None
) -> tuple[ChunkTerms, Mapping[int, str]]:
    """Return the forward index of one file, and the term behind every term id in it.

    Args:
        text: The file as UTF-8.
        chunks: Its chunks, from `chunker.chunk_file`.
        parsed: The parse they were made from, or None.
    """
    words = _Words()
    signatures = _signatures(chunks, parsed.definitions if parsed else ())
    comments = _comments(chunks, parsed.comments if parsed else ())
    for index, chunk in enumerate(chunks):
        cell = index * len(FIELDS)
        start, end = chunk.start_byte, chunk.end_byte
        for first, last in comments.get(index, ()):
            words.add(cell + _BODY, text_words(text[start:first]))
            words.add(cell + _DOCUMENTATION, text_words(text[first:last]))
            start = last
        words.add(cell + _BODY, text_words(text[start:end]))
        if signatures[index]:
            words.add_names(cell + _SIGNATURE, signatures[index])
        if chunk.names:
            words.add_names(cell + _NAMES, chunk.names)
        if chunk.enclosing:
            words.add_names(cell + _ENCLOSING, chunk.enclosing)
    return _count(words, len(chunks))


def _comments(
    chunks: Sequence[Chunk], comments: Sequence[tuple[int, int]]
) -> dict[int, list[tuple[int, int]]]:
    """Return the comments of each chunk that has some, cut where the chunk is."""
    inside: dict[int, list[tuple[int, int]]] = {}
    index, n_chunks = 0, len(chunks)
    for first, end in comments:
        start = first
        while index < n_chunks and chunks[index].end_byte <= start:
            index += 1
        place = index
        while start < end and place < n_chunks:
            stop = min(end, chunks[place].end_byte)
            inside.setdefault(place, []).append((start, stop))
            start, place = stop, place + 1
    return inside


def _signatures(
    chunks: Sequence[Chunk], definitions: Sequence[Definition]
) -> list[dict[str, None]]:
    """Return the heads of the definitions named in each chunk, and of the one it lies in."""
    starts = [chunk.start_byte for chunk in chunks]
    heads: list[dict[str, None]] = [{} for _ in chunks]
    for definition in definitions:
        index = bisect_right(starts, definition.start_byte) - 1
        while index + 1 < len(chunks) and chunks[index].end_line < definition.name_line:
            index += 1
        heads[index][definition.signature] = None
    for chunk, head in zip(chunks, heads, strict=True):
        if chunk.signature:
            head[chunk.signature] = None
    return heads


_vocabulary = Vocabulary()


def _numbers(words: _Words) -> tuple[Vocabulary, NDArray[np.int64]]:
    """Return the numbers of the words, and the vocabulary they are from."""
    import numpy as np

    global _vocabulary  # noqa: PLW0603 - started anew so that a million files do not fill memory
    if len(_vocabulary.number_of) > _MAX_VOCABULARY:
        _vocabulary = Vocabulary()
    numbers = map(_vocabulary.number_of.__getitem__, words.words)
    return _vocabulary, np.fromiter(numbers, np.int64, len(words.words))


def _starts(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each distinct key begins in the sorted ``keys``."""
    import numpy as np

    is_first = np.empty(len(keys), dtype=bool)
    is_first[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    return np.flatnonzero(is_first)


def _count(words: _Words, n_chunks: int) -> tuple[ChunkTerms, Mapping[int, str]]:
    """Turn words into terms and add them up by chunk, term and field."""
    import numpy as np

    n_fields = len(FIELDS)
    vocabulary, word = _numbers(words)
    cell = np.repeat(np.array(words.cells, np.int64), np.array(words.sizes, np.int64))
    n_words = len(vocabulary.number_of) + 1
    said = cell % n_fields == _DOCUMENTATION
    keys = np.concatenate([cell, cell[said] - _DOCUMENTATION + _BODY]) * n_words
    keys += np.concatenate([word, word[said]])
    keys.sort()  # numpy sorts integers five times faster than it finds their order
    first = _starts(keys)
    count = np.diff(first, append=len(keys))
    cell, word = np.divmod(keys[first], n_words)

    term, n_terms = vocabulary.terms_of(word)
    cell, count = np.repeat(cell, n_terms), np.repeat(np.minimum(count, _MAX_LENGTH), n_terms)
    lengths = np.bincount(cell, weights=count, minlength=n_chunks * n_fields)

    is_seen = np.zeros(len(vocabulary.names), dtype=bool)
    is_seen[term] = True
    seen = np.flatnonzero(is_seen)
    ids = vocabulary.term_ids()[seen]
    order = np.argsort(ids)
    rank = np.empty(len(vocabulary.names), dtype=np.int64)
    rank[seen[order]] = np.arange(len(seen))
    chunk, field = np.divmod(cell, n_fields)
    # One integer holds chunk, term, field and count, so that sorting it sorts all four.
    n_ranks = len(seen) + 1
    keys = ((chunk * n_ranks + rank[term]) * n_fields + field) * (_MAX_LENGTH + 1) + count
    keys.sort()
    place, count = np.divmod(keys, _MAX_LENGTH + 1)
    place, field = np.divmod(place, n_fields)
    first = _starts(place)
    rows = place[first]
    row = np.zeros(len(place), dtype=np.int64)
    row[first[1:]] = 1
    row = np.cumsum(row)
    table = np.bincount(row * n_fields + field, weights=count, minlength=len(rows) * n_fields)
    chunk_of_row, rank_of_row = np.divmod(rows, n_ranks)
    terms = ChunkTerms(
        offsets=np.searchsorted(chunk_of_row, np.arange(n_chunks + 1)).astype(np.int32),
        term_ids=ids[order][rank_of_row],
        counts=np.minimum(table, _MAX_COUNT).astype(np.uint8).reshape(-1, n_fields),
        lengths=np.minimum(lengths, _MAX_LENGTH).astype(np.uint16).reshape(n_chunks, n_fields),
    )
    names = map(vocabulary.names.__getitem__, seen.tolist())
    return terms, dict(zip(ids.tolist(), names, strict=True))
