"""Reads what a ``.git`` folder says without git: where it is, its head, and its ignore files.

Used to see quickly whether anything changed, and to list files where git is missing or refuses.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["GitFolder", "find_git_folder", "is_repository", "user_git_files"]

_MAX_POINTER_BYTES = 10_000
_MAX_INCLUDES = 10  # as deep as git goes
_HEX = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SECTION = re.compile(r"\[\s*([A-Za-z0-9.-]+)\s*(?:\"((?:[^\"\\]|\\.)*)\")?\s*\]")
_SETTING = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?")


@dataclass(frozen=True, slots=True)
class GitFolder:
    """The places of one working tree's repository."""

    top: Path
    git_dir: Path
    common_dir: Path

    def head(self) -> str | None:
        """Return the commit checked out; None before the first, or in a form only git reads."""
        text = _read(self.git_dir / "HEAD").strip()
        for _ in range(5):
            if not text.startswith("ref:"):
                return text if _HEX.fullmatch(text) else None
            name = text.removeprefix("ref:").strip()
            if ".." in name.split("/"):
                return None
            text = _read(self.common_dir / name).strip() or _packed(self.common_dir, name)
        return None

    def watched(self) -> list[str]:
        """Return the files, perhaps absent, whose change can change the file set or the head."""
        names = [
            self.git_dir / "config.worktree",
            self.common_dir / "config",
            self.common_dir / "info" / "exclude",
        ]
        return [*self.watched_for_head(), *(str(name) for name in names)]

    def watched_for_head(self) -> list[str]:
        """Return the files, perhaps absent, that hold the index and say which commit is out."""
        head = _read(self.git_dir / "HEAD").strip()
        ref = head.removeprefix("ref:").strip() if head.startswith("ref:") else "HEAD"
        names = [
            self.git_dir / "index",
            self.git_dir / "HEAD",
            self.common_dir / ref,
            self.common_dir / "packed-refs",
            self.common_dir / "reftable" / "tables.list",
        ]
        return [str(name) for name in names]

    def excludes_file(self) -> Path | None:
        """Return the user's ignore file as ``core.excludesFile`` names it, or its default place."""
        shared = self.common_dir / "config"
        files = [*map(Path, user_git_files()[:-1]), shared]
        if _is_true(read_setting(shared, "extensions", "worktreeconfig")):
            files.append(self.git_dir / "config.worktree")
        value = ""
        for path in files:
            value = read_setting(path, "core", "excludesfile") or value
        if value:
            return Path(value).expanduser()
        return Path(user_git_files()[-1])

    def settings_files(self) -> list[Path]:
        """Return the files, perhaps absent, that `excludes_file` and `ignores_case` depend on."""
        own = (self.common_dir / "config", self.git_dir / "config.worktree")
        roots = [*map(Path, user_git_files()[:-1]), *own]
        return list(dict.fromkeys(file for root in roots for file in _with_included(root)))

    def ignores_case(self) -> bool:
        """Return whether the file system folds case, as git found when cloning."""
        return _is_true(read_setting(self.common_dir / "config", "core", "ignorecase"))


def find_git_folder(path: Path) -> GitFolder | None:
    """Return the repository that the folder ``path`` (a real path) lies in, None outside one."""
    for top in (path, *path.parents):
        found = _open(top)
        if found is not None:
            return found
    return None


def is_repository(path: Path) -> bool:
    """Return whether ``path`` is the top of a working tree."""
    return _open(path) is not None


def user_git_files() -> list[str]:
    """Return the user's git settings files, the weakest first, and last the default ignore file."""
    home = os.environ.get("HOME", "")
    config_home = os.environ.get("XDG_CONFIG_HOME") or str(Path(home) / ".config")
    files: list[str] = []
    if not os.environ.get("GIT_CONFIG_NOSYSTEM"):
        files.append(os.environ.get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig")
    chosen = os.environ.get("GIT_CONFIG_GLOBAL")
    if chosen is not None:
        files.append(chosen)
    else:
        files.extend((str(Path(config_home) / "git" / "config"), str(Path(home) / ".gitconfig")))
    files.append(str(Path(config_home) / "git" / "ignore"))
    return files


def read_setting(path: Path, section: str, name: str, depth: int = 0) -> str:
    """Return the last value of ``section.name`` in a git settings file, empty when absent.

    Files that ``include.path`` names are read where they are named, ``includeIf`` ones are not.
    """
    value = ""
    for found_section, found_name, written in _settings(path):
        if found_section == section and found_name == name:
            value = _plain_value(written)
        elif found_section == "include" and found_name == "path" and depth < _MAX_INCLUDES:
            included = _included_file(path, written)
            value = read_setting(included, section, name, depth + 1) or value
    return value


def _settings(path: Path) -> Iterator[tuple[str, str, str | None]]:
    """Yield section, name and written value of each setting whose section has no subsection."""
    current = ""
    for line in _read(path, 1_000_000).splitlines():
        text = line.strip()
        header = _SECTION.match(text)
        if header:
            current = header.group(1).lower() if header.group(2) is None else ""
            text = text[header.end() :].strip()
        setting = _SETTING.match(text)
        if setting:
            yield current, setting.group(1).lower(), setting.group(2)


def _included_file(path: Path, written: str | None) -> Path:
    return path.parent / Path(_plain_value(written)).expanduser()


def _with_included(path: Path, depth: int = 0) -> Iterator[Path]:
    """Yield a settings file and those that it includes, as `read_setting` reads them."""
    yield path
    if depth >= _MAX_INCLUDES:
        return
    for section, name, written in _settings(path):
        if section == "include" and name == "path":
            yield from _with_included(_included_file(path, written), depth + 1)


def _is_true(value: str) -> bool:
    return value.lower() in {"true", "yes", "on", "1"}


def _plain_value(written: str | None) -> str:
    if written is None:
        return "true"
    out: list[str] = []
    is_quoted = False
    i = 0
    while i < len(written):
        c = written[i]
        if c == '"':
            is_quoted = not is_quoted
        elif c == "\\" and i + 1 < len(written):
            i += 1
            out.append({"n": "\n", "t": "\t", "b": "\b"}.get(written[i], written[i]))
        elif c in "#;" and not is_quoted:
            break
        else:
            out.append(c)
        i += 1
    return "".join(out).strip()


def _open(top: Path) -> GitFolder | None:
    marker = top / ".git"
    if _is_folder(marker):
        git_dir = marker
    else:
        pointer = _read(marker).strip()
        if not pointer.startswith("gitdir:"):
            return None
        git_dir = top / pointer.removeprefix("gitdir:").strip()
    common_dir = git_dir
    shared = _read(git_dir / "commondir").strip()
    if shared:
        common_dir = git_dir / shared
    is_valid = (
        _is_folder(common_dir / "objects")
        and _is_folder(common_dir / "refs")
        and os.path.lexists(git_dir / "HEAD")
    )
    return GitFolder(top, git_dir.resolve(), common_dir.resolve()) if is_valid else None


def _is_folder(path: Path) -> bool:
    """Return whether ``path`` is a folder, False when that may not be known."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _packed(common_dir: Path, name: str) -> str:
    for line in _read(common_dir / "packed-refs", None).splitlines():
        commit, _, packed = line.partition(" ")
        if packed == name:
            return commit
    return ""


def _read(path: Path, limit: int | None = _MAX_POINTER_BYTES) -> str:
    """Return a small text file's content, empty when it cannot be read or is a pipe."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return os.fsdecode(file.read(-1 if limit is None else limit))
    except OSError:
        return ""
