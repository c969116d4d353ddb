"""Learns a glossary from one part of the history and tries it on the part after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wherein.external.git import Git
from wherein.glossary import GlossaryLine, said_terms
from wherein.history.open import History
from wherein.history.source import tree_paths
from wherein.measure.arms_grep import GrepArm
from wherein.measure.glossary_diffs import names_on_changed_lines
from wherein.measure.glossary_mining import MinedPair, mine_commits, usable_rows
from wherein.measure.glossary_names import NameIndex, index_names
from wherein.measure.glossary_sources import mine_docs, mine_sessions
from wherein.measure.glossary_trial import KeptLine, Trial, keep_lines
from wherein.measure.replay_start import open_history, read_first
from wherein.measure.replay_trees import Contents, TextTree, read_tree
from wherein.measure.requests import Selection, Wanted, select_requests, with_kinds
from wherein.transcripts.values import Session

__all__ = ["Study", "Window", "as_pair", "choose", "mine", "open_study", "split_requests"]

_MAX_DIFFS = 2500
"""Newest commits whose changed lines are read: 3 to 5 s of git on a large repository."""

_MAX_SHARE = 0.34
"""Requests are at most a third of the commits that can be some: the rest is to be mined."""

_MAX_WINDOWS = 2
"""An earlier window tries the lines of longer ago on twice as many requests."""

_MIN_REQUESTS = 2
_CHOSEN_SHARE = 0.6
"""The older requests choose the lines, the newer ones only measure what was chosen."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Window:
    """Requests, and the tree before the first of them: mined up to it, tried on what came after."""

    selection: Selection
    tree: TextTree
    arm: GrepArm


@dataclass(frozen=True)
class Study:
    """One repository with the windows its requests are in, oldest first."""

    git: Git
    history: History
    contents: Contents
    windows: tuple[Window, ...]

    @property
    def newest(self) -> Window:
        """The window whose newer requests prove."""
        return self.windows[-1]


def open_study(
    root: Path, family: Path | None, n: int, progress: Progress | None = None
) -> Study | None:
    """Return the repository with its requests, None where there are no requests or no history.

    Args:
        root: A working tree or bare repository.
        family: Folder where the commits that are read are kept; None keeps them in memory.
        n: How many commits of one window become requests, at most.
        progress: Told how far the reading of commits is.

    Raises:
        PathError: There is no git repository.
        ExternalError: Git failed.
    """
    git, history = open_history(root, family)
    read_first(git, history, progress)
    contents = Contents(git)
    windows: list[Window] = []
    tip = git.head()
    while tip is not None and len(windows) < _MAX_WINDOWS:
        window = _window(git, history, contents, tip, n)
        if window is None:
            break
        windows.append(window)
        tip = window.tree.commit
    return Study(git, history, contents, tuple(reversed(windows))) if windows else None


def _window(git: Git, history: History, contents: Contents, tip: str, n: int) -> Window | None:
    """Return the requests of the commits up to ``tip``, or None where there are too few."""
    view = history.view((), tip)
    if view is None:
        return None
    eligible = select_requests(view, Wanted(n=1_000_000), snapshot_files=None)
    n = min(n, int(len(eligible.requests) * _MAX_SHARE))
    if n < _MIN_REQUESTS:
        return None
    selection = select_requests(
        view,
        Wanted(n=n),
        snapshot_files=lambda commit: [path for path, _, _ in tree_paths(git, commit)],
    )
    if not selection.requests:
        return None
    tree = read_tree(git, selection.snapshot, contents)
    known: dict[str, bool] = {}

    def is_identifier(_request: object, word: str) -> bool:
        if word not in known:
            known[word] = tree.has_identifier(word)
        return known[word]

    arm = GrepArm()
    arm.prepare(tree)
    return Window(with_kinds(selection, is_identifier), tree, arm)


def mine(
    study: Study, sessions: Sequence[Session] = (), *, progress: Progress | None = None
) -> list[MinedPair]:
    """Return all pairs that the history, the documents and the sessions before a window give.

    For each window no commit after its cut is looked at, and no tree but the one at the cut; what
    it gives can be proved by requests after the cut alone.
    """
    tell = progress or _silent
    found: dict[tuple[frozenset[str], str], MinedPair] = {}
    known_from = 0
    for number, window in enumerate(study.windows):
        tell("mining", number, len(study.windows))
        names = index_names(window.tree)
        pairs = [*_from_commits(study, window, names), *mine_docs(study.git, window.tree, names)]
        if sessions and window is study.newest:
            pairs += mine_sessions(sessions, study.git.top, window.tree, names)
        for pair in pairs:
            later = replace(pair, known_from=max(pair.known_from, known_from))
            found.setdefault((pair.terms, pair.line.name), later)
        # Clocks differ: whatever a later window gives must not be tried on this one's requests.
        known_from = max(known_from, *(one.time for one in window.selection.requests))
    tell("mining", len(study.windows), len(study.windows))
    return sorted(found.values(), key=lambda one: (-one.weight, one.line.said, one.line.name))


def _from_commits(study: Study, window: Window, names: NameIndex) -> list[MinedPair]:
    view = study.history.view(window.tree.paths, window.tree.commit)
    if view is None:
        return []
    rows = usable_rows(view)[-_MAX_DIFFS:]
    shas = [line.sha for line in view.lines(rows)]
    changed = names_on_changed_lines(study.git, shas, names.files.keys())
    return mine_commits(view, window.tree, names, changed)


def split_requests(study: Study) -> tuple[Trial, Trial]:
    """Return the older requests, on which lines are chosen, and the newer ones that prove them."""
    newest = study.newest
    requests = newest.selection.requests
    cut = max(int(len(requests) * _CHOSEN_SHARE), 1)
    older = [(window.arm, window.selection.requests) for window in study.windows[:-1]]
    chosen_on = Trial([*older, (newest.arm, requests[:cut])])
    return chosen_on, Trial([(newest.arm, requests[cut:])])


def choose(
    pairs: Sequence[MinedPair],
    trial: Trial,
    *,
    max_tokens: int,
    today: Callable[[GlossaryLine], GlossaryLine | None],
) -> tuple[KeptLine, ...]:
    """Return the lines that help in the trial, as they read today.

    Args:
        pairs: Most promising first.
        trial: The requests.
        max_tokens: What all lines may cost.
        today: Returns the line with the file's name of today, None when file or name is gone.
    """
    living = [replace(pair, line=line) for pair in pairs if (line := today(pair.line)) is not None]
    return keep_lines(living, trial, max_tokens=max_tokens)


def _silent(_step: str, _done: int, _total: int) -> None:
    return


def as_pair(line: GlossaryLine, known_from: int) -> MinedPair:
    """Return a line of a file as a pair to be tried on requests after ``known_from``."""
    return MinedPair(line, said_terms(line.said), 0, 0, "file", known_from)
