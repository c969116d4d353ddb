"""Which repository's history is asked, and for what place in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.errors import PathError, UsageError
from wherein.tools.context import ToolContext
from wherein.tools.file_paths import Place, Scope, resolve_place

if TYPE_CHECKING:
    from wherein.external.git import Git
    from wherein.history.open import History
    from wherein.history.view import HistoryView

__all__ = ["AskedHistory", "split_place"]


@dataclass(frozen=True, slots=True)
class AskedHistory:
    """The repository that is asked."""

    scope: Scope
    git: Git
    history: History
    view: HistoryView | None

    @classmethod
    def open(cls, context: ToolContext, name: str) -> AskedHistory:
        """Return the repository of a named place, the root's where it names none.

        Raises:
            PathError: There is no git repository.
        """
        from wherein.history.open import History
        from wherein.history.source import BareGit, open_source
        from wherein.search.earlier_commits import commits_told
        from wherein.store.layout import Layout

        scope = Scope.of(context)
        git = open_source(_folder_of(scope, name))
        if git is None:
            message = f"{str(scope.root)!r} is not a git repository"
            raise PathError(message, hint="history needs commits; the other tools work without")
        family = Layout.of(context.settings.home, git.top, git.common_dir).family
        opened = History(git, family)
        if isinstance(git, BareGit):
            from wherein.history.source import tree_paths

            head = git.head()
            paths = [path for path, _, _ in tree_paths(git, head)] if head is not None else []
        else:
            paths = sorted(set(git.ls_files("--cached")))
        told = commits_told(context.report)
        return cls(scope, git, opened, opened.view(paths, progress=told))

    @property
    def known(self) -> HistoryView:
        """The history; only to be asked for when there is one."""
        assert self.view is not None  # noqa: S101 - `history` says so where there is none
        return self.view

    def known_path(self, name: str) -> tuple[str, Place | None]:
        """Return a path relative to git's root, and the file when it exists.

        Raises:
            PathError: There is no such file and there never was.
        """
        try:
            found = resolve_place(self.scope, name)
        except PathError as error:
            gone = name.strip("/").removeprefix("./")
            if self.view is not None and self.view.has_path(self.git.prefix + gone):
                return gone, None
            raise error from None
        real = found.real
        if not real.is_relative_to(self.git.root):
            message = f"{name!r} is outside the repository at {str(self.git.root)!r}"
            raise PathError(message)
        return real.relative_to(self.git.root).as_posix(), found


def _folder_of(scope: Scope, name: str) -> Path:
    """Return the folder whose repository is asked: that of the named file, else the root."""
    from wherein.configuration import find_root

    try:
        found = resolve_place(scope, split_place(name)[0]) if name else None
    except (PathError, UsageError):
        found = None
    if found is None:
        return scope.root
    folder = found.real if found.is_folder else found.real.parent
    root = find_root(folder)
    return scope.root if scope.root.is_relative_to(root) else root


def split_place(place: str) -> tuple[str, tuple[int, int] | None, str]:
    """Return path, lines and symbol of ``path``, ``path:12``, ``path:3-9`` or ``path#Name``."""
    name, mark, symbol = place.rpartition("#")
    if mark and name and symbol:
        return name, None, symbol
    name, mark, lines = place.rpartition(":")
    first, dash, last = lines.partition("-")
    if mark and name and first.isdecimal() and (not dash or last.isdecimal()):
        start, end = int(first), int(last or first)
        if start < 1 or end < start:
            message = f"{place!r} names no lines"
            raise UsageError(message, hint="write path:line or path:first-last, from 1")
        return name, (start, end), ""
    return place, None, ""
