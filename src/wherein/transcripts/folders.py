"""Finds the folder of sessions whose agent writes only a hash or a shortened name of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import md5, sha256
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from urllib.parse import unquote, urlsplit

from wherein.transcripts.values import Session

__all__ = ["from_uri", "slug_of", "with_folders"]

_NOT_IN_SLUG = re.compile(r"[^A-Za-z0-9]+")
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def with_folders(sessions: Iterable[Session], known: Iterable[str] = ()) -> list[Session]:
    """Return the sessions with the folders that their keys stand for.

    A key is compared with the keys of folders that are known: those of other sessions, the given
    ones, and the folders above the paths the session itself names. One that matches none stays
    without a folder.

    Args:
        sessions: As the agents' modules read them.
        known: Folders where a session may have worked, such as the one that is asked for.
    """
    found = list(sessions)
    others = {folder for one in found for folder in _upward(one.folder)}
    by_key = _keys({*others, *(folder for path in known for folder in _upward(path))})
    return [_placed(one, by_key) if one.folder_key and not one.folder else one for one in found]


def _placed(session: Session, by_key: dict[str, str]) -> Session:
    named = {folder for call in session.calls for folder in _upward(call.path)}
    folder = _keys(named).get(session.folder_key) or by_key.get(session.folder_key, "")
    return replace(session, folder=folder)


def _keys(folders: Iterable[str]) -> dict[str, str]:
    """Return the folders by every key that an agent may give them."""
    keys: dict[str, str] = {}
    for folder in sorted(folders):
        data = folder.encode("utf-8", "surrogatepass")
        for key in (
            sha256(data).hexdigest(),
            md5(data, usedforsecurity=False).hexdigest(),
            slug_of(folder),
        ):
            keys.setdefault(key, folder)
    return keys


def slug_of(folder: str) -> str:
    """Return the name that Cursor gives the folder of a project: its letters and digits."""
    return _NOT_IN_SLUG.sub("-", folder).strip("-").casefold()


def _upward(path: str) -> Iterator[str]:
    """Yield an absolute path and the folders above it, as they are written on its system."""
    pure: PurePath = PureWindowsPath(path) if _WINDOWS.match(path) else PurePosixPath(path)
    if pure.is_absolute():
        yield from (str(folder) for folder in (pure, *pure.parents))


def from_uri(text: str) -> str:
    """Return the path of a ``file:`` address or of a path; empty for a place elsewhere."""
    if not text.startswith("file:"):
        return "" if "://" in text else text
    path = unquote(urlsplit(text).path)
    return path[1:] if re.match(r"/[A-Za-z]:", path) else path
