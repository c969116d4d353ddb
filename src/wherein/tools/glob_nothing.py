"""Says why no file matches a pattern, and what else it may have meant."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from wherein.errors import PatternError
from wherein.tools.file_paths import WILDCARDS, Place
from wherein.tools.globbing import GlobSet, anchor_globs

__all__ = ["why_nothing"]

_SEPARATORS = re.compile(r"[,;|\s]+")


def why_nothing(
    patterns: Sequence[str],
    globs: Sequence[str],
    paths: Sequence[str],
    place: Place,
    n_ignored: int,
) -> list[str]:
    """Return notes for an answer without files.

    Args:
        patterns: As they were given.
        globs: The same, tied to the root.
        paths: The files under ``place``.
        place: Where was looked.
        n_ignored: Files and folders that ignore rules leave out.
    """
    notes = [f"none of {len(paths)} files matches"]
    for pattern in globs:
        name = pattern.strip("/")
        is_folder = os.path.isdir(place.root / name)  # noqa: PTH112 - any length of name is asked
        if name and is_folder and not WILDCARDS.intersection(name):
            notes.append(f"{name!r} is a folder: {name + '/**'!r} names the files in it")
    n_folded = _count(GlobSet.of(globs, ignore_case=True), paths)
    if n_folded:
        notes.append(f"{n_folded} match in another letter case")
    if len(notes) == 1:
        notes.extend(_meant(patterns, paths, place))
    if n_ignored:
        notes.append(f"{n_ignored} ignored files and folders are left out unless path names one")
    return notes


def _meant(patterns: Sequence[str], paths: Sequence[str], place: Place) -> list[str]:
    """Return a note on the first other reading that some file matches."""
    anchor = place.path if place.is_folder else place.path.rpartition("/")[0]
    for pattern in patterns:
        for reading in _readings(pattern, place):
            try:
                chosen = GlobSet.of(anchor_globs(reading, anchor, place.root))
            except PatternError:
                continue
            n_found = _count(chosen, paths)
            if n_found:
                return [f"{n_found} match {', '.join(map(repr, reading))}"]
    return []


def _readings(pattern: str, place: Place) -> Iterator[list[str]]:
    """Yield what a pattern may mean besides what it says."""
    bare = pattern.strip().strip("\"'`")
    if bare != pattern:
        yield [bare]
    if "\\" in bare:  # as Windows writes it
        yield [bare.replace("\\", "/")]
    listed = [part for part in _SEPARATORS.split(bare) if part]
    if len(listed) > 1 and "{" not in bare:
        yield listed
    yield from _behind_links(bare, place)
    name = bare.strip("/")
    if name and not name.startswith("**/"):
        yield [f"**/{name}"]
        yield [f"**/{name}/**"]


def _behind_links(pattern: str, place: Place) -> Iterator[list[str]]:
    """Yield the pattern with a link to a folder at its start replaced by that folder."""
    folders = pattern.strip("/").split("/")[:-1]
    for n_named in range(len(folders), 0, -1):
        start = place.folder.joinpath(*folders[:n_named])
        is_folder = os.path.isdir(start)  # noqa: PTH112 - any length of name is asked
        if not is_folder or WILDCARDS.intersection("".join(folders[:n_named])):
            continue
        real = start.resolve()
        if real != start and real.is_relative_to(place.folder):
            rest = pattern.strip("/").split("/")[n_named:]
            yield ["/".join((*real.relative_to(place.folder).parts, *rest))]
        return


def _count(globs: GlobSet, paths: Sequence[str]) -> int:
    return sum(globs.admits(path) for path in paths)
