"""What a look at a tree found: its paths, and what can change which paths there are."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from wherein.external.git import Git
from wherein.external.git_folder import GitFolder, user_git_files
from wherein.external.git_index import GITLINK, IndexEntry
from wherein.types import Skipped
from wherein.walk.hidden import OWN_IGNORE_FILES, HidingRules, read_rules

__all__ = [
    "RULE_FILES",
    "Candidate",
    "Gathered",
    "Repository",
    "add_parents",
    "add_tracked",
    "note_rules",
    "watch_repository",
]

RULE_FILES = frozenset({".gitignore", *OWN_IGNORE_FILES})
"""Names whose content decides about other files."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository met on the way; ``prefix`` leads to it from the walk's root."""

    folder: GitFolder
    prefix: str
    written_ns: int
    git: Git | None


class Candidate(NamedTuple):
    """A path in the tree's file set, before anything is known of the file."""

    path: str
    entry: IndexEntry | None = None
    repository: Repository | None = None
    """The repository whose index holds ``entry``."""


@dataclass(slots=True)
class Gathered:
    """What a look at the tree found. Filled while walking, only read afterwards."""

    hiding: HidingRules
    candidates: dict[str, Candidate] = field(default_factory=dict[str, Candidate])
    folders: set[str] = field(default_factory=set[str])
    """Every folder that could gain a file of the set; the root is the empty name."""
    watched: set[str] = field(default_factory=set[str])
    """Absolute paths, perhaps absent, whose change can change the set or the head."""
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    notes: list[str] = field(default_factory=list[str])
    head: str | None = None


def add_tracked(
    entries: tuple[IndexEntry, ...], inner: str, repository: Repository, found: Gathered
) -> list[str]:
    """Add the index entries under ``inner`` (of the working tree); return the submodules."""
    cut = len(inner)
    prefix = repository.prefix
    submodules: list[str] = []
    for entry in entries:
        path = entry.path
        if inner and not path.startswith(inner):
            continue
        path = prefix + path[cut:]
        if entry.mode == GITLINK:
            submodules.append(path)
        else:
            found.candidates[path] = Candidate(path, entry, repository)
    return submodules


def watch_repository(folder: GitFolder, root: Path, found: Gathered) -> None:
    """Watch what decides about the files of a repository, also above ``root``."""
    found.watched.update(folder.watched())
    found.watched.update(user_git_files())
    excludes = folder.excludes_file()
    if excludes is not None:
        found.watched.add(str(excludes))
        _note_catch_all(excludes, found)
    above = root
    while above != folder.top and above != above.parent:
        above = above.parent
        found.watched.add(str(above / ".gitignore"))


def _note_catch_all(excludes: Path, found: Gathered) -> None:
    """Say when the user's own ignore file hides everything git does not track."""
    rules = read_rules(excludes)
    for rule in rules.rules if rules is not None else ():
        if rule.pattern in {b"*", b"**", b"/*", b"/**"} and not rule.is_negated:
            shown = f"{excludes}:{rule.line}:{os.fsdecode(rule.pattern)}"
            note = f"untracked files are hidden by the personal rule {shown}"
            if note not in found.notes:
                found.notes.append(note)


def note_rules(place: str, start: str, name: str, found: Gathered) -> None:
    """Watch a rule file of the folder ``start``, and apply it when it is one of ours."""
    found.watched.add(place)
    if name in OWN_IGNORE_FILES:
        found.hiding.add_file(Path(place), start, name)


def add_parents(path: str, known: set[str]) -> None:
    """Add the folders above ``path`` to ``known``, which holds those above each of its own."""
    end = path.rfind("/")
    while end > 0:
        folder = path[:end]
        if folder in known:
            return
        known.add(folder)
        end = path.rfind("/", 0, end)
