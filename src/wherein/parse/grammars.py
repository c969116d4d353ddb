"""Which grammar and which query a language has; both are loaded once, when first needed."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Parser, Query

__all__ = ["EMBEDDED", "grammar", "parser", "query", "query_languages"]

EMBEDDED = {"vue": "typescript", "svelte": "typescript", "astro": "typescript"}
"""Component files are parsed by their script part, which keeps its place in the file."""

_PARTS = {
    "c": ("c_family", "c"),
    "cpp": ("c_family", "cpp"),
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
    """Return the compiled grammar of ``language``."""
    from semble_grammars import get_language

    return get_language(language)


@cache
def parser(language: str) -> Parser:
    """Return this process's parser of ``language``; a parser is not shared between threads."""
    from tree_sitter import Parser

    return Parser(grammar(language))


@cache
def query(language: str) -> Query:
    """Return the combined query of ``language``: one pass finds all that is wanted of a tree."""
    from tree_sitter import Query

    folder = resources.files("wherein.parse") / "queries"
    parts = _PARTS.get(language, (language,))
    source = "".join((folder / f"{part}.scm").read_text(encoding="utf-8") for part in parts)
    return Query(grammar(language), source)
