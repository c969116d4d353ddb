"""The terms of every word seen in this process, as arrays that numpy can gather from."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from wherein.tokens import identifier_terms, term_id

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Vocabulary"]


_terms_of = identifier_terms.__wrapped__
_id_of = term_id.__wrapped__
"""The functions behind the caches: each word comes here once."""


class _Index(dict[str, int]):
    """Word to its number; a word not met before is added."""

    __slots__ = ("_vocabulary",)

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._vocabulary = vocabulary

    def __missing__(self, word: str) -> int:
        number = self[word] = self._vocabulary.add(word)
        return number


class _ShortIndex(dict[int, int]):
    """A word of at most eight ASCII bytes, read as a little-endian integer, to its number."""

    __slots__ = ("_number_of",)

    def __init__(self, number_of: _Index) -> None:
        super().__init__()
        self._number_of = number_of

    def __missing__(self, value: int) -> int:
        word = value.to_bytes(8, "little").rstrip(b"\0").decode("ascii")
        number = self[value] = self._number_of[word]
        return number


class Vocabulary:
    """Numbers for words and terms, and which terms a word has.

    It only saves work: what is read from it does not depend on what was added before. An
    ``lru_cache`` at this size costs three times as much a look-up, and a Python loop over the
    terms of each word twice the rest of the counting.
    """

    def __init__(self) -> None:
        self.number_of = _Index(self)
        self.number_of_short = _ShortIndex(self.number_of)
        self.names: list[str] = []
        """Term number to the term."""
        self._number_of_term: dict[str, int] = {}
        self._ids = array("Q")
        self._first = array("q")
        self._size = array("q")
        self._terms = array("q")
        self._ranks: NDArray[np.int64] | None = None

    def add(self, word: str) -> int:
        """Add a word and return its number."""
        number = len(self._first)
        terms = _terms_of(word)
        self._first.append(len(self._terms))
        self._size.append(len(terms))
        for term in terms:
            place = self._number_of_term.get(term)
            if place is None:
                place = self._number_of_term[term] = len(self.names)
                self.names.append(term)
                self._ids.append(_id_of(term))
            self._terms.append(place)
        return number

    def term_ids(self) -> NDArray[np.uint64]:
        """Return term number -> `tokens.term_id`. Drop the array before the next `add`."""
        import numpy as np

        return np.frombuffer(self._ids, dtype=np.uint64)

    def ranks(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return term number -> its place in ``order``; the numbers of other terms are undefined.

        The array is the same one at each call: making it anew costs more the more terms there are.
        """
        import numpy as np

        ranks = self._ranks
        if ranks is None or len(ranks) < len(self.names):
            ranks = self._ranks = np.zeros(2 * len(self.names), np.int64)
        ranks[order] = np.arange(len(order))
        return ranks

    def terms_of(self, words: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the term numbers of ``words`` one after the other, and how many each word has."""
        import numpy as np

        if not len(self._terms):
            return np.zeros(0, np.int64), np.zeros(len(words), np.int64)
        size = np.frombuffer(self._size, dtype=np.int64)[words]
        first = np.frombuffer(self._first, dtype=np.int64)[words]
        shift = first - (np.cumsum(size) - size)
        places = np.repeat(shift, size) + np.arange(int(size.sum()))
        return np.frombuffer(self._terms, dtype=np.int64)[places], size
