"""Says whether the bytes on disk are the bytes git stores, so that git's id names them.

Line-end conversion, filters (LFS among them), keyword expansion and working-tree encodings make
the two differ. Where a repository uses none of them, which is the rule, nothing is asked of git.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from wherein.external.git_folder import read_setting, user_git_files
from wherein.walk.gathered import Gathered, Repository
from wherein.walk.hidden import MAX_RULE_FILE_BYTES

__all__ = ["Conversions"]

_CONVERTING = re.compile(
    rb"(?:^|\s)[!-]?(?:text|eol|crlf|filter|ident|working-tree-encoding)(?:=|\s|$)|^\s*\[attr\]",
    re.MULTILINE,
)


class Conversions:
    """Decides for each repository once, on first use."""

    def __init__(self, found: Gathered) -> None:
        self._found = found
        self._by_prefix: dict[str, bool] = {}

    def keep_bytes(self, repository: Repository, root: Path) -> bool:
        """Return whether git stores the files of ``repository`` byte for byte."""
        known = self._by_prefix.get(repository.prefix)
        if known is None:
            known = not (
                _has_conversion_settings(repository) or self._has_attributes(repository, root)
            )
            self._by_prefix[repository.prefix] = known
        return known

    def _has_attributes(self, repository: Repository, root: Path) -> bool:
        top = repository.folder.top
        places = [repository.folder.common_dir / "info" / "attributes"]
        below = (root / repository.prefix).resolve()
        while below != top and below != below.parent:
            below = below.parent
            places.append(below / ".gitattributes")
        places.extend(
            root / path
            for path in self._found.candidates
            if path.endswith(".gitattributes") and path.startswith(repository.prefix)
        )
        return any(_CONVERTING.search(_read(place)) for place in places)


def _has_conversion_settings(repository: Repository) -> bool:
    files = [*user_git_files()[:-1], str(repository.folder.common_dir / "config")]
    files.append(str(repository.folder.git_dir / "config.worktree"))
    for file in files:
        place = Path(file)
        if read_setting(place, "core", "attributesfile"):
            return True
        if read_setting(place, "core", "autocrlf").lower() not in {"", "false", "no", "off", "0"}:
            return True
    default = Path(user_git_files()[-1]).with_name("attributes")
    return bool(_CONVERTING.search(_read(default)))


def _read(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(MAX_RULE_FILE_BYTES) or b""
    except OSError:
        return b""
    finally:
        os.close(descriptor)
