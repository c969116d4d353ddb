"""What a path alone says of a file, kept for the ranker: words, folders, telling names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from wherein.store.path_terms import ENTRY_STEMS, path_stem
from wherein.tokens import identifier_terms, scan_words, split_identifier, stem

__all__ = ["PathFacts", "path_facts", "plain_terms"]

_LEGACY = re.compile(
    r"(?:^|[/_.-])(?:legacy|deprecated|old|obsolete|compat|compatibility|backports?|attic|archived?)"
    r"(?=[/_.-]|$)",
    re.IGNORECASE,
)
_INTERNAL = re.compile(r"(?:^|/)_*(?:internals?|impl|private)/", re.IGNORECASE)
_VERSIONED = re.compile(r"(?:^|[/_.-])v\d+(?=[/_.-]|$)|(?:^|/)[a-z]+\d(?=/)", re.IGNORECASE)
_EXAMPLE = re.compile(
    r"(?:^|[/_-])(?:examples?|samples?|demos?|tutorials?|playground|sandbox|showcase|quickstart)"
    r"(?=[/_.-]|$)",
    re.IGNORECASE,
)
_TYPINGS = re.compile(r"\.d\.[cm]?ts$|\.pyi$|\.h(?:pp|xx|h)?$|(?:^|/)(?:typings|types?)(?:/|\.)")
_TOOLING = re.compile(
    r"(?:^|/)(?:scripts?|tools?|build|ci|\.github|hack|packaging|benchmarks?|benches|bench|perf|docs?)/",
    re.IGNORECASE,
)
_TESTING = re.compile(
    r"(?:^|[/_.-])(?:test|testing|mocks?|fakes?|stubs?|fixtures?)(?=[/_.-])", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class PathFacts:
    """Facts of one path."""

    stem_terms: frozenset[str]
    """Stemmed parts of the telling name (`store.path_terms.path_stem`)."""
    stem_whole: str
    """They joined, as one identifier's whole is."""
    n_stem_words: int
    folder_terms: frozenset[str]
    last_folder_terms: frozenset[str]
    is_entry: bool
    """``index``, ``main``, ``mod``, ``__init__``…"""
    is_private: bool
    """Its name begins with an underscore (``__init__`` and its like do not count)."""
    is_internal: bool
    """In a folder named ``internal`` or ``_internal``."""
    is_legacy: bool
    is_versioned: bool
    """A ``v1`` or a numbered folder is in the path."""
    is_example: bool
    is_declaration: bool
    """A header, a type stub, or in a folder of types."""
    is_tooling: bool
    """In a folder of scripts, builds, benchmarks or documents."""
    is_near_test: bool
    """Named as test support, whatever the walk says."""


@lru_cache(maxsize=1 << 15)
def path_facts(path: str) -> PathFacts:
    """Return what ``path`` says."""
    folder, _, name = path.rpartition("/")
    telling = path_stem(path)
    stem_terms = plain_terms(telling)
    raw_stem = name.partition(".")[0].lower()
    return PathFacts(
        stem_terms=frozenset(stem_terms),
        stem_whole="".join(stem_terms),
        n_stem_words=len(stem_terms),
        folder_terms=frozenset(plain_terms(folder)),
        last_folder_terms=frozenset(plain_terms(folder.rpartition("/")[2])),
        is_entry=raw_stem in ENTRY_STEMS,
        is_private=name.startswith("_") and not name.startswith("__"),
        is_internal=bool(_INTERNAL.search(path)),
        is_legacy=bool(_LEGACY.search(path)),
        is_versioned=bool(_VERSIONED.search(path)),
        is_example=bool(_EXAMPLE.search(path)),
        is_declaration=bool(_TYPINGS.search(path)),
        is_tooling=bool(_TOOLING.search(path)),
        is_near_test=bool(_TESTING.search(path)),
    )


@lru_cache(maxsize=1 << 15)
def plain_terms(text: str) -> tuple[str, ...]:
    """Return the stemmed parts of all words, without wholes, in order, each once."""
    found: dict[str, None] = {}
    for word in scan_words(text.replace("/", " ")):
        parts = [stem(part) for part in split_identifier(word)] or identifier_terms(word)
        found.update(dict.fromkeys(parts))
    return tuple(found)
