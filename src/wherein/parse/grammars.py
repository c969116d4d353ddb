"""Which grammar and which query a language has; both are loaded once, when first needed."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from wherein.parse.grammar_cache import remove_damaged

if TYPE_CHECKING:
    from tree_sitter import Language, Parser, Query

__all__ = ["EMBEDDED", "grammar", "load", "parser", "query", "query_languages"]

EMBEDDED = {"vue": "typescript", "svelte": "typescript", "astro": "typescript"}
"""Component files are parsed by their script part, which keeps its place in the file."""

_PARTS = {
    "c": ("c_family", "c"),
    "cpp": ("c_family", "cpp"),
    "objc": ("c_family", "c", "objc"),
    "javascript": ("ecmascript", "javascript", "jsx"),
    "php_only": ("php",),
    "tsx": ("ecmascript", "typescript", "jsx"),
    "typescript": ("ecmascript", "typescript"),
}
"""Query files of the languages that share some; the others have one of their own name."""

_SHARED = frozenset({"c_family", "ecmascript", "jsx"})


@cache
def query_languages() -> frozenset[str]:
    """Return the languages that have a query of our own."""
    folder = resources.files("wherein.parse") / "queries"
    named = {path.name.removesuffix(".scm") for path in folder.iterdir()}
    return frozenset((named - _SHARED) | _PARTS.keys())


@cache
def grammar(language: str) -> Language:
    """Return the compiled grammar of ``language``.

    Raises:
        StoreError: Its library in the cache is damaged and cannot be replaced.
    """
    from semble_grammars import GrammarLoadError, get_language

    remove_damaged(language)
    try:
        return get_language(language)
    except GrammarLoadError:  # another process took a damaged one away meanwhile
        return get_language(language)


def parser(language: str) -> Parser:
    """Return a new parser of ``language``.

    One for each file: some grammars' scanners (jsonnet's) carry state over from one text to the
    next, and the same text must always give the same tree. It costs 2 us.
    """
    from tree_sitter import Parser

    return Parser(grammar(language))


def load(language: str) -> None:
    """Load all that a file of ``language`` needs, which takes 1 to 200 ms.

    Raises:
        StoreError: Its library in the cache is damaged and cannot be replaced.
    """
    language = EMBEDDED.get(language, language)
    if language in query_languages():
        query(language)


@cache
def query(language: str) -> tuple[Query, Query | None]:
    """Return the query of ``language``, and the one that starts at the root only.

    A pattern that begins with the root node stays alive through the whole file and slows every
    step down; run by itself with a start depth of 0 it costs next to nothing. In a query file
    those stand below the line ``; top``.
    """
    from tree_sitter import Query

    folder = resources.files("wherein.parse") / "queries"
    anywhere, top = "", ""
    for part in _PARTS.get(language, (language,)):
        source = (folder / f"{part}.scm").read_text(encoding="utf-8")
        before, _, after = source.partition("\n; top\n")
        anywhere, top = anywhere + before + "\n", top + after
    return Query(grammar(language), anywhere), Query(grammar(language), top) if top else None
