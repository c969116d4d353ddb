"""What a tool function is given besides its arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.errors import PathError, WhereinError
from wherein.indexing.progress import Progress
from wherein.settings import Settings
from wherein.tools.file_paths import WIDEN_HINT
from wherein.tools.session import Session
from wherein.tools.walk_memory import WalkMemory

if TYPE_CHECKING:
    from wherein.embed.departure import ModelAccess
    from wherein.workspace import Workspace

__all__ = ["CancelledError", "Progress", "ToolContext"]


class CancelledError(WhereinError):
    """The asker no longer wants the answer."""


_FOREVER_S = 86_400.0
"""A day, the most that the setting takes."""


def _no_progress(_progress: Progress) -> None:
    return


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The surroundings of one call: the folder, the settings, and how to talk back.

    Args:
        settings: The effective settings.
        root: Real path of the workspace root; no path may leave it.
        standing: Real path of the folder the caller stands in; None for the root.
        roots: Further folders that may be read (real paths).
        may_name_roots: True on the command line, where the person names folders to search; a
            server's arguments may only name places inside ``root`` and ``roots``.
        is_patient: True where the first index is waited for, however long it takes (command
            line); a server answers from what there is so far.
        open_workspace: Returns the workspace of a folder; a server keeps them open.
        on_progress: Told how far a long step is.
        is_cancelled: Asked between steps; True means nobody waits for the answer.
        session: Memory of the conversation; None where there is none (command line).
        walks: What earlier calls learned of the trees they searched; a server shares it.
        access: Keys for models elsewhere, and how the user is told before text goes there.
        settings_of: Returns the settings of a folder as its files are now: of another repository
            that is searched, and, before each call, of the folder that a server's client names.
    """

    settings: Settings
    root: Path
    standing: Path | None = None
    roots: tuple[Path, ...] = ()
    may_name_roots: bool = False
    is_patient: bool = False
    open_workspace: Callable[[Path], Workspace] | None = None
    on_progress: Callable[[Progress], None] = field(default=_no_progress)
    is_cancelled: Callable[[], bool] = field(default=_never)
    session: Session | None = None
    walks: WalkMemory = field(default_factory=WalkMemory)
    access: ModelAccess | None = None
    settings_of: Callable[[Path], Settings] | None = None

    def workspace(self, root: Path) -> Workspace:
        """Return the workspace of ``root``, opened as the face wants it."""
        if self.open_workspace is not None:
            return self.open_workspace(root)
        from wherein.workspace import Workspace

        settings = self.settings_for(root)
        if self.is_patient:
            settings = settings.replace(refresh_seconds=_FOREVER_S)
        return Workspace(root, settings, access=self.access)

    def settings_for(self, root: Path) -> Settings:
        """Return the settings that count in ``root``: its own, where it is another repository.

        Raises:
            SettingsError: Its settings file does not parse, or says something that is not known.
        """
        if root == self.root or self.settings_of is None:
            return self.settings
        return self.settings_of(root)

    def report(self, progress: Progress) -> None:
        """Tell the asker how far a long step is, and stop when nobody waits for it any more."""
        self.stop_if_cancelled()
        self.on_progress(progress)

    def stop_if_cancelled(self) -> None:
        """Raise `CancelledError` when nobody waits for the answer any more."""
        if self.is_cancelled():
            message = "cancelled"
            raise CancelledError(message)

    def resolve_folder(self, name: str) -> Path:
        """Return the real path of a file or folder that the caller named.

        Raises:
            PathError: It does not exist, or lies outside the allowed folders.
        """
        path = Path(name).expanduser() if self.may_name_roots else Path(name)
        path = path if path.is_absolute() else (self.standing or self.root) / path
        try:
            real = path.resolve(strict=True)
        except (OSError, RuntimeError, ValueError) as error:
            message = f"no such file or folder: {name!r}"
            raise PathError(message, hint=f"paths start at {self.standing or self.root}") from error
        if not self.may_name_roots and not self.allows(real):
            message = f"{name!r} is outside {self.root}"
            raise PathError(message, hint=WIDEN_HINT)
        return real

    def allows(self, real: Path) -> bool:
        """Return True when a real path lies in the root or in one of the further folders."""
        return any(real.is_relative_to(root) for root in (self.root, *self.roots))
