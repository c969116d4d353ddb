"""Restrictions on path, language, kind, content, tests: applied before anything is cut."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wherein.errors import PatternError, QueryError, near_name_hint
from wherein.search.query import Scope
from wherein.store.tree_index import TreeIndex
from wherein.types import FileFlag, FileKind, SourceFile

__all__ = ["Filters", "Masks", "admits", "masks", "with_scopes"]

_MAGIC = re.compile(r"[*?\[{]")
_LANGUAGE_NAMES = {
    "c++": "cpp",
    "c#": "csharp",
    "cs": "csharp",
    "golang": "go",
    "js": "javascript",
    "jsx": "javascript",
    "kt": "kotlin",
    "py": "python",
    "rb": "ruby",
    "rs": "rust",
    "sh": "bash",
    "shell": "bash",
    "ts": "typescript",
    "terraform": "hcl",
}


@dataclass(frozen=True, slots=True)
class Filters:
    """What the hits are restricted to; empty means everything."""

    paths: tuple[str, ...] = ()
    """Globs, folders or files; with ``!`` in front, what is left out."""
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    """Kinds of symbol."""
    content: tuple[str, ...] = ()
    """``code``, ``docs``, ``config``, ``data`` or ``all``."""
    tests: bool | None = None
    """True: tests alone; False: no tests."""
    generated: bool | None = None
    changed: frozenset[str] | None = None
    """The paths that changed since some revision, when that was asked."""
    within: str = ""
    """A folder or file that all hits lie in, whatever else is asked."""


@dataclass(frozen=True, slots=True)
class Masks:
    """Which files and chunks may be hits; None means all live ones."""

    files: NDArray[np.bool_] | None
    """Shape ``(n_files,)``."""
    chunks: NDArray[np.bool_] | None
    """Shape ``(n_chunks,)``; the files' restriction is included."""
    notes: tuple[str, ...] = ()
    """Filters that no file passes."""
    kinds: frozenset[str] = frozenset()
    """Kinds of symbol that are asked for; none for any."""


def with_scopes(
    filters: Filters, scopes: Iterable[Scope], index: TreeIndex
) -> tuple[Filters, tuple[str, ...]]:
    """Return ``filters`` with the scopes of the query added, and notes on those left out.

    A scope that names nothing known is not an error: pasted text may contain ``lang:en``.
    """
    notes: list[str] = []
    for scope in scopes:
        narrowed = _with_scope(filters, scope, index)
        if narrowed is None:
            notes.append(f"no {scope.name} {scope.value!r} here: that scope was left out")
        else:
            filters = narrowed
    return filters, tuple(notes)


def _with_scope(filters: Filters, scope: Scope, index: TreeIndex) -> Filters | None:
    value = scope.value
    match scope.name:
        case "path":
            return replace(filters, paths=(*filters.paths, value))
        case "lang":
            name = _language(value)
            if name not in index.languages:
                return None
            return replace(filters, languages=(*filters.languages, name))
        case "kind":
            if value not in index.kinds:
                return None
            return replace(filters, kinds=(*filters.kinds, value))
        case _:
            if value not in (*FileKind, "all"):
                return None
            return replace(filters, content=(*filters.content, value))


def masks(index: TreeIndex, filters: Filters) -> Masks:
    """Return which files and chunks ``filters`` let through.

    Raises:
        QueryError: A language, kind or content is not known.
        PatternError: A glob does not compile.
    """
    parts = [
        *_path_masks(index, filters.paths),
        *_language_masks(index, filters.languages),
        *_content_masks(index, filters.content),
        *_flag_masks(index, filters),
    ]
    if filters.within.strip("/"):
        parts.append(_under(index, filters.within.strip("/")))
    if filters.changed is not None:
        wanted = filters.changed
        parts.append(np.array([path in wanted for path in index.paths], np.bool_))
    files = np.logical_and.reduce([index.live_files, *parts]) if parts else None
    chunks: NDArray[np.bool_] | None = None
    if filters.kinds:
        if not index.kinds.issuperset(filters.kinds):
            from wherein.parse.tags import DEFINITION_KINDS

            _check_names("kind", filters.kinds, index.kinds | frozenset(DEFINITION_KINDS))
        chunks = index.chunks_of_kinds(frozenset(filters.kinds)) & index.live_chunks
        if files is not None:
            chunks &= np.repeat(files, index.chunk_counts)
        files = np.zeros(index.n_files, np.bool_)
        files[index.file_of_chunk[chunks]] = True
    elif files is not None:
        chunks = np.repeat(files, index.chunk_counts)
    has_none = files is not None and not files.any() and bool(index.live_files.any())
    notes = _why_none(index, filters) if has_none else ()
    return Masks(files, chunks, notes, frozenset(filters.kinds))


def _why_none(index: TreeIndex, filters: Filters) -> tuple[str, ...]:
    """Return which filters let no file through, or that they do not together."""
    live = index.live_files
    wanted = [pattern for pattern in filters.paths if not pattern.startswith("!")]
    paths = [p for p in wanted if not (_path_mask(index, p) & live).any()]
    names = [_language(name) for name in filters.languages]
    languages = [n for n in names if not (index.files_of_languages(frozenset((n,))) & live).any()]
    notes = [
        *(["no file matches the path filter " + _listed(paths)] if paths == wanted != [] else []),
        *(["no file here is in " + _listed(languages)] if languages == names != [] else []),
        *(["no file changed since then"] if filters.changed == frozenset() else []),
    ]
    return tuple(notes or ["no file passes all the filters together"])


def _listed(names: list[str]) -> str:
    return " or ".join(repr(name) for name in names)


def admits(filters: Filters, file: SourceFile) -> bool:
    """Return whether ``filters`` let a file through that is in no index; kinds are not asked."""
    within = filters.within.strip("/")
    if within and file.path != within and not file.path.startswith(f"{within}/"):
        return False
    wanted = [pattern for pattern in filters.paths if not pattern.startswith("!")]
    unwanted = [pattern[1:] for pattern in filters.paths if pattern.startswith("!")]
    if wanted and not any(_names_path(pattern, file.path) for pattern in wanted):
        return False
    if any(_names_path(pattern, file.path) for pattern in unwanted):
        return False
    if filters.languages and (file.language or "") not in map(_language, filters.languages):
        return False
    if filters.content and not {file.kind.value, "all"} & set(filters.content):
        return False
    if filters.changed is not None and file.path not in filters.changed:
        return False
    asked = ((filters.tests, FileFlag.TEST), (filters.generated, FileFlag.GENERATED))
    return all(wish is None or bool(file.flags & flag) == wish for wish, flag in asked)


def _names_path(pattern: str, path: str) -> bool:
    """Return whether a path, folder or glob names ``path``; see `_path_mask`."""
    name = pattern.replace("\\", "/").removeprefix("./").strip("/")
    if name in {"", ".", path} or path.startswith(f"{name}/"):
        return True
    if _MAGIC.search(name):
        return bool(_compiled(name, is_folder=pattern.endswith("/")).fullmatch(path))
    return f"/{name}/" in f"/{path}/"


def _language(name: str) -> str:
    return _LANGUAGE_NAMES.get(name.lower(), name.lower())


def _check_names(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    known = sorted(known)
    for name in names:
        if name not in known:
            message = f"unknown {what} {name!r}"
            fallback = f"known: {', '.join(known)}"
            raise QueryError(message, hint=near_name_hint(name, known, fallback=fallback))


def _language_masks(index: TreeIndex, languages: tuple[str, ...]) -> list[NDArray[np.bool_]]:
    if not languages:
        return []
    from semble_grammars import available_languages

    names = [_language(name) for name in languages]
    if not index.languages.issuperset(names):
        _check_names("language", names, index.languages | frozenset(available_languages()))
    return [index.files_of_languages(frozenset(names))]


def _content_masks(index: TreeIndex, content: tuple[str, ...]) -> list[NDArray[np.bool_]]:
    if not content or "all" in content:
        return []
    _check_names("content", content, (*FileKind, "all"))
    return [index.files_of_kinds(frozenset(FileKind(name) for name in content))]


def _flag_masks(index: TreeIndex, filters: Filters) -> list[NDArray[np.bool_]]:
    found: list[NDArray[np.bool_]] = []
    for wanted, flag in ((filters.tests, FileFlag.TEST), (filters.generated, FileFlag.GENERATED)):
        if wanted is not None:
            found.append(((index.file_flags & np.uint16(flag)) != 0) == wanted)
    return found


def _path_masks(index: TreeIndex, patterns: tuple[str, ...]) -> list[NDArray[np.bool_]]:
    """Any of the patterns must match, and none of those with ``!``."""
    found: list[NDArray[np.bool_]] = []
    wanted = [pattern for pattern in patterns if not pattern.startswith("!")]
    if wanted:
        found.append(np.logical_or.reduce([_path_mask(index, pattern) for pattern in wanted]))
    found += [~_path_mask(index, p[1:]) for p in patterns if p.startswith("!")]
    return found


def _path_mask(index: TreeIndex, pattern: str) -> NDArray[np.bool_]:
    """Return the files that a path, folder or glob names.

    A path with a slash that exists from the root is taken literally, brackets and all. A bare name
    is a folder's or file's at any depth. A glob without a slash matches names at any depth, one
    with a slash is anchored at the root.
    """
    cleaned = pattern.replace("\\", "/")
    while cleaned.startswith("./"):
        cleaned = cleaned[2:]
    name = cleaned.strip("/")
    if not name or name == ".":
        return np.ones(index.n_files, np.bool_)
    if "/" in cleaned or _MAGIC.search(name):
        literal = _under(index, name)
        if (literal & index.live_files).any():
            return literal
    if _MAGIC.search(name):
        matches = _compiled(name, is_folder=cleaned.endswith("/")).fullmatch
    else:
        matches = re.compile(rf"(?:.*/)?{re.escape(name)}(?:/.*)?", re.DOTALL).fullmatch
    return np.array([matches(path) is not None for path in index.paths], np.bool_)


def _under(index: TreeIndex, name: str) -> NDArray[np.bool_]:
    """Return the file ``name`` or the files in the folder ``name``; paths are sorted by segment."""
    mask = np.zeros(index.n_files, np.bool_)
    start = 0
    for segment in index.segments:
        paths = segment.paths
        place = bisect_left(paths, name)
        if place < len(paths) and paths[place] == name:
            mask[start + place] = True
        first, last = bisect_left(paths, name + "/"), bisect_left(paths, name + "0")  # "/" + 1
        mask[start + first : start + last] = True
        start += len(paths)
    return mask


def _compiled(glob: str, *, is_folder: bool) -> re.Pattern[str]:
    prefix = "" if "/" in glob else "(?:.*/)?"
    body = "".join(_glob_parts(glob))
    suffix = "/.*" if is_folder else "(?:/.*)?"
    try:
        return re.compile(f"{prefix}{body}{suffix}", re.DOTALL)
    except re.error as error:
        message = f"bad glob {glob!r}: {error}"
        raise PatternError(message, hint="close every [ and {, or put \\ before them") from error


_GLOB_TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]]*\]|[\[{},]|\\.|[^*?\[\\{},]+", re.DOTALL)


def _glob_parts(glob: str) -> Iterable[str]:
    depth = 0
    for token in _GLOB_TOKEN.findall(glob):
        if token == "[":  # noqa: S105 - a piece of a glob
            message = f"bad glob {glob!r}: a '[' is not closed"
            raise PatternError(message, hint="write '[[]' for the character itself")
        part, depth = _glob_part(token, depth)
        yield part
    if depth:
        message = f"bad glob {glob!r}: a '{{' is not closed"
        raise PatternError(message, hint="write '{a,b}' or '[{]'")


_GLOB_PARTS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]", "{": "(?:"}


def _glob_part(piece: str, depth: int) -> tuple[str, int]:
    """Return the expression for one piece of a glob and the depth of braces after it."""
    if piece[0] == "[":
        inside = piece[1:-1].replace("\\", "\\\\")
        return f"[^/{inside[1:]}]" if inside[:1] == "!" else f"(?!/)[{inside}]", depth
    if piece == "}" and depth:
        return ")", depth - 1
    if piece == "," and depth:
        return "|", depth
    if piece in _GLOB_PARTS:
        return _GLOB_PARTS[piece], depth + (piece == "{")
    return re.escape(piece[1:] if piece[0] == "\\" else piece), depth
