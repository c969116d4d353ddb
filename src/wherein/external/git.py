"""Asks git about a repository without letting the repository run anything.

No command that reads file contents through filters from the working tree is offered.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wherein.errors import ExternalError, MissingProgramError, PathError, RevisionError
from wherein.external.git_command import (
    SAFE_ENVIRONMENT,
    SAFE_OPTIONS,
    TIMEOUT_S,
    complaint,
    refusal,
    run_git,
)
from wherein.external.git_folder import GitFolder
from wherein.external.git_index import (
    GITLINK,
    SYMLINK,
    Index,
    IndexEntry,
    UnknownIndexError,
    parse_debug_listing,
    read_index_file,
    vouches,
)
from wherein.external.run import Completed, run
from wherein.external.stream import Running, stream
from wherein.walk.blob import blob_id
from wherein.walk.reading import TreeReader

__all__ = ["Git", "Probe", "has_repository_above"]


@dataclass(frozen=True, slots=True)
class Probe:
    """What looking for a repository found."""

    git: Git | None
    reason: str = ""
    """Why git does not answer for a folder that looks like a repository; empty when there is no
    repository or all is well."""


class Git:
    """One working tree as git sees it. Make it with `Git.find` or `Git.probe`."""

    def __init__(self, root: Path, top: Path, git_dir: Path, common_dir: Path) -> None:
        self.root = root
        """The folder commands run in; paths are relative to it."""
        self.top = top
        """The working tree's top level."""
        self.git_dir = git_dir
        """Where this working tree's HEAD and index are."""
        self.common_dir = common_dir
        """What all working trees of the repository family share."""

    @property
    def folder(self) -> GitFolder:
        """What the files of the repository say without git."""
        return GitFolder(self.top, self.git_dir, self.common_dir)

    @property
    def prefix(self) -> str:
        """The root relative to the top level, empty or ending in ``/``."""
        if self.root == self.top:
            return ""
        return self.root.relative_to(self.top).as_posix() + "/"

    def at_top(self) -> Git:
        """Return git for the top level of the same working tree."""
        return Git(self.top, self.top, self.git_dir, self.common_dir)

    @classmethod
    def find(cls, path: Path) -> Git | None:
        """Return git for the folder ``path``, or None when git does not answer for it."""
        return cls.probe(path).git

    @classmethod
    def probe(cls, path: Path) -> Probe:
        """Look for the repository that ``path`` lies in, and say why not when git refuses it.

        Raises:
            PathError: ``path`` is not a folder we may enter.
        """
        root = path.resolve()
        if not has_repository_above(root):
            return Probe(None)
        try:
            done = run_git(
                root,
                ("rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"),
            )
        except MissingProgramError:
            return Probe(None, "git is not installed")
        lines = done.stdout.split(b"\n")
        if done.returncode != 0 or len(lines) < 3:
            return Probe(None, refusal(done.stderr))
        top, git_dir, common_dir = (Path(os.fsdecode(line)) for line in lines[:3])
        if not root.is_relative_to(top):  # core.worktree points somewhere else
            return Probe(None, f"the repository's working tree is elsewhere ({str(top)!r})")
        return Probe(cls(root, top, git_dir.resolve(), (root / common_dir).resolve()))

    def run(
        self,
        *args: str | bytes,
        stdin: bytes | None = None,
        timeout_s: float = TIMEOUT_S,
        max_output_bytes: int | None = None,
    ) -> Completed:
        """Run one git command with the safe flags in `root`; the exit code is the caller's."""
        return run_git(
            self.root, args, stdin=stdin, timeout_s=timeout_s, max_output_bytes=max_output_bytes
        )

    def output(
        self, *args: str | bytes, stdin: bytes | None = None, timeout_s: float = TIMEOUT_S
    ) -> bytes:
        """Run one git command and return its output.

        Raises:
            ExternalError: Git said no.
        """
        done = self.run(*args, stdin=stdin, timeout_s=timeout_s)
        if done.returncode != 0:
            raise ExternalError(complaint(args, done.stderr))
        return done.stdout

    @contextmanager
    def stream(
        self, *args: str | bytes, timeout_s: float = TIMEOUT_S
    ) -> Generator[Running, None, None]:
        """Run one git command and read its output while it runs."""
        argv = ("git", *SAFE_OPTIONS, *args)
        with stream(
            argv, cwd=self.root, timeout_s=timeout_s, env_extra=SAFE_ENVIRONMENT
        ) as running:
            yield running

    def head(self) -> str | None:
        """Return the commit checked out, None before the first commit."""
        done = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD^{commit}")
        return _line(done.stdout) if done.returncode == 0 else None

    def resolve(self, revision: str) -> str:
        """Return the commit that ``revision`` names.

        Raises:
            RevisionError: Git does not know it, or it is an option in disguise.
        """
        if revision and not revision.startswith("-") and "\0" not in revision:
            done = self.run(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
            )
            if done.returncode == 0 and done.stdout:
                return _line(done.stdout)
        message = f"unknown revision {revision!r}"
        raise RevisionError(message, hint="give a commit, branch or tag that git log shows")

    def ls_files(self, *options: str) -> list[str]:
        """Return the paths ``git ls-files`` lists with ``options``, relative to `root`."""
        return _paths(self.output("ls-files", "-z", *options))

    def untracked(self) -> list[str]:
        """Return untracked paths that are not ignored; a nested repository ends in ``/``."""
        return self.ls_files("--others", "--exclude-standard")

    def ignored(self) -> list[str]:
        """Return ignored paths, whole folders as one path ending in ``/``."""
        return self.ls_files("--others", "--ignored", "--exclude-standard", "--directory")

    def ignored_among(self, paths: Sequence[str]) -> dict[str, str]:
        """Return the ignored ones of untracked ``paths``, each with the rule that decides.

        A rule reads ``file:line:pattern``.
        """
        if not paths:
            return {}
        # This command knows no literal pathspecs; a path that starts with ./ has no magic.
        stdin = b"\0".join(b"./" + os.fsencode(path) for path in paths)
        options = tuple(option for option in SAFE_OPTIONS if option != "--literal-pathspecs")
        done = run(
            ("git", *options, "check-ignore", "-z", "--stdin", "--verbose"),
            cwd=self.root,
            timeout_s=TIMEOUT_S,
            stdin=stdin,
            env_extra=SAFE_ENVIRONMENT,
        )
        if done.returncode not in {0, 1}:
            raise ExternalError(complaint(("check-ignore",), done.stderr))
        parts = _paths(done.stdout)
        return {
            path.removeprefix("./"): f"{source}:{line}:{pattern}"
            for source, line, pattern, path in zip(
                parts[0::4], parts[1::4], parts[2::4], parts[3::4], strict=True
            )
            if not pattern.startswith("!")
        }

    def changed_since(self, revision: str) -> set[str]:
        """Return paths under `root` whose content may differ from ``revision``'s.

        Changed and deleted tracked paths, and untracked ones.

        Raises:
            RevisionError: Git does not know the revision.
        """
        commit = self.resolve(revision)
        # Tree against index needs no file; files against index see `stale_paths`.
        staged = self.output(
            "diff-index", "--cached", "--name-only", "-z", "--no-renames", "--relative",
            "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", commit, "--",
        )  # fmt: skip
        return {*_paths(staged), *self.untracked(), *self.stale_paths()}

    def index(self) -> Index:
        """Return the index of this working tree, whatever its format."""
        try:
            return read_index_file(self.git_dir)
        except UnknownIndexError:
            pass
        path = self.git_dir / "index"
        try:
            written_ns = path.stat().st_mtime_ns
        except FileNotFoundError:
            written_ns = 0
        listing = self.at_top().output("ls-files", "--stage", "--debug", "-z")
        return parse_debug_listing(listing, written_ns)

    def stale_paths(self) -> list[str]:
        """Return tracked paths whose bytes differ from the index, or that are gone.

        What the stat does not settle is hashed by us: git would run filters over it. So where a
        filter or line-end rule makes disk and index differ, the path counts as changed.
        """
        index = self.index()
        prefix = self.prefix
        with TreeReader(self.root) as reader:
            return [
                entry.path[len(prefix) :]
                for entry in index.entries
                if entry.path.startswith(prefix)
                and entry.mode != GITLINK
                and self._is_stale(entry, entry.path[len(prefix) :], index.written_ns, reader)
            ]

    def _is_stale(self, entry: IndexEntry, path: str, written_ns: int, reader: TreeReader) -> bool:
        full = self.root / path
        try:
            found = full.lstat()
            if vouches(entry, found, written_ns):
                return False
            if stat.S_ISLNK(found.st_mode):
                data = os.fsencode(full.readlink())
                return entry.mode != SYMLINK or blob_id(data) != entry.blob_id
            return entry.mode == SYMLINK or blob_id(reader.read(path).data) != entry.blob_id
        except OSError:
            return not entry.is_skip_worktree
        except PathError:  # no regular file any more
            return True

    def show(self, revision: str, path: str, *, max_bytes: int | None = None) -> bytes:
        """Return the bytes of ``path`` (relative to `root`) at ``revision``, unconverted.

        Raises:
            RevisionError: The revision is unknown.
            PathError: It has no such file.
        """
        commit = self.resolve(revision)
        name = f"{commit}:{self.prefix}{path}"
        done = self.run("cat-file", "blob", os.fsencode(name), max_output_bytes=max_bytes)
        if done.returncode != 0 and not done.is_truncated:
            message = f"{path!r} is not a file at {revision!r}"
            raise PathError(message)
        return done.stdout


def has_repository_above(folder: Path) -> bool:
    """Return whether ``folder`` or one above it has a ``.git``; spares a process outside git."""
    return any(os.path.lexists(parent / ".git") for parent in (folder, *folder.parents))


def _paths(output: bytes) -> list[str]:
    """Split NUL-terminated output."""
    return os.fsdecode(output).split("\0")[:-1]


def _line(output: bytes) -> str:
    return output.decode("ascii", "replace").strip()
