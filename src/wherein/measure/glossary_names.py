"""Which names a tree defines, and in which files a whole-word search finds each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from wherein.measure.arms_grep import MAX_OPENED
from wherein.measure.replay_trees import TextTree
from wherein.parse.tags import parse
from wherein.walk.language import detect_language

__all__ = ["MIN_NAME_CHARS", "NameIndex", "index_names"]

MIN_NAME_CHARS = 4
"""Shorter names are parts of others, so a search for them finds too much."""

_IDENTIFIER = re.compile(rb"[A-Za-z_]\w{3,}")


@dataclass(frozen=True)
class NameIndex:
    """The names of one tree that a search finds in few files.

    Args:
        defined: Path to the names it defines, sorted; paths that define none are left out.
        files: Name to the files that hold it as a word, sorted; at most `MAX_OPENED`.
    """

    defined: Mapping[str, tuple[str, ...]]
    files: Mapping[str, tuple[str, ...]]

    @cached_property
    def home(self) -> Mapping[str, str]:
        """Name to the file that defines it; the first of several by path."""
        found: dict[str, str] = {}
        for path, names in self.defined.items():
            for name in names:
                found.setdefault(name, path)
        return found


def index_names(tree: TextTree) -> NameIndex:
    """Return the names that ``tree`` defines and that stand in few of its files."""
    defined: dict[str, set[str]] = {}
    for path, blob in tree.files.items():
        data = tree.contents.bytes_of(blob)
        tags = parse(data, detect_language(path, data[:4096]))
        names = {item.name for item in tags.definitions if len(item.name) >= MIN_NAME_CHARS}
        defined[path] = {name for name in names if name.isidentifier() and name.isascii()}
    wanted = {name for names in defined.values() for name in names}
    files: dict[str, list[str]] = {name: [] for name in wanted}
    for path, blob in tree.files.items():
        words = {word.decode() for word in set(_IDENTIFIER.findall(tree.contents.bytes_of(blob)))}
        for name in words & wanted:
            files[name].append(path)
    few = {name: tuple(paths) for name, paths in files.items() if 0 < len(paths) <= MAX_OPENED}
    kept = {path: tuple(sorted(names & few.keys())) for path, names in sorted(defined.items())}
    return NameIndex({path: names for path, names in kept.items() if names}, few)
