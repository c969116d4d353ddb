"""What decides a tree's listing besides the tree: mounts, git's folders, the user's settings."""

from __future__ import annotations

import os
import re
import select
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from wherein.errors import ExternalError
from wherein.external.git import Git

__all__ = ["MountEvents", "Surroundings", "find_surroundings"]

_LOCAL = frozenset({"btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"})
MOUNTS = Path("/proc/self/mounts")
_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is watched for one tree."""

    tops: tuple[Path, ...]
    """The tree, and git's folders outside it."""
    left_out: tuple[Path, ...]
    """Folders below them that decide nothing."""
    outside: tuple[Path, ...]
    """Files that decide which others of these there are, and what git lists; some do not exist."""


def find_surroundings(root: Path, environment: Mapping[str, str]) -> Surroundings | None:
    """Return what to watch for ``root``; None where no watch could be relied on.

    Args:
        root: Real path of the tree.
        environment: Says where the user's git settings are.

    Raises:
        OSError: The system does not say.
        WhereinError: Git does not.
    """
    if not _is_local(root):
        return None
    home = Path(environment.get("HOME", "/nonexistent"))
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "git"
    outside = [home / ".gitconfig", config / "config", config / "ignore", Path("/etc/gitconfig")]
    variables = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")
    outside.extend(Path(environment[name]) for name in variables if environment.get(name))
    outside.append(root / ".git")
    git = Git.find(root)
    if git is None:  # until somebody makes a repository, of this folder or of one above
        outside.extend(folder / ".git" for folder in root.parents)
        return Surroundings((root,), (root / ".git" / "objects",), tuple(outside))
    if git.top != root:  # rules above the root count, too
        return None
    own = {git.git_dir, git.common_dir}
    folders = sorted(folder for folder in own if not folder.is_relative_to(root))
    outside.extend(
        folder / name for folder in sorted(own) for name in ("config", "config.worktree")
    )
    outside.extend(_named_in_settings(git))
    objects = tuple(folder / "objects" for folder in (*folders, root / ".git"))
    return Surroundings((root, *folders), objects, tuple(dict.fromkeys(outside)))


def _named_in_settings(git: Git) -> Iterator[Path]:
    """Yield the files that git's settings stand in, include or name as ignore rules."""
    done = git.run("config", "--list", "--show-origin", "-z", "--includes")
    if done.returncode != 0:
        message = "git does not tell its settings"
        raise ExternalError(message)
    parts = os.fsdecode(done.stdout).split("\0")
    for origin, item in zip(parts[::2], parts[1::2], strict=False):
        key, _, value = item.partition("\n")
        file = git.root / origin.removeprefix("file:") if origin.startswith("file:") else git.root
        if origin.startswith("file:"):
            yield file
        if key == "core.excludesfile":
            yield git.root / Path(value).expanduser()
        elif key == "include.path" or (key.startswith("includeif.") and key.endswith(".path")):
            yield file.parent / Path(value).expanduser()


def _is_local(root: Path) -> bool:
    """Return whether all file systems in the tree tell of every change.

    Network and user-space ones tell nobody of what is changed elsewhere.
    """
    nearest, kind = "", ""
    for place, name in _mounts():
        if Path(place) != root and Path(place).is_relative_to(root) and name not in _LOCAL:
            return False
        if root.is_relative_to(place) and len(place) >= len(nearest):
            nearest, kind = place, name
    return kind in _LOCAL


def _mounts() -> Iterator[tuple[str, str]]:
    """Yield the place and the type of each mounted file system, the later ones on top."""
    with MOUNTS.open(encoding="utf-8", errors="surrogateescape") as mounts:
        for line in mounts:
            _device, place, kind, *_rest = line.split(" ")
            if place.startswith("/"):
                yield _OCTAL.sub(lambda found: chr(int(found[1], 8)), place), kind


class MountEvents:
    """Tells whether anything was mounted or unmounted since it was asked last.

    Raises:
        OSError: The system does not tell.
    """

    def __init__(self) -> None:
        self._descriptor = os.open("/proc/self/mountinfo", os.O_RDONLY | os.O_CLOEXEC)
        self._poll = select.poll()
        self._poll.register(self._descriptor, select.POLLPRI)

    def take(self) -> bool:
        """Return whether anything was, once."""
        return bool(self._poll.poll(0))

    def close(self) -> None:
        """Stop asking."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
