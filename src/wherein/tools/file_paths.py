"""Turns the paths that people and agents write into files and folders inside the allowed roots."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from wherein.errors import PathError
from wherein.external.ripgrep_options import VERSION_CONTROL_FOLDERS
from wherein.settings import Settings
from wherein.tools.walk_memory import WalkMemory
from wherein.walk.paths import parse_path, show_path

if TYPE_CHECKING:
    from wherein.tools.context import ToolContext

__all__ = [
    "WIDEN_HINT",
    "WILDCARDS",
    "Place",
    "Scope",
    "refuse_outside",
    "resolve_place",
]

WIDEN_HINT = "whoever starts wherein can widen it: --root DIR, or the user setting 'roots'"
"""How what lies outside the root can be reached: by a person, never by an argument of a tool."""

MAX_NEAR = 3
"""Names offered instead of one that does not exist."""

WILDCARDS = frozenset("*?[{\\")
"""Characters that mean something in a glob."""

MAX_LISTED = 2_000
"""Entries of a folder that are compared with a name that does not exist."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an exact tool may look.

    ``root`` and ``roots`` are real paths; nothing outside them is looked at, whoever asks.
    """

    root: Path
    settings: Settings
    roots: tuple[Path, ...] = ()
    standing: Path | None = None
    """Where relative paths start, and what shown paths are relative to; None for the root."""
    walks: WalkMemory = field(default_factory=WalkMemory)
    """What earlier calls learned of the trees."""

    @classmethod
    def of(cls, call: ToolContext) -> Scope:
        """Return the scope of a tool's call."""
        return cls(call.root, call.settings, call.roots, call.standing, call.walks)

    @property
    def base(self) -> Path:
        """The folder that relative paths start from."""
        return self.standing or self.root


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder that was named, as a real path under its root."""

    root: Path
    path: str
    """Relative to ``root`` with ``/``; empty for the root itself."""
    is_folder: bool
    base: Path
    """Shown paths below this folder are relative to it, others absolute."""

    @property
    def real(self) -> Path:
        """The absolute path."""
        return self.root / self.path

    @property
    def folder(self) -> Path:
        """The absolute path of the folder it is or lies in."""
        return self.real if self.is_folder else self.real.parent

    def shown(self, path: str) -> str:
        """Return a path under ``root`` as answers name it: one that `resolve_place` takes back."""
        if self.base == self.root:
            return path
        full = self.root / path
        if full.is_relative_to(self.base):
            return full.relative_to(self.base).as_posix()
        return str(full)


def resolve_place(scope: Scope, name: str) -> Place:
    """Return the file or folder that ``name`` means.

    Understood are paths relative to the root, absolute ones, ``file://`` addresses, names as
    answers show them (escaped), with backslashes between folders, and with blanks around them.

    Raises:
        PathError: It does not exist (the hint names near ones), is not a regular file or folder,
            or lies outside the allowed roots.
    """
    if "\0" in name:
        message = f"a path cannot hold a NUL: {name!r}"
        raise PathError(message)
    for spelled in _spellings(scope, name):
        path = Path(os.path.normpath(scope.base / spelled))
        if os.path.lexists(path):
            return _place(scope, name, path)
    raise _missing(scope, name)


def _spellings(scope: Scope, name: str) -> Iterator[str]:
    """Yield the readings of ``name``, the literal one first."""
    if name.startswith("file://"):
        try:
            parts = urlsplit(name)
            # Editors add #L3: the place is not part of the name, and not to be lost either.
            yield unquote(parts.path) + (f"#{parts.fragment}" if parts.fragment else "")
        except ValueError as error:
            message = f"{show_path(name)!r} is no address of a file: {error}"
            raise PathError(message, hint="give a path relative to the root") from None
        return
    if name == "~" or name.startswith("~/"):
        yield name
        message = f"{name!r}: '~' is not expanded, it leads outside {str(scope.root)!r}"
        raise PathError(message, hint="give a path relative to the root")
    yield name or "."
    if "\\" in name:
        yield parse_path(name)
        yield name.replace("\\", "/")  # as Windows writes it
    if name != name.strip():
        yield name.strip()
    if name.startswith("@"):  # agents pass on mentions as they were written
        yield name[1:]


def _place(scope: Scope, name: str, path: Path) -> Place:
    try:
        real = path.resolve(strict=True)
        mode = real.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        message = f"{show_path(name)!r} is a broken link"
        raise PathError(message) from None
    except (OSError, RuntimeError) as error:
        message = f"{show_path(name)!r} cannot be opened: {error}"
        raise PathError(message) from None
    root = _root_of(scope, name, path, real)
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        message = f"{show_path(name)!r} is not a regular file: {_special(mode)}"
        raise PathError(message, hint="only regular files are read")
    relative = real.relative_to(root).as_posix()
    relative = "" if relative == "." else relative
    if not set(VERSION_CONTROL_FOLDERS).isdisjoint(relative.split("/")):
        message = f"{show_path(name)!r} belongs to version control and is not searched"
        raise PathError(message, hint="name a path of the working tree")
    return Place(root, relative, stat.S_ISDIR(mode), scope.base)


def _root_of(scope: Scope, name: str, path: Path, real: Path) -> Path:
    for root in (scope.root, *scope.roots):
        if real.is_relative_to(root):
            return root
    is_link = any(path.is_relative_to(root) for root in (scope.root, *scope.roots))
    why = "is not followed: link leaves the root" if is_link else "is outside the root"
    message = f"{show_path(name)!r} {why} {str(scope.root)!r}"
    raise PathError(message, hint=WIDEN_HINT)


def _special(mode: int) -> str:
    kinds = (
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    return next((words for is_kind, words in kinds if is_kind(mode)), "a special file")


def _missing(scope: Scope, name: str) -> PathError:
    path = Path(os.path.normpath(scope.base / name.strip()))
    allowed = any(path.is_relative_to(root) for root in (scope.root, *scope.roots))
    if not allowed:
        message = f"{show_path(name)!r} is outside the root {str(scope.root)!r}"
        near = _near_paths(scope.root, name.lstrip("/"))
        return PathError(message, hint=_did_you_mean(near) or WIDEN_HINT)
    if not scope.root.exists():
        message = f"the workspace {str(scope.root)!r} is gone"
        return PathError(message, hint="start wherein again where the project is")
    try:
        path.lstat()
    except PermissionError as error:  # whether it exists cannot be known
        message = f"{show_path(name)!r} cannot be opened: {error.strerror}"
        return PathError(message, hint="a folder above it may not be entered")
    except (OSError, ValueError):  # the latter of half a character
        pass
    near = _near_paths(scope.root, os.path.relpath(path, scope.root))
    message = f"no such path {show_path(name)!r}"
    return PathError(message, hint=_did_you_mean(near) or f"paths start at {scope.root}")


def refuse_outside(root: Path, start: Path, pattern: str) -> None:
    """Refuse a glob or filter that names a place above or beside the root or ``start``.

    One that takes paths out (``!``) may name anything.

    Args:
        root: Real path of the root.
        start: Real path of the folder the pattern is given for.
        pattern: The glob, as it was written.

    Raises:
        PathError: It leads outside.
    """
    if pattern.startswith("!"):
        return
    top = str(root).rstrip("/")
    is_below = f"{pattern}/".startswith(f"{top}/")
    inside = pattern.removeprefix(top) if is_below else pattern
    parts = [part for part in inside.replace("\\", "/").split("/") if part not in {"", "."}]
    is_elsewhere = (
        pattern.startswith("/")
        and not is_below
        and bool(parts)
        and not os.path.lexists(start / parts[0])
        and not WILDCARDS.intersection(parts[0])
        and os.path.lexists(Path("/", parts[0]))
    )
    if _climbs_out(parts) or is_elsewhere or pattern.startswith("~"):
        where = f"the root {str(root)!r}" if start == root else f"the folder {str(start)!r}"
        message = f"{pattern!r} leads outside {where}"
        raise PathError(message, hint="give a pattern relative to it, or name another path")


def _climbs_out(parts: Iterable[str]) -> bool:
    """Return whether ``..`` leads above the first part, or out of what only a wildcard names."""
    above: list[str] = []
    for part in parts:
        if part != "..":
            above.append(part)
        elif not above or WILDCARDS.intersection(above.pop()):
            return True
    return False


def _did_you_mean(near: list[str]) -> str:
    return f"did you mean {' or '.join(repr(show_path(path)) for path in near)}?" if near else ""


def _near_paths(root: Path, name: str) -> list[str]:
    """Return existing paths under ``root`` whose spelling is near ``name``, best first.

    Each component is corrected where it does not exist; other letter case counts as nearest.
    """
    found = [""]
    parts = [part for part in name.split("/") if part not in {"", "."}]
    if ".." in parts:
        return []
    for part in parts:
        found = [
            f"{folder}/{entry}" if folder else entry
            for folder in found
            for entry in _near_entries(root / folder, part)
        ][:MAX_NEAR]
    return [path for path in found if path]


def _near_entries(folder: Path, name: str) -> list[str]:
    if os.path.lexists(folder / name):
        return [name]
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for _, entry in zip(range(MAX_LISTED), entries, strict=False))
    except OSError:
        return []
    names = [entry for entry in names if entry not in VERSION_CONTROL_FOLDERS]
    folded = name.strip().casefold()
    same = [entry for entry in names if entry.casefold() == folded]
    return same or get_close_matches(name, names, n=MAX_NEAR)
