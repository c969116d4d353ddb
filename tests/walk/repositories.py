"""Builds repositories for the tests of the walk, with git in an environment of its own."""

from __future__ import annotations

import os
import subprocess  # noqa: TID251 - tests start git directly
from pathlib import Path

from wherein.settings import Settings
from wherein.walk.walker import Listing, list_files

GIT_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.invalid",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.invalid",
}


def git(folder: Path, *args: str | bytes) -> bytes:
    """Run git in ``folder`` and return what it prints."""
    done = subprocess.run(
        ("git", "-c", "protocol.file.allow=always", *args),
        cwd=folder,
        env=GIT_ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout


def write(root: Path, path: str | bytes, text: str | bytes = "x = 1\n") -> Path:
    """Write one file, with its folders."""
    full = root / os.fsdecode(path)
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_bytes(text if isinstance(text, bytes) else text.encode())
    return full


def commit_all(root: Path, message: str = "all") -> None:
    """Commit everything that is not ignored."""
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message)


def settings(root: Path, **changes: object) -> Settings:
    """Return settings whose home lies beside ``root``."""
    return Settings(home=root.parent / "home").replace(**changes)


def listing(root: Path, **changes: object) -> Listing:
    """List ``root`` under default settings with ``changes``."""
    return list_files(root, settings(root, **changes))


def paths(found: Listing) -> list[str]:
    """Return the listed paths."""
    return [listed.file.path for listed in found.files]


def reasons(found: Listing) -> dict[str, str]:
    """Return the skipped paths with their reason."""
    return {skipped.path: skipped.reason for skipped in found.skipped}


def git_paths(root: Path) -> list[str]:
    """Return git's own answer: tracked on disk, and untracked not ignored."""
    out = git(root, "ls-files", "-z", "-c", "-o", "--exclude-standard", "--deduplicate")
    names = os.fsdecode(out).split("\0")[:-1]
    return sorted(name for name in names if os.path.lexists(root / name) and name[-1:] != "/")
