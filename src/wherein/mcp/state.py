"""What a running server holds: open workspaces, the conversation's memory, background indexing."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.embed.departure import Departure, ModelAccess
from wherein.errors import WhereinError
from wherein.settings import Settings
from wherein.tools.context import Progress, ToolContext
from wherein.tools.session import Session
from wherein.tools.walk_memory import WalkMemory

if TYPE_CHECKING:
    from wherein.mcp.watch import TreeWatch
    from wherein.workspace import Workspace

__all__ = ["Indexing", "ServerState"]

_MAX_SESSIONS = 64
"""Conversations remembered at once over HTTP; the one unused longest goes first."""


@dataclass(slots=True)
class Indexing:
    """How far the background build of the first index and the reading of the history are."""

    thread: threading.Thread | None = None
    progress: Progress | None = None
    error: str = ""

    @property
    def is_running(self) -> bool:
        """True while the first index is being built or the history is being read."""
        return self.thread is not None and self.thread.is_alive()


@dataclass(slots=True)
class ServerState:
    """Shared by all requests of a server; every method may be called from any thread."""

    settings: Settings
    root: Path
    roots: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Where keys and the user's git settings are; empty: nothing is watched, every answer looks."""
    has_workspace: bool = True
    """False while the server only knows that it was started in no workspace: nothing is indexed."""
    settings_of: Callable[[Path], Settings] | None = None
    """Returns the settings of a root as its files are now."""
    is_root_told: bool = False
    """True when the client said where the workspace is; it may say so again."""
    watch: TreeWatch | None = None
    indexing: Indexing = field(default_factory=Indexing)
    walks: WalkMemory = field(default_factory=WalkMemory)
    stopping: threading.Event = field(default_factory=threading.Event)
    _workspaces: dict[Path, Workspace] = field(default_factory=dict["Path", "Workspace"])
    _departures: list[str] = field(default_factory=list[str])
    _sessions: dict[str, Session] = field(default_factory=dict[str, Session])
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def access(self) -> ModelAccess:
        """Keys for models elsewhere, and how the user is told before text goes there."""
        return ModelAccess(self.environment, self.announce)

    def workspace(self, root: Path) -> Workspace:
        """Return the workspace of ``root``, opened once."""
        with self._lock:
            if root not in self._workspaces:
                from wherein.workspace import Workspace

                settings = self.settings
                if root != self.root and self.settings_of is not None:
                    settings = self.settings_of(root)
                self._workspaces[root] = Workspace(
                    root, settings, is_isolated=True, access=self.access
                )
            return self._workspaces[root]

    def announce(self, departure: Departure) -> None:
        """Say on the log that text leaves for a model elsewhere, and again with the next answer.

        A server has nobody to ask: its user asked for that model by name, in the settings.
        """
        sys.stderr.write(f"wherein: note: {departure.sentence()}\n")
        sys.stderr.flush()
        with self._lock:
            self._departures.append(departure.sentence())

    def take_departures(self) -> tuple[str, ...]:
        """Return what was announced since the last call."""
        with self._lock:
            taken = tuple(dict.fromkeys(self._departures))
            self._departures.clear()
            return taken

    def serve_root(self, root: Path) -> None:
        """Serve ``root`` from now on: the client has said where its workspace is."""
        with self._lock:
            if self.is_root_told and root != self.root:
                self._leave()
            self.root = root
            self.has_workspace = self.is_root_told = True

    def _leave(self) -> None:
        """Let go of the root served so far; what still reads it goes on to its end."""
        self.indexing = Indexing()
        if self.watch is not None:
            self.watch.close()
            self.watch = None

    def take_settings(self) -> None:
        """Read the settings of the root anew where they changed, for all that is asked from now on.

        Raises:
            SettingsError: A file does not parse, a name is unknown, or a value is invalid.
        """
        if self.settings_of is None:
            return
        settings = self.settings_of(self.root)
        with self._lock:
            if settings != self.settings:
                self.settings = settings
                self._workspaces.clear()
                self._leave()

    def forget_told_root(self) -> None:
        """Have the client asked again before the next call: it says that its roots changed."""
        with self._lock:
            if self.is_root_told:
                self.has_workspace = False

    def session(self, session_id: str) -> Session:
        """Return the memory of a conversation; standard input and output have exactly one."""
        with self._lock:
            session = self._sessions.pop(session_id, None) or Session()
            self._sessions[session_id] = session
            if len(self._sessions) > _MAX_SESSIONS:
                self._sessions.pop(next(iter(self._sessions)))
            return session

    def context(
        self,
        session: Session | None,
        on_progress: Callable[[Progress], None],
        is_cancelled: Callable[[], bool],
    ) -> ToolContext:
        """Return the surroundings of one call."""
        return ToolContext(
            settings=self.settings,
            root=self.root,
            roots=self.roots,
            open_workspace=self.workspace,
            on_progress=on_progress,
            is_cancelled=lambda: is_cancelled() or self.stopping.is_set(),
            session=session,
            walks=self.walks,
            access=self.access,
        )

    def start_indexing(self) -> None:
        """Bring the index and the history of the root up to date in the background, once."""
        with self._lock:
            if self.indexing.thread is None and self.has_workspace:
                thread = threading.Thread(
                    target=self._index,
                    args=(self.root, self.indexing),
                    name="wherein-indexing",
                    daemon=True,
                )
                self.indexing.thread = thread
                thread.start()

    def _index(self, root: Path, indexing: Indexing) -> None:
        def note_progress(progress: Progress) -> None:
            indexing.progress = progress

        try:
            context = self.context(None, note_progress, lambda: self.indexing is not indexing)
            context.stop_if_cancelled()
            workspace = self.workspace(root)
            with workspace.history_aside():
                workspace.refresh(progress=context.report)
                self._watch(root, workspace)
                workspace.read_history(progress=context.report)
        except (WhereinError, OSError) as error:
            indexing.error = str(error)

    def _watch(self, root: Path, workspace: Workspace) -> None:
        if not self.environment:
            return
        from wherein.mcp.watch import make_watch

        watch = make_watch(root, self.environment)
        with self._lock:
            if root == self.root:
                self.watch = watch
                workspace.trust(watch)
            elif watch is not None:
                watch.close()
