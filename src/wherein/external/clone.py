"""Clones a git URL that the user named into the cache; nothing in the clone runs."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from hashlib import blake2b
from pathlib import Path

from wherein.errors import ExternalError
from wherein.external.run import run

__all__ = ["clone", "update"]

_TIMEOUT_S = 1800.0
"""A large repository over a slow line; Ctrl-C stops it at any time."""

_DEPTH = 1000
"""Commits fetched: enough for history to help ranking, and 20 times less than all of a large
repository's."""

_HARMLESS_FLAWS = (
    "badDateOverflow",
    "badEmail",
    "badTimezone",
    "missingEmail",
    "missingNameBeforeEmail",
    "missingSpaceBeforeDate",
    "missingSpaceBeforeEmail",
    "zeroPaddedDate",
    "zeroPaddedFilemode",
)
"""What old programs wrote into commits of many public repositories: fetched all the same, as plain
``git clone`` does. What could harm a checkout (names, ``.gitmodules``) is still refused."""

_SAFE = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"),
    *(
        "-c",
        "core.symlinks=true",
        "-c",
        "submodule.recurse=false",
        "-c",
        "protocol.ext.allow=never",
    ),
    *("-c", "credential.helper=", "-c", "core.askPass=", "-c", "transfer.fsckObjects=true"),
    *(part for flaw in _HARMLESS_FLAWS for part in ("-c", f"fetch.fsck.{flaw}=ignore")),
)
_ENVIRONMENT = {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1"}


def clone(url: str, home: Path) -> Path:
    """Return the folder of the clone of ``url`` below ``home``, cloning it the first time.

    Raises:
        ExternalError: Git could not clone it.
        ProgramTimeoutError: It took longer than half an hour.
    """
    target = home / _folder_name(url)
    if (target / ".git").is_dir():
        return target
    home.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".clone-", dir=home))
    try:
        options = ["--quiet", "--no-tags", "--single-branch", f"--depth={_DEPTH}", "--template="]
        _git(["clone", *options, "--", url, os.fspath(temporary / "tree")], url, temporary)
        (temporary / "tree").rename(target)
    except OSError:
        if not (target / ".git").is_dir():  # another process was first: its clone is as good
            raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return target


def update(url: str, home: Path) -> Path:
    """Bring the clone of ``url`` up to date with its remote branch, cloning it when absent.

    Raises:
        ExternalError: Git could not fetch it.
    """
    target = clone(url, home)
    _git(["fetch", "--quiet", "--no-tags", f"--depth={_DEPTH}", "origin", "HEAD"], url, target)
    _git(["reset", "--quiet", "--hard", "FETCH_HEAD"], url, target)
    return target


def _git(arguments: list[str], url: str, folder: Path) -> None:
    done = run(
        ["git", *_SAFE, *arguments], cwd=folder, timeout_s=_TIMEOUT_S, env_extra=_ENVIRONMENT
    )
    if done.returncode != 0:
        message = f"git cannot fetch {_without_password(url)!r}: {_reason(done.stderr)}"
        raise ExternalError(message, hint="check the address, and that git can reach it from here")


def _reason(stderr: bytes) -> str:
    """Return the first line that is no warning: later ones tell what followed from it."""
    lines = stderr.decode("utf-8", "replace").splitlines()
    telling = (line for line in lines if line.strip() and not line.startswith("warning:"))
    return next(telling, "no reason given")


def _without_password(url: str) -> str:
    return re.sub(r"(?<=://)[^/]*:[^/]*@", "***@", url)


def _folder_name(url: str) -> str:
    """Return a name that says which repository it is and cannot clash."""
    last = url.rstrip("/").removesuffix(".git").rsplit("/", 1)[-1]
    name = re.sub(r"[^A-Za-z0-9._-]", "-", last)[-40:].strip(".-")
    digest = blake2b(url.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    return f"{name or 'repository'}-{digest}"
