"""Says how files are written, and in which ripgrep finds no text for that reason.

Ripgrep compares bytes: what is not ASCII it takes for UTF-8. Read and search decode files, and so
show text that a grep misses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.errors import PathError, WhereinError
from wherein.external.ripgrep_options import SearchOptions
from wherein.tools.grep_formats import PathFormat
from wherein.walk.paths import show_path
from wherein.walk.reading import read_file

if TYPE_CHECKING:
    from wherein.tools.grep_search import Search

__all__ = ["encoding_of", "note_other_encodings", "note_unmarked"]

MAX_FILES = 500
MAX_FILE_BYTES = 1 << 20
"""How much of a file is read to tell its encoding, as `read` does."""

MAX_NAMED = 5

TIMEOUT_S = 5.0

NOT_UTF8 = (
    r"(?-u)[\xc0\xc1\xf5-\xff]|(?:^|[\x00-\x7f])[\x80-\xbf]"
    r"|(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})(?:[\x00-\x7f\xc0-\xff]|$)"
    r"|[\xc2-\xdf][\x80-\xbf]{2}|[\xe0-\xef][\x80-\xbf]{3}|[\xf0-\xf4][\x80-\xbf]{4}"
)
"""Matches in lines that are not UTF-8."""

_MAY_NEED_MORE_THAN_ASCII = re.compile(r"[^\x00-\x7f]|\\[pPuUx]")

_LABELS = {
    "big5hkscs": "big5",
    "cp932": "shift_jis",
    "cp949": "euc-kr",
    "euc_jp": "euc-jp",
    "latin-1": "latin1",
}
"""What ripgrep calls Python's encodings, where the names differ."""


def encoding_of(root: Path, path: str) -> str:
    """Return how a file is written; empty for what is no text, or cannot be read."""
    from wherein.walk.encoding import decode

    try:
        decoded = decode(read_file(root, path, MAX_FILE_BYTES).data)
    except PathError:
        return ""
    return decoded.encoding if decoded is not None else ""


def note_other_encodings(search: Search) -> None:
    """Add a note that names files that match once they are decoded, if there are any.

    That costs another ripgrep, and so is asked only for patterns with more than ASCII.
    """
    options = search.options
    if options.is_inverted or search.is_partial or search.is_cancelled():
        return
    if not any(_MAY_NEED_MORE_THAN_ASCII.search(pattern) for pattern in options.patterns):
        return
    by_encoding: dict[str, list[str]] = {}
    for path, encoding in _other_encodings(search):
        by_encoding.setdefault(encoding, []).append(path)
    known = {file.path for file in search.files}
    found = sorted(
        (path, encoding)
        for encoding, paths in by_encoding.items()
        for path in _matching(search, paths, encoding)
        if path not in known
    )
    if found:
        named = ", ".join(
            f"{show_path(search.shown(path))} ({encoding})" for path, encoding in found[:MAX_NAMED]
        )
        more = f" and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
        search.notes.append(f"not UTF-8, so missing here, but it matches: {named}{more}")


def note_unmarked(search: Search) -> None:
    """Add a note for each named file that ripgrep takes for binary, though it is wide text."""
    from wherein.walk.encoding import decode, decode_unmarked

    known = {file.path for file in search.files}
    for place in search.places:
        if place.is_folder or place.path in known:
            continue
        try:
            data = read_file(place.root, place.path, MAX_FILE_BYTES).data
        except PathError:
            continue
        decoded = decode_unmarked(data) if b"\0" in data and decode(data) is None else None
        if decoded is not None:
            shown = show_path(place.shown(place.path))
            how = f"{decoded.encoding} without a byte-order mark"
            search.notes.append(f"not searched: {shown} is {how}, which counts as binary; read it")


def _other_encodings(search: Search) -> Iterator[tuple[str, str]]:
    """Yield the searched files that are text but not UTF-8, with their encodings."""
    chosen = search.options
    options = SearchOptions(
        (NOT_UTF8,),
        types=chosen.types,
        excluded_types=chosen.excluded_types,
        globs=chosen.globs,
    )
    for path in _listed(search, options, search.paths)[:MAX_FILES]:
        if search.keep.refusal(path):
            continue
        encoding = encoding_of(search.ripgrep.folder, path)
        if encoding and not encoding.startswith("utf-8"):
            yield path, encoding


def _listed(search: Search, options: SearchOptions, paths: list[str]) -> list[str]:
    form = PathFormat()
    done = search.ripgrep.search(
        options,
        form.arguments,
        paths,
        timeout_s=min(TIMEOUT_S, search.remaining_s),
        is_cancelled=search.is_cancelled,
    )
    return sorted(file.path for file in form.read(done.stdout).files)


def _matching(search: Search, paths: list[str], encoding: str) -> list[str]:
    """Return those of ``paths`` in which the search finds something when they are decoded."""
    form = PathFormat()
    try:
        done = search.ripgrep.search_files(
            search.options,
            (*form.arguments, f"--encoding={_LABELS.get(encoding, encoding)}"),
            paths,
            timeout_s=min(TIMEOUT_S, search.remaining_s),
            is_cancelled=search.is_cancelled,
        )
    except WhereinError:
        return []
    return [file.path for file in form.read(done.stdout).files]
