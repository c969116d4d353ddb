"""The Merkle root of a tree: names what an answer was computed from.

A folder's id hashes its children's kinds, names and ids, as git's trees do, so equal ids mean
equal subtrees, and after a change only the folders above it are hashed again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha1

import numpy as np
from numpy.typing import NDArray

__all__ = ["folder_ids", "updated_folder_ids"]

_FILE = b"f"
_FOLDER = b"d"


def _folder_id(children: Iterable[bytes]) -> bytes:
    return sha1(b"".join(sorted(children)), usedforsecurity=False).digest()


def _child(kind: bytes, name: str, child_id: bytes) -> bytes:
    # The name's end is marked by NUL and ids have one length, so no two lists read alike.
    return kind + name.encode("utf-8", "surrogateescape") + b"\0" + child_id


def folder_ids(paths: Sequence[str], blobs: NDArray[np.uint8]) -> dict[str, bytes]:
    """Return the id of every folder, the root's under ``""``.

    Args:
        paths: Files of the tree, sorted.
        blobs: Their content's ids, shape ``(n, 20)``.
    """
    children: dict[str, list[bytes]] = {"": []}
    raw = blobs.tobytes()
    for place, path in enumerate(paths):
        folder, _, name = path.rpartition("/")
        line = _child(_FILE, name, raw[place * 20 : place * 20 + 20])
        if folder in children:
            children[folder].append(line)
        else:
            children[folder] = [line]
    for folder in list(children):
        above = folder.rpartition("/")[0]
        while above not in children:  # folders that hold only folders
            children[above] = []
            above = above.rpartition("/")[0]
    return _hashed(children, {})


def _hashed(children: dict[str, list[bytes]], known: Mapping[str, bytes]) -> dict[str, bytes]:
    """Hash folders bottom-up: in reverse order every folder comes before the one it lies in."""
    ids = dict(known)
    for folder in sorted(children, reverse=True):
        own = children[folder]
        if not own and folder:
            ids.pop(folder, None)  # an empty folder is no folder, as in git
            continue
        ids[folder] = _folder_id(own)
        if folder:
            above, _, name = folder.rpartition("/")
            children[above].append(_child(_FOLDER, name, ids[folder]))
    return ids


def updated_folder_ids(
    known: Mapping[str, bytes],
    paths: Sequence[str],
    blobs: NDArray[np.uint8],
    changed: Iterable[str],
) -> dict[str, bytes]:
    """Return the folder ids after a change, hashing only the folders above changed files.

    Args:
        known: The ids before.
        paths: Files of the tree now, sorted.
        blobs: Their content's ids now.
        changed: Paths that were added, removed or have other content.
    """
    touched: set[str] = {""}
    for path in changed:
        folder = path.rpartition("/")[0]
        while folder and folder not in touched:
            touched.add(folder)
            folder = folder.rpartition("/")[0]
    folders = sorted(known)
    children: dict[str, list[bytes]] = {}
    for folder in touched:
        lines = _files_in(folder, paths, blobs)
        prefix = f"{folder}/" if folder else ""
        for name, child in _folders_in(prefix, folders):
            if child not in touched:
                lines.append(_child(_FOLDER, name, known[child]))
        children[folder] = lines
    return _hashed(children, known)


def _files_in(folder: str, paths: Sequence[str], blobs: NDArray[np.uint8]) -> list[bytes]:
    prefix = f"{folder}/" if folder else ""
    start, stop = _range(prefix, paths)
    cut = len(prefix)
    return [
        _child(_FILE, paths[place][cut:], blobs[place].tobytes())
        for place in range(start, stop)
        if "/" not in paths[place][cut:]
    ]


def _folders_in(prefix: str, folders: Sequence[str]) -> list[tuple[str, str]]:
    start, stop = _range(prefix, folders)
    cut = len(prefix)
    return [
        (folder[cut:], folder)
        for folder in folders[start:stop]
        if folder[cut:] and "/" not in folder[cut:]
    ]


def _range(prefix: str, names: Sequence[str]) -> tuple[int, int]:
    """Return the run of sorted ``names`` that begin with ``prefix`` (a folder with its slash)."""
    if not prefix:
        return 0, len(names)
    after = prefix[:-1] + chr(ord("/") + 1)
    return bisect_left(names, prefix), bisect_right(names, after)
