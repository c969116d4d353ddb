"""Which terms stand in which field of a file's chunks: one scan for the index and the embedding."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

from wherein.chunk.vocabulary import Vocabulary
from wherein.chunk.words import CellWords, is_plain, range_words, text_words
from wherein.types import FIELDS, Chunk, ChunkTerms, Definition, Parsed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["chunk_terms"]

_BODY, _SIGNATURE, _DOCUMENTATION, _NAMES, _ENCLOSING = range(len(FIELDS))
_MAX_COUNT = 255
_MAX_LENGTH = 65_535
_MAX_VOCABULARY = 1 << 18

_FIELD_BITS = 3
_FIELD_MASK = (1 << _FIELD_BITS) - 1
_WORD_BITS = 32
_WORD_MASK = (1 << _WORD_BITS) - 1
_COUNT_BITS = _MAX_LENGTH.bit_length()


@lru_cache(maxsize=1 << 16)
def _name_words(text: str) -> tuple[str, ...]:
    return tuple(text_words(text.encode("utf-8", "replace")))


class _Words:
    """Words of a file, one cell after the other; a cell is ``chunk << _FIELD_BITS | field``."""

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

    def numbers(self, vocabulary: Vocabulary) -> CellWords:
        """Return the cell and the number of each word."""
        import numpy as np

        found = map(vocabulary.number_of.__getitem__, self.words)
        numbers = np.fromiter(found, np.int64, len(self.words))
        return np.array(self.cells, np.int64).repeat(self.sizes), numbers


def chunk_terms(
    text: bytes, chunks: Sequence[Chunk], parsed: Parsed | None
) -> tuple[ChunkTerms, Mapping[int, str]]:
    """Return the forward index of one file, and the term behind every term id in it.

    Args:
        text: The file as UTF-8.
        chunks: Its chunks, from `chunker.chunk_file`.
        parsed: The parse they were made from, or None.
    """
    names = _Words()
    signatures = _signatures(chunks, parsed.definitions if parsed else ())
    for index, chunk in enumerate(chunks):
        cell = index << _FIELD_BITS
        if signatures[index]:
            names.add_names(cell + _SIGNATURE, signatures[index])
        if chunk.names:
            names.add_names(cell + _NAMES, chunk.names)
        if chunk.enclosing:
            names.add_names(cell + _ENCLOSING, chunk.enclosing)
    starts, cells = _ranges(chunks, _comments(chunks, parsed.comments if parsed else ()))
    vocabulary = _current_vocabulary()
    parts = [names.numbers(vocabulary)]
    if is_plain(text):
        parts.append(range_words(text, starts, cells, vocabulary))
    else:
        said = _Words()
        for cell, (start, end) in zip(cells, pairwise([*starts, len(text)]), strict=True):
            said.add(cell, text_words(text[start:end]))
        parts.append(said.numbers(vocabulary))
    return _count(parts, vocabulary, len(chunks))


def _ranges(
    chunks: Sequence[Chunk], comments: Mapping[int, Sequence[tuple[int, int]]]
) -> tuple[list[int], list[int]]:
    """Return where each part of a body or of the documentation begins, and its cell."""
    starts: list[int] = []
    cells: list[int] = []
    for index, chunk in enumerate(chunks):
        cell = index << _FIELD_BITS
        start = chunk.start_byte
        for first, last in comments.get(index, ()):
            starts += (start, first)
            cells += (cell + _BODY, cell + _DOCUMENTATION)
            start = last
        starts.append(start)
        cells.append(cell + _BODY)
    return starts, cells


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


def _current_vocabulary() -> Vocabulary:
    """Return the vocabulary to use for one file."""
    global _vocabulary  # noqa: PLW0603 - started anew so that a million files do not fill memory
    if len(_vocabulary.number_of) > _MAX_VOCABULARY:
        _vocabulary = Vocabulary()
    return _vocabulary


def _firsts(keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each of the sorted ``keys`` whether it is the first of its value."""
    import numpy as np

    is_first = np.empty(len(keys), dtype=bool)
    is_first[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    return is_first


class _Cells(NamedTuple):
    """How often each word stands in each cell: arrays of one length."""

    cell: NDArray[np.int64]
    word: NDArray[np.int64]
    total: NDArray[np.int64]


def _cells(parts: Sequence[CellWords]) -> _Cells:
    """Add the words up by cell; those of the documentation count in the body too."""
    import numpy as np

    # Keys are put together with shifts: numpy divides integers ten times slower.
    keys = np.concatenate([cell for cell, _ in parts])
    said = (keys & _FIELD_MASK) == _DOCUMENTATION
    keys <<= _WORD_BITS
    keys |= np.concatenate([word for _, word in parts])
    also = keys[said]
    also -= (_DOCUMENTATION - _BODY) << _WORD_BITS
    keys = np.concatenate((keys, also))
    keys.sort()  # numpy sorts integers five times faster than it finds their order
    first = _firsts(keys).nonzero()[0]
    count = np.empty_like(first)
    np.subtract(first[1:], first[:-1], out=count[:-1])
    count[-1:] = len(keys) - first[-1:]
    keys = keys[first]
    return _Cells(keys >> _WORD_BITS, keys & _WORD_MASK, np.minimum(count, _MAX_LENGTH))


def _count(
    parts: Sequence[CellWords], vocabulary: Vocabulary, n_chunks: int
) -> tuple[ChunkTerms, Mapping[int, str]]:
    """Turn words into terms and add them up by chunk, term and field."""
    import numpy as np

    cell, word, count = _cells(parts)
    term, n_terms = vocabulary.terms_of(word)
    cell, count = cell.repeat(n_terms), count.repeat(n_terms)
    lengths = np.bincount(cell, count, n_chunks << _FIELD_BITS)
    lengths = np.minimum(lengths, _MAX_LENGTH).astype(np.uint16)

    seen = term.copy()
    seen.sort()
    seen = seen[_firsts(seen)]
    ids = vocabulary.term_ids()[seen]
    order = ids.argsort()
    seen, ids = seen[order], ids[order]
    # One integer holds chunk, term, field and count, so that sorting it sorts all four.
    rank_bits = len(seen).bit_length()
    keys = cell >> _FIELD_BITS
    keys <<= rank_bits
    keys |= vocabulary.ranks(seen)[term]
    keys <<= _FIELD_BITS
    keys |= cell & _FIELD_MASK
    keys <<= _COUNT_BITS
    keys |= count
    keys.sort()
    place = keys >> (_COUNT_BITS + _FIELD_BITS)
    is_first = _firsts(place)
    rows = place[is_first]
    slot = is_first.cumsum()
    slot -= 1
    slot <<= _FIELD_BITS
    slot |= (keys >> _COUNT_BITS) & _FIELD_MASK
    table = np.bincount(slot, keys & _MAX_LENGTH, len(rows) << _FIELD_BITS)
    table = np.minimum(table, _MAX_COUNT).astype(np.uint8).reshape(-1, 1 << _FIELD_BITS)
    n_fields = len(FIELDS)
    terms = ChunkTerms(
        offsets=(rows >> rank_bits).searchsorted(np.arange(n_chunks + 1)).astype(np.int32),
        term_ids=ids[rows & ((1 << rank_bits) - 1)],
        counts=np.ascontiguousarray(table[:, :n_fields]),
        lengths=np.ascontiguousarray(lengths.reshape(-1, 1 << _FIELD_BITS)[:, :n_fields]),
    )
    return terms, _Strings(ids, seen, vocabulary.names)


class _Strings(Mapping[int, str]):
    """The term behind every id, put together when somebody asks: the bundled model does not."""

    __slots__ = ("_ids", "_names", "_numbers", "_strings")

    def __init__(
        self, ids: NDArray[np.uint64], numbers: NDArray[np.int64], names: Sequence[str]
    ) -> None:
        self._ids, self._numbers, self._names = ids, numbers, names
        self._strings: dict[int, str] | None = None

    def _made(self) -> dict[int, str]:
        if self._strings is None:
            names = map(self._names.__getitem__, self._numbers.tolist())
            self._strings = dict(zip(self._ids.tolist(), names, strict=True))
        return self._strings

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[int]:
        return iter(self._made())

    def __getitem__(self, term_id: int) -> str:
        return self._made()[term_id]
