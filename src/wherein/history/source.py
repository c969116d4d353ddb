"""Opens a repository's history: a working tree's, or a bare repository's."""

from __future__ import annotations

import os
from pathlib import Path

from wherein.errors import ExternalError
from wherein.external.git import Git
from wherein.external.git_command import TIMEOUT_S
from wherein.external.run import Completed

__all__ = ["BareGit", "boundary_commits", "open_source", "tree_paths"]


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
    """Return the commits at which a shallow clone was cut; empty for a full one."""
    try:
        text = (git.common_dir / "shallow").read_text(encoding="ascii")
    except (FileNotFoundError, UnicodeDecodeError):
        return frozenset()
    return frozenset(text.split())


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
