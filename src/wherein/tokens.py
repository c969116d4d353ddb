"""Turns text and identifiers into lexical terms.

One scan serves both the lexical index and the bundled embedding model, so a change here changes
the recipe (`TERMS_VERSION`) and every record is made again.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import blake2b

import Stemmer

__all__ = [
    "MAX_TERM_CHARS",
    "TERMS_VERSION",
    "count_terms",
    "identifier_terms",
    "scan_words",
    "split_identifier",
    "stem",
    "term_id",
    "terms",
]

TERMS_VERSION = 1

MAX_TERM_CHARS = 64
"""Longer parts and wholes are not terms: nobody types them, and one generated name of 70,000
characters must not become a posting."""

_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Kana and Han
    "\uac00-\ud7af\U00020000-\U0003fffd"  # Hangul and the supplementary Han planes
)
_WORD = re.compile(
    rf"[cC]\+\+|[cCfF]#|[^\W{_SPACELESS}]+|[{_SPACELESS}]+",
)
_SPACELESS_RUN = re.compile(f"[{_SPACELESS}]")
_NAMED_SIGNS = {"c++": "cplusplus", "c#": "csharp", "f#": "fsharp"}

# HTTPServer2Go -> HTTP Server 2 Go; a run of capitals keeps its last letter for the next word.
_PART = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+")

_ASCII_PART = re.compile(_CAMEL.pattern + r"|\d+")

_STEM: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def scan_words(text: str) -> list[str]:
    """Return the words and identifiers of ``text`` as written, in order.

    Compatibility forms are folded first (NFKC), so full-width letters equal plain ones. A run of a
    script without spaces is one word; `identifier_terms` cuts it into bigrams.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _WORD.findall(text)


def split_identifier(identifier: str) -> tuple[str, ...]:
    """Return the lower-case parts of an identifier: camelCase, snake_case, acronyms, digits.

    ``HTTPServer_v2`` gives ``("http", "server", "v", "2")``.
    """
    if identifier.isascii():
        return tuple(map(str.lower, _ASCII_PART.findall(identifier)))
    parts: list[str] = []
    for piece in _PART.findall(identifier):
        if piece.islower() or piece.isdigit():
            parts.append(piece)
        elif piece.isascii():
            parts.extend(part.lower() for part in _CAMEL.findall(piece))
        else:
            parts.extend(_split_by_case(piece))
    return tuple(parts)


def _split_by_case(piece: str) -> list[str]:
    """Split letters of any script where a lower-case letter is followed by a capital."""
    cuts = [0, *(i for i in range(1, len(piece)) if piece[i].isupper() and piece[i - 1].islower())]
    return [piece[a:b].lower() for a, b in zip(cuts, [*cuts[1:], len(piece)], strict=True)]


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the English (Porter2) stem of a lower-case word; other scripts pass unchanged."""
    return _STEM(word) if word.isascii() else word


@lru_cache(maxsize=1 << 18)
def identifier_terms(identifier: str) -> tuple[str, ...]:
    """Return the terms of one identifier or word, without repetition.

    The stemmed parts, and where there are two or more the whole: the stemmed parts joined, so that
    ``type_adapters`` and ``TypeAdapter`` share ``typeadapt``. A run of a script without spaces
    gives its character bigrams (one character alone gives itself).
    """
    if identifier[-1:] in "+#" and (named := _NAMED_SIGNS.get(identifier.lower())) is not None:
        return (named,)
    if not identifier.isascii() and _SPACELESS_RUN.match(identifier):
        if len(identifier) == 1:
            return (identifier,)
        return tuple(dict.fromkeys(identifier[i : i + 2] for i in range(len(identifier) - 1)))
    parts = [stem(part) for part in split_identifier(identifier) if len(part) <= MAX_TERM_CHARS]
    if len(parts) < 2:
        return tuple(parts)
    whole = "".join(parts)
    if len(whole) <= MAX_TERM_CHARS:
        parts.append(whole)
    return tuple(dict.fromkeys(parts))


def terms(text: str) -> list[str]:
    """Return all terms of ``text`` in order, with repetition."""
    return [term for word in scan_words(text) for term in identifier_terms(word)]


def count_terms(words: Iterable[str]) -> dict[str, int]:
    """Return how often each term occurs among ``words`` (see `scan_words`), first seen first."""
    counts: dict[str, int] = {}
    for word, n in Counter(words).items():
        for term in identifier_terms(word):
            counts[term] = counts.get(term, 0) + n
    return counts


@lru_cache(maxsize=1 << 18)
def term_id(term: str) -> int:
    """Return the term's stable 64-bit id (BLAKE2b of its UTF-8), the key of every posting list."""
    data = term.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")
