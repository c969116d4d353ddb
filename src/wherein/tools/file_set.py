"""Which files the exact tools search: ripgrep's walk, put right where git knows better.

The rules, in their order:

* Version control's own folders, special files and symbolic links are never searched; hidden files
  are.
* Secrets and what the setting ``deny`` names are never shown, also when a path or a glob names
  them.
* Inside git, git decides: tracked files are searched whatever the ignore rules say, and untracked
  ones unless ``.gitignore``, ``info/exclude`` or the user's own excludes hide them. Outside git,
  ``.gitignore`` files count all the same.
* ``.ignore`` and ``.whereinignore`` files and the setting ``ignore`` hide more; the setting
  ``include`` brings back.
* A path that is named is searched though an ignore rule hides it, and so is what a glob names, as
  with ripgrep.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from wherein.errors import ExternalError, MissingProgramError, ProgramTimeoutError
from wherein.external.git import Git, has_repository_above
from wherein.external.ripgrep import Ripgrep, Walked
from wherein.external.ripgrep_report import is_read_otherwise
from wherein.settings import Settings
from wherein.tools.file_filter import is_hidden_by, rules_of

__all__ = [
    "find_extra_files",
    "found_though_ignored",
    "git_of",
    "needs_walk",
    "regular_files",
    "ripgrep_at",
    "tracked_among",
    "tracked_but_ignored",
]

MAX_PATHSPECS = 2_000
"""Ignored entries handed to git one by one; with more, it goes through its whole index."""

MAX_COMPARED_BYTES = 50_000_000
"""Bytes of git's index looked through for names, in 3 ms: what starting git costs."""

TIMEOUT_S = 30.0

_TRIMMED_RULE = re.compile(rb"[\t\f\v]\r?(?:\n|\Z)")
"""Ripgrep trims a tab at the end of a rule, which git does not."""


def git_of(folder: Path) -> Git | None:
    """Return the repository that ``folder`` lies in by the files on disk alone, starting nothing.

    Unlike `Git.find` this trusts what ``.git`` says; commands run through it stay harmless.
    """
    if not has_repository_above(folder):
        return None
    for top in (folder, *folder.parents):
        marker = top / ".git"
        if not os.path.lexists(marker):
            continue
        git_dir = _git_dir(marker)
        if git_dir is None:
            return None
        return Git(folder, top, git_dir, _common_dir(git_dir))
    return None


def _git_dir(marker: Path) -> Path | None:
    """Follow a ``.git`` file of a worktree or submodule."""
    if marker.is_dir():
        return marker if (marker / "HEAD").is_file() else None
    try:
        if not stat.S_ISREG(marker.stat().st_mode):  # a pipe would be waited for
            return None
        text = marker.read_text("utf-8", "surrogateescape")
    except OSError:
        return None
    if not text.startswith("gitdir:"):
        return None
    git_dir = marker.parent / text.removeprefix("gitdir:").strip()
    return git_dir if os.path.isdir(git_dir) else None  # noqa: PTH112 - any text is asked


def _common_dir(git_dir: Path) -> Path:
    try:
        text = (git_dir / "commondir").read_text("utf-8", "surrogateescape")
    except OSError:
        return git_dir
    return Path(os.path.normpath(git_dir / text.strip()))


def ripgrep_at(program: Ripgrep, root: Path, git: Git | None) -> Ripgrep:
    """Return ripgrep ready to work in ``root``, with what git's settings say of ignore rules."""
    if git is None:
        return program.at(root, is_in_git=False)
    excludes = [git.folder.excludes_file()]
    if git.common_dir != git.top / ".git":  # ripgrep looks only beside the working tree
        excludes.append(git.common_dir / "info" / "exclude")
    return program.at(
        root,
        is_in_git=True,
        ignore_files=[path for path in excludes if path is not None and path.is_file()],
        folds_rules=git.folder.ignores_case(),
    )


def needs_walk(ripgrep: Ripgrep, settings: Settings) -> bool:
    """Return whether only a walk can tell what ripgrep leaves out wrongly.

    The setting ``include`` brings back ignored files, and some rules git reads otherwise.
    """
    return bool(settings.include) or _has_odd_rules(ripgrep)


def _has_odd_rules(ripgrep: Ripgrep) -> bool:
    """Return whether git reads a rule for the whole root otherwise than ripgrep does."""
    own = (ripgrep.folder / ".gitignore", ripgrep.folder / ".git" / "info" / "exclude")
    for path in (*own, *ripgrep.ignore_files):
        try:
            rules = path.read_bytes()
        except OSError:
            continue
        if _TRIMMED_RULE.search(rules):
            return True
        lines = rules.split(b"\n") if b"[" in rules or b"{" in rules else ()
        if any(not line.startswith(b"#") and is_read_otherwise(line) for line in lines):
            return True
    return False


def found_though_ignored(ripgrep: Ripgrep, git: Git | None, paths: Sequence[str]) -> set[str]:
    """Return those of ``paths`` that git ignores, where ripgrep may read rules otherwise."""
    if git is None or not _has_odd_rules(ripgrep):
        return set()
    try:
        return set(git.ignored_among(paths))
    except ExternalError:
        return set()


def tracked_but_ignored(git: Git) -> list[str]:
    """Return the tracked files that an ignore rule hides from ripgrep, sorted."""
    return regular_files(git.root, _all_tracked_but_ignored(git))


def _all_tracked_but_ignored(git: Git) -> list[str]:
    return _listed(git, "--cached", "--ignored", "--exclude-standard") or []


def _listed(git: Git, *options: str) -> list[str] | None:
    """Return what ``git ls-files`` lists: None when it refuses, nothing when it does not answer."""
    try:
        done = git.run("ls-files", "-z", *options)
    except (MissingProgramError, ProgramTimeoutError):
        return []
    return os.fsdecode(done.stdout).split("\0")[:-1] if done.returncode == 0 else None


def tracked_among(git: Git, ignored: Sequence[str]) -> list[str]:
    """Return the tracked paths among (or below) what ripgrep said that it ignored, there or not.

    Usually there are none, which the names in git's index show without starting git.
    """
    if not ignored or not _may_be_tracked(git, ignored):
        return []
    if len(ignored) > MAX_PATHSPECS:
        return _all_tracked_but_ignored(git)
    tracked = _listed(git, "--cached", "--", *ignored)
    if tracked is None:  # one of them lies in a submodule
        return _all_tracked_but_ignored(git)
    return list(dict.fromkeys(tracked))


def _may_be_tracked(git: Git, ignored: Sequence[str]) -> bool:
    """Return False when git's index names none of ``ignored``: names stand in it as they are."""
    try:
        data = (git.git_dir / "index").read_bytes()
    except FileNotFoundError:
        return False
    except OSError:
        return True
    # Version 4 shortens names; a split or a sparse index leaves them out.
    is_plain = data[4:8] in {b"\0\0\0\2", b"\0\0\0\3"} and b"sdir" not in data
    if not is_plain or any(git.git_dir.glob("sharedindex.*")):
        return True
    if len(ignored) * len(data) > MAX_COMPARED_BYTES:
        return True
    return any(os.fsencode(git.prefix + path) in data for path in ignored)


def find_extra_files(
    ripgrep: Ripgrep, git: Git | None, walked: Walked, settings: Settings
) -> list[str]:
    """Return files that ripgrep leaves out and that are searched all the same, sorted.

    Tracked files that an ignore rule hides, untracked ones where git reads the rules otherwise, and
    what the setting ``include`` names.
    """
    if not walked.ignored:
        return []
    extra: set[str] = set()
    if git is not None:
        extra.update(_git_says(git, walked.ignored))
    if settings.include:
        rules = rules_of(settings.include)
        inside = ripgrep.walk(walked.ignored, timeout_s=TIMEOUT_S, is_unrestricted=True)
        extra.update(path for path in inside.paths if is_hidden_by(rules, path))
    return regular_files(ripgrep.folder, extra)


def _git_says(git: Git, ignored: Sequence[str]) -> list[str]:
    """Return the files that git lists among what ripgrep ignored."""
    listed = None
    if len(ignored) <= MAX_PATHSPECS:
        listed = _listed(git, "--cached", "--others", "--exclude-standard", "--", *ignored)
    # Too many, or one of them lies in a submodule: ask for the tracked ones alone.
    return _all_tracked_but_ignored(git) if listed is None else listed


def regular_files(root: Path, paths: Iterable[str]) -> list[str]:
    """Return those of ``paths`` that are regular files, sorted."""
    return sorted(path for path in paths if _is_regular(root / path))


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
