"""What a replay starts from: the requests of a repository, and what all answers share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wherein.embed.departure import ModelAccess
from wherein.embed.load import load_embedder
from wherein.errors import PathError, UsageError, near_name_hint
from wherein.external.git import Git
from wherein.history.open import History
from wherein.history.source import open_source, tree_paths
from wherein.measure.arms import ARM_HELP
from wherein.measure.arms_index import Shared
from wherein.measure.replay_index import ReplayIndexer
from wherein.measure.replay_trees import Contents, read_tree
from wherein.measure.requests import Request, Selection, Wanted, select_requests, with_kinds
from wherein.settings import Settings
from wherein.store.layout import VECTORS_FILE

__all__ = [
    "DEFAULT_ARMS",
    "Progress",
    "Replay",
    "ReplayPlan",
    "open_history",
    "open_replay",
    "read_first",
]

_MODES = ("snapshot", "parent")
"""``snapshot``: one tree older than all requests. ``parent``: each request in its parent's tree."""

DEFAULT_ARMS = ("grep", "lexical", "semantic", "history", "hybrid")

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True)
class ReplayPlan:
    """What to replay."""

    wanted: Wanted = field(default_factory=Wanted)
    mode: str = "snapshot"
    arms: tuple[str, ...] = DEFAULT_ARMS
    own_arms: tuple[str, ...] = ()
    """``name=command {query}``."""
    glossary: Mapping[str, tuple[str, ...]] | None = None
    """What people say to what the code says; adds the ``glossary`` arm."""
    glossary_until: str = ""
    """The last commit the glossary may have been learned from; empty when it is not said."""
    with_sizes: bool = True


@dataclass(frozen=True, slots=True)
class Replay:
    """A repository whose commits are asked for."""

    git: Git
    history: History
    contents: Contents
    selection: Selection
    """The requests, oldest first, with their kinds."""
    family: Path | None = None
    """Where vectors that a model elsewhere made are kept, too."""

    @property
    def name(self) -> str:
        """What the repository is called."""
        return self.git.top.name.removesuffix(".git")

    def shared(self, settings: Settings, access: ModelAccess | None) -> Shared:
        """Return what all answers use together; its indexer is the caller's to close.

        Raises:
            ProviderError: A model elsewhere cannot be reached.
        """
        embedder = load_embedder(settings, access)
        vectors = self.family / VECTORS_FILE if self.family is not None else None
        indexer = ReplayIndexer(settings, embedder, vectors)
        return Shared(indexer, embedder, self.history, (self.name,))


def open_replay(root: Path, plan: ReplayPlan, family: Path | None) -> Replay:
    """Return the requests of ``plan`` in the repository at ``root``.

    Args:
        root: A working tree or bare repository.
        plan: What to replay.
        family: Folder where the commits that are read are kept; None keeps them in memory.

    Raises:
        PathError: There is no git repository.
        UsageError: The plan names an unknown arm or mode, or asks for no request.
        ExternalError: Git failed.
    """
    _check(plan)
    git, history = open_history(root, family)
    contents = Contents(git)
    return Replay(git, history, contents, _select(git, history, plan, contents), family)


def open_history(root: Path, family: Path | None) -> tuple[Git, History]:
    """Return git and the history of the whole repository of a folder, or of a bare one.

    Raises:
        PathError: There is no git repository.
    """
    found = open_source(root)
    # Trees and requests name their files from the top, so history has to as well.
    git = open_source(found.top) if found is not None else None
    if git is None:
        message = f"{str(root)!r} is not a git repository"
        raise PathError(message, hint="replay needs commits; the other tools work without")
    return git, History(git, family)


def read_first(git: Git, history: History, progress: Progress | None) -> None:
    """Read the commits that are new, telling ``progress`` how far it is."""
    head = git.head()
    if head is not None and progress is not None:
        history.view((), head, lambda n_done, n_total: progress("reading commits", n_done, n_total))


def _check(plan: ReplayPlan) -> None:
    """Refuse a plan that makes no sense."""
    if plan.mode not in _MODES:
        message = f"unknown mode {plan.mode!r}"
        raise UsageError(
            message, hint=near_name_hint(plan.mode, _MODES, fallback=f"one of {_MODES}")
        )
    if plan.wanted.n < 1:
        message = f"the number of requests cannot be {plan.wanted.n}"
        raise UsageError(message, hint="give 1 or more")
    for name in plan.arms:
        if name not in ARM_HELP:
            message = f"unknown arm {name!r}"
            fallback = f"one of {', '.join(ARM_HELP)}, or name=command {{query}}"
            raise UsageError(message, hint=near_name_hint(name, ARM_HELP, fallback=fallback))


def _select(git: Git, history: History, plan: ReplayPlan, contents: Contents) -> Selection:
    """Return the requests of ``plan``, oldest first, with their kinds."""
    head = git.head()
    view = history.view((), head) if head is not None else None
    if view is None:
        return Selection((), "", {})

    def snapshot_files(commit: str) -> list[str]:
        return [path for path, _, _ in tree_paths(git, commit)]

    selection = select_requests(
        view, plan.wanted, snapshot_files=snapshot_files if plan.mode == "snapshot" else None
    )
    if not selection.requests:
        return selection
    # One tree decides what is a name of the code: the oldest, which no request can have changed.
    oldest = read_tree(git, selection.snapshot or selection.requests[0].parent, contents)
    known: dict[str, bool] = {}

    def is_identifier(_request: Request, word: str) -> bool:
        if word not in known:
            known[word] = oldest.has_identifier(word)
        return known[word]

    return with_kinds(selection, is_identifier)
