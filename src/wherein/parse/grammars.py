"""Which grammar and which query a language has; both are loaded once, when first needed."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from wherein.parse.grammar_cache import remove_damaged

if TYPE_CHECKING:
    from tree_sitter import Language, Parser, Query

__all__ = ["EMBEDDED", "grammar", "load", "parser", "queries", "query_languages"]

EMBEDDED = {
    "astro": "typescript",
    "jupyter": "python",
    "svelte": "typescript",
    "vue": "typescript",
}
"""Component files and notebooks are parsed by their code, which keeps its place in the file."""

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
        queries(language)


class Queries(NamedTuple):
    """What is asked of a language's syntax tree: the sections of its query files."""

    anywhere: Query
    """Above any heading."""
    top: Query | None
    """Below ``; top``: starts at the root only. A pattern that begins with the root node stays
    alive through the whole file and slows every step down; run by itself it costs next to
    nothing."""
    inside: Query | None
    """Below ``; inside``: starts at the children of the nodes that the others capture as
    ``@inside``. Written out for each kind of parent, such patterns took C++ 80 ms more to load."""


@cache
def queries(language: str) -> Queries:
    """Return the queries of ``language``."""
    from tree_sitter import Query

    folder = resources.files("wherein.parse") / "queries"
    sections = dict.fromkeys(Queries._fields, "")
    for part in _PARTS.get(language, (language,)):
        name = "anywhere"
        for line in (folder / f"{part}.scm").read_text(encoding="utf-8").splitlines():
            if line.startswith("; "):
                name = line.removeprefix("; ")
            else:
                sections[name] += line + "\n"
    anywhere, *others = (sections[name] for name in Queries._fields)
    compiled = grammar(language)
    return Queries(
        Query(compiled, anywhere), *(Query(compiled, text) if text else None for text in others)
    )
