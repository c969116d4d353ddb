"""Signals that do not depend on the query's words: how likely such a file is the one meant."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wherein.search.path_facts import path_facts
from wherein.search.query import Query
from wherein.store.tree_index import TreeIndex
from wherein.types import FileFlag, FileKind

__all__ = ["SIGNALS", "columns"]

SIGNALS: Mapping[str, str] = {
    "p_test": "0 or 1: a test, and the query does not ask for tests: it repeats the words it tests",
    "p_test_support": "0 or 1: named as test support though no test itself, and none is asked for",
    "p_legacy": "0 or 1: legacy, deprecated, old or compat in the path: a newer one is meant",
    "p_versioned": "0 or 1: a v1 or numbered folder in the path",
    "p_example": "0 or 1: an example, and none is asked for",
    "p_vendored": "0 or 1: somebody else's code, kept here: the original is meant",
    "p_generated": "0 or 1: generated: its source is meant",
    "p_declaration": "0 or 1: header, type stub or types folder: declares what others define",
    "p_barrel": "0 or 1: imports much and defines nothing: it passes on what others define",
    "p_entry": "0 or 1: index, main, mod or __init__",
    "p_private": "0 or 1: file name begins with an underscore",
    "p_internal": "0 or 1: in a folder named internal: what is public is meant",
    "p_tooling": "0 or 1: scripts, builds, benchmarks",
    "p_docs": "0 or 1: prose, and none is asked for",
    "p_config": "0 or 1: configuration or data",
    "p_logsize": "0..1: log2(1 + bytes) / 20: central files are large",
    "p_logdefs": "0..1: log2(1 + definitions) / 10",
    "p_stemlen": "0..1: words in the telling name / 5: plain names are the general ones",
}


def columns(
    index: TreeIndex, query: Query, files: NDArray[np.int64]
) -> dict[str, NDArray[np.float32]]:
    """Return the group's columns, each of shape ``(F,)``."""
    rows = [_facts(index, file) for file in files.tolist()]
    matrix = np.array(rows, np.float32).reshape(len(rows), len(SIGNALS))
    found = {name: matrix[:, place].copy() for place, name in enumerate(SIGNALS)}
    if query.wants_tests:
        found["p_test"][:] = 0
        found["p_test_support"][:] = 0
    if query.wants_docs:
        found["p_docs"][:] = 0
    if query.wants_examples:
        found["p_example"][:] = 0
    return found


def _facts(index: TreeIndex, ordinal: int) -> tuple[float, ...]:
    file = index.file(ordinal)
    return _file_facts(
        file.path, int(file.flags), file.kind, file.n_bytes, file.n_definitions, file.n_imports
    )


@lru_cache(maxsize=1 << 14)
def _file_facts(
    path: str, flags: int, kind: FileKind, n_bytes: int, n_definitions: int, n_imports: int
) -> tuple[float, ...]:
    """Return the values in the order of `SIGNALS`, as if nothing special were asked for."""
    facts = path_facts(path)
    is_test = bool(flags & FileFlag.TEST)
    is_code = kind is FileKind.CODE
    return (
        is_test,
        facts.is_near_test and not is_test,
        facts.is_legacy,
        facts.is_versioned,
        facts.is_example or bool(flags & FileFlag.EXAMPLE),
        bool(flags & FileFlag.VENDORED),
        bool(flags & FileFlag.GENERATED),
        facts.is_declaration,
        is_code and n_definitions == 0 and n_imports >= 2,
        facts.is_entry,
        facts.is_private,
        facts.is_internal,
        facts.is_tooling,
        kind is FileKind.DOCS,
        kind in (FileKind.CONFIG, FileKind.DATA),
        min(float(np.log2(1 + n_bytes)) / 20, 1.0),
        min(float(np.log2(1 + n_definitions)) / 10, 1.0),
        min(facts.n_stem_words / 5, 1.0),
    )
