"""Which terms a path has: its stem counted twice, its folders once."""

from __future__ import annotations

from functools import lru_cache

from wherein.tokens import count_terms, identifier_terms, scan_words

__all__ = ["ENTRY_STEMS", "path_stem", "path_term_counts"]

ENTRY_STEMS = frozenset({"__init__", "__main__", "index", "main", "mod", "lib", "package", "init"})
"""Stems that say nothing of their own: the folder's name stands in for them."""

STEM_WEIGHT = 2
"""A word of the file's own name counts twice a folder's (reference ranking, 2026-11)."""


@lru_cache(maxsize=1 << 15)
def path_stem(path: str) -> str:
    """Return the name that says what the file is about, without its endings.

    The first dot that is not at the start ends it (``cart.spec.ts`` gives ``cart``). Files such as
    ``index.js``, ``mod.rs`` and ``__init__.py`` are named by their folder.
    """
    *folders, name = path.rsplit("/", 2)
    stem = _stem_of(name)
    if stem.lower() in ENTRY_STEMS and folders and folders[-1]:
        return folders[-1].lstrip(".")
    return stem


def _stem_of(name: str) -> str:
    dot = name.find(".", 1)
    return (name if dot < 0 else name[:dot]).lstrip(".")


def path_term_counts(path: str) -> dict[str, int]:
    """Return how often each term counts in ``path``: the stem's twice, the folders' once each."""
    folder, _, name = path.rpartition("/")
    counts = count_terms(scan_words(folder.replace("/", " ")))
    words = scan_words(name.rpartition(".")[0] or name)
    stem = path_stem(path)
    if stem != _stem_of(name):
        words = [*words, *scan_words(stem)]
    for word in words:
        for term in identifier_terms(word):
            counts[term] = counts.get(term, 0) + STEM_WEIGHT
    return counts
