"""Which grammar and which query a language has; both are loaded once, when first needed."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Parser, Query

__all__ = ["EMBEDDED", "grammar", "parser", "query", "query_languages"]

EMBEDDED = {"vue": "typescript", "svelte": "typescript", "astro": "typescript"}
"""Component files are parsed by their script part, which keeps its place in the file."""

_QUERY_FOR = {"php_only": "php", "jsonc": "json", "json5": "json", "starlark": "python"}


@lru_cache(maxsize=1)
def query_languages() -> frozenset[str]:
    """Return the languages that have a query of our own."""
    folder = resources.files("wherein.parse") / "queries"
    named = {path.name.removesuffix(".scm") for path in folder.iterdir()}
    return frozenset(named | set(_QUERY_FOR))


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

    name = _QUERY_FOR.get(language, language)
    folder = resources.files("wherein.parse") / "queries"
    source = (folder / f"{name}.scm").read_text(encoding="utf-8")
    if name in ("typescript", "tsx"):
        source = (folder / "javascript.scm").read_text(encoding="utf-8") + source
    return Query(grammar(language), source)
