"""Opens a repository's history: a working tree's, or a bare repository's."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from wherein.errors import ExternalError
from wherein.external.git import Git
from wherein.external.git_command import TIMEOUT_S
from wherein.external.run import Completed

__all__ = ["BareGit", "boundary_commits", "cut_of", "open_source", "tree_paths"]

_REPLACED = "refs/replace/"
_PACKED_REPLACED = re.compile(rb" refs/replace/([0-9a-f]+)$", re.MULTILINE)


class BareGit(Git):
    """A repository without a working tree: it has a history, and no files to search."""

    def run(
        self,
        *args: str | bytes,
        stdin: bytes | None = None,
        timeout_s: float = TIMEOUT_S,
        max_output_bytes: int | None = None,
    ) -> Completed:
        """Run one git command, naming the repository (bare ones are only opened when named)."""
        return super().run(
            f"--git-dir={self.git_dir}",
            *args,
            stdin=stdin,
            timeout_s=timeout_s,
            max_output_bytes=max_output_bytes,
        )


def open_source(path: Path) -> Git | None:
    """Return git for the folder or bare repository at ``path``, None when it has no history."""
    found = Git.find(path)
    if found is not None:
        return found
    root = path.resolve()
    if (root / "HEAD").is_file() and (root / "objects").is_dir() and (root / "refs").is_dir():
        bare = BareGit(root, root, root, root)
        if bare.run("rev-parse", "--git-dir").returncode == 0:
            return bare
    return None


def boundary_commits(git: Git) -> frozenset[str]:
    """Return the commits whose parents are missing or not the stored ones; empty for a full clone.

    What such a commit changed is unknown: a shallow clone was cut at it, or somebody gave it other
    parents (``git replace``, ``info/grafts``), which a comparison with the stored ones denies.
    """
    return frozenset[str]().union(*_cuts(git).values())


def cut_of(git: Git) -> str:
    """Return why earlier commits may be missing (``shallow``, ``grafted``, ``replaced``), or ""."""
    return next((reason for reason, commits in _cuts(git).items() if commits), "")


def _cuts(git: Git) -> dict[str, frozenset[str]]:
    """Return the commits at which history is not as it was made, by the reason."""
    return {
        "shallow": _first_words(git.common_dir / "shallow"),
        "grafted": _first_words(git.common_dir / "info" / "grafts"),
        "replaced": _replaced(git),
    }


def _first_words(file: Path) -> frozenset[str]:
    """Return the first word of each line, which is a commit; lines with ``#`` are comments."""
    try:
        lines = file.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return frozenset()
    words = (line.split(maxsplit=1) for line in lines)
    return frozenset(word[0] for word in words if word and not word[0].startswith("#"))


def _replaced(git: Git) -> frozenset[str]:
    """Return the commits that ``git replace`` exchanged: git is told to show the stored ones."""
    names = _replaced_objects(git)
    if not names:
        return frozenset()
    asked = git.run("cat-file", "--batch-check", stdin="\n".join(sorted(names)).encode())
    lines = [line.split() for line in asked.stdout.decode("ascii", "replace").splitlines()]
    return frozenset(line[0] for line in lines if line[1:2] == ["commit"])


def _replaced_objects(git: Git) -> frozenset[str]:
    if (git.common_dir / "reftable").is_dir():
        done = git.run("for-each-ref", "--format=%(refname)", _REPLACED)
        names = done.stdout.decode("ascii", "replace").split()
        return frozenset(name.removeprefix(_REPLACED) for name in names)
    found: set[str] = set()
    with suppress(OSError):
        found.update(path.name for path in (git.common_dir / _REPLACED).iterdir())
    with suppress(OSError):
        packed = (git.common_dir / "packed-refs").read_bytes()
        found.update(name.decode("ascii") for name in _PACKED_REPLACED.findall(packed))
    return frozenset(found)


def tree_paths(git: Git, commit: str) -> list[tuple[str, str, int]]:
    """Return path, blob id and size of every regular file of a commit's tree, sorted by path.

    Raises:
        ExternalError: Git cannot read the tree.
    """
    found: list[tuple[str, str, int]] = []
    for entry in git.output("ls-tree", "-r", "-l", "-z", "--full-tree", commit).split(b"\0"):
        head, _, name = entry.partition(b"\t")
        fields = head.split()
        if len(fields) == 4 and fields[0] in {b"100644", b"100755"} and fields[3].isdigit():
            found.append((os.fsdecode(name), fields[2].decode(), int(fields[3])))
    if not found and git.run("cat-file", "-e", commit).returncode != 0:
        message = f"commit {commit!r} cannot be read"
        raise ExternalError(message)
    return sorted(found)
