"""Replays a repository's own commits as requests to several searchers, and compares them."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from wherein.embed.departure import ModelAccess
from wherein.errors import UsageError
from wherein.external.git import Git
from wherein.history.open import History
from wherein.measure.arms import Arm, Found
from wherein.measure.arms_grep import MAX_ROUNDS, GrepArm, search_words
from wherein.measure.arms_index import INDEX_ARMS, IndexArm, Shared
from wherein.measure.arms_own import parse_arm
from wherein.measure.replay_start import Progress, Replay, ReplayPlan, open_replay
from wherein.measure.replay_trees import TextTree, read_tree
from wherein.measure.report import Case, ReplayReport, SizeFigures, make_report
from wherein.measure.requests import Request
from wherein.metrics import hit_at
from wherein.settings import Settings

__all__ = ["replay_repository"]

_SIZE_SHARES = (0.5, 0.25)
_SHARE_NAMES = {0.5: "a half", 0.25: "a quarter"}
_MAX_FAILURES_TOLD = 5


def replay_repository(
    root: Path,
    settings: Settings,
    plan: ReplayPlan,
    *,
    family: Path | None = None,
    progress: Progress | None = None,
    access: ModelAccess | None = None,
) -> ReplayReport:
    """Replay the commits of the repository at ``root`` up to the one checked out.

    Trees come from git's objects and are indexed in a store of their own: neither the working tree
    nor the user's index is read or written.

    Args:
        root: A working tree or bare repository.
        settings: Chunk size, model, limits.
        plan: What to replay.
        family: Folder where the commits that are read are kept; None keeps them in memory.
        progress: Told how far it is.
        access: Keys for a model elsewhere, and whom to tell before text goes there.

    Raises:
        PathError: There is no git repository.
        ProviderError: A model elsewhere cannot be reached.
        UsageError: The plan names an unknown arm or mode, or asks for no request.
        ExternalError: Git failed.
    """
    started = time.process_time()
    replay = open_replay(root, plan, family)
    git, history, selection = replay.git, replay.history, replay.selection
    if not selection.requests:
        state = history.state()
        reason = "no commit can be a request" if state.n_commits else "no commit yet"
        notes = (reason, *_state_notes(git, history))
        return make_report(
            (), plan.arms, repository=str(root), mode=plan.mode, history=str(state),
            skipped=selection.skipped, notes=notes,
        )  # fmt: skip
    shared = replay.shared(settings, access)
    taught_by = _taught_by(git, plan)
    arms = _make_arms(plan, shared, taught_by)
    try:
        cases, tree = _run(replay, plan, arms, progress)
        sizes = _sizes(cases, arms, tree, shared) if plan.with_sizes and tree is not None else ()
    finally:
        for arm in arms:
            arm.close()
        shared.indexer.close()
    return make_report(
        cases,
        [arm.name for arm in arms],
        repository=str(root),
        mode=plan.mode,
        history=str(history.state()),
        snapshot=selection.snapshot,
        n_files=len(tree.files) if tree is not None else 0,
        skipped=selection.skipped,
        sizes=sizes,
        notes=(
            *_notes(git, cases, history, plan),
            *_size_notes(cases, sizes),
            *_glossary_notes(cases, plan, taught_by),
        ),
        cpu_seconds=time.process_time() - started,
    )


def _taught_by(git: Git, plan: ReplayPlan) -> frozenset[str]:
    """Return the commits the plan's glossary may have been learned from; none when unknown."""
    if not plan.glossary or not plan.glossary_until:
        return frozenset()
    done = git.run("rev-list", "--end-of-options", plan.glossary_until)
    return frozenset(done.stdout.decode("ascii", "replace").split())


def _make_arms(plan: ReplayPlan, shared: Shared, taught_by: frozenset[str]) -> list[Arm]:
    arms: list[Arm] = []
    names = [*plan.arms]
    if plan.glossary and "glossary" not in names:
        names.append("glossary")
    for name in names:
        if name == "glossary":
            arms.append(GrepArm("glossary", plan.glossary or {}, taught_by))
        elif name == "grep":
            arms.append(GrepArm())
        elif name in INDEX_ARMS:
            arms.append(IndexArm(name, shared))
    arms.extend(parse_arm(text) for text in plan.own_arms)
    taken = [arm.name for arm in arms]
    twice = next((name for name in taken if taken.count(name) > 1), None)
    if twice is not None:
        message = f"two arms are called {twice!r}"
        raise UsageError(message, hint="give each its own name")
    return arms


def _run(
    replay: Replay, plan: ReplayPlan, arms: Sequence[Arm], progress: Progress | None
) -> tuple[list[Case], TextTree | None]:
    """Answer every request with every arm; return the cases and, in snapshot mode, the tree."""
    git, contents, selection = replay.git, replay.contents, replay.selection
    tree = read_tree(git, selection.snapshot, contents) if plan.mode == "snapshot" else None
    if tree is not None:
        for arm in arms:
            arm.prepare(tree)
    cases: list[Case] = []
    for number, request in enumerate(selection.requests, start=1):
        if plan.mode == "parent":
            tree = read_tree(git, request.parent, contents)
            for arm in arms:
                arm.prepare(tree)
        assert tree is not None  # noqa: S101 - one of the two modes made it
        if progress is not None:
            progress("requests", number, len(selection.requests))
        found = {arm.name: _answer(arm, request, tree) for arm in arms}
        cases.append(Case(request, found, _is_in_words(request, tree)))
    return cases, tree if plan.mode == "snapshot" else None


def _answer(arm: Arm, request: Request, tree: TextTree) -> Found:
    found = arm.search(request)
    known = [item for item in found.opened if item.path in tree.files]
    if len(known) == len(found.opened):
        return found
    return Found(
        tuple(known), found.overhead_tokens, found.n_rounds, found.seconds, found.note, found.words
    )


def _is_in_words(request: Request, tree: TextTree) -> bool:
    """Return whether a word that a searcher would try stands in a file the commit changed."""
    words = search_words(request.text)[:MAX_ROUNDS]
    texts = [tree.text(path).lower() for path in request.targets if path in tree.files]
    return any(word.lower() in text for word in words for text in texts)


def _sizes(
    cases: Sequence[Case], arms: Sequence[Arm], tree: TextTree, shared: Shared
) -> tuple[SizeFigures, ...]:
    """Return hit@10 of the built-in arms with all, a half and a quarter of the files."""
    inside = [arm for arm in arms if isinstance(arm, GrepArm | IndexArm)]
    targets = {path for case in cases for path in case.request.targets}
    others = [path for path in tree.paths if path not in targets]
    random.Random(0).shuffle(others)  # noqa: S311 - a repeatable draw, no secret
    found = [SizeFigures(arm.name, 1.0, len(tree.files), _rate(arm, cases, None)) for arm in inside]
    for share in _SIZE_SHARES:
        n_kept = int(len(tree.files) * share) - len(targets)
        if n_kept <= 0:  # the changed files alone are more than that
            continue
        paths = frozenset([*targets, *others[:n_kept]])
        part = tree.part(sorted(paths))
        for arm in inside:
            if isinstance(arm, IndexArm):
                arm.use(part, shared.indexer.part_of(tree, paths))
            else:
                arm.prepare(part)
            found.append(SizeFigures(arm.name, share, len(part.files), _rate(arm, cases, arm)))
    return tuple(
        sorted(found, key=lambda item: ([a.name for a in arms].index(item.arm), -item.share))
    )


def _size_notes(cases: Sequence[Case], sizes: Sequence[SizeFigures]) -> tuple[str, ...]:
    """Return which sizes were left out, and why."""
    searched = {item.share for item in sizes}
    missing = [_SHARE_NAMES[share] for share in _SIZE_SHARES if share not in searched]
    if not sizes or not missing:
        return ()
    n_changed = len({path for case in cases for path in case.request.targets})
    what = " and ".join(missing)
    n_files = max(item.n_files for item in sizes)
    return (f"{what} of the {n_files} files was not searched: the requests change {n_changed}",)


def _rate(arm: Arm, cases: Sequence[Case], again: Arm | None) -> float:
    hits = [
        hit_at(
            (again.search(case.request) if again is not None else case.found[arm.name]).paths,
            case.request.targets,
            10,
        )
        for case in cases
    ]
    return sum(hits) / len(hits)


def _notes(git: Git, cases: Sequence[Case], history: History, plan: ReplayPlan) -> tuple[str, ...]:
    notes = _state_notes(git, history)
    if len(cases) < plan.wanted.n:
        notes.append(f"only {len(cases)} of {plan.wanted.n} commits could be requests")
    failed = Counter(
        f"arm {name}: {found.note}"
        for case in cases
        for name, found in case.found.items()
        if found.note
    )
    told = [f"{what} ({n} of {len(cases)} requests)" for what, n in sorted(failed.items())]
    if len(told) > _MAX_FAILURES_TOLD:
        told[_MAX_FAILURES_TOLD:] = [f"and {len(told) - _MAX_FAILURES_TOLD} other failures"]
    return (*notes, *told)


def _glossary_notes(
    cases: Sequence[Case], plan: ReplayPlan, taught_by: frozenset[str]
) -> tuple[str, ...]:
    """Return what is to be said of requests that the glossary may have been learned from."""
    if not plan.glossary:
        return ()
    if not taught_by:
        what = "the glossary does not say which commits here it was learned from"
        return (f"{what}: it may hold the answers of some requests",)
    n = sum(case.request.sha in taught_by for case in cases)
    until = plan.glossary_until[:12]
    return (
        (f"{n} of {len(cases)} requests were answered without the glossary, learned until {until}",)
        if n
        else ()
    )


def _state_notes(git: Git, history: History) -> list[str]:
    notes: list[str] = []
    if git.run("symbolic-ref", "-q", "HEAD").returncode != 0:
        notes.append("HEAD is detached: the commits before it were replayed")
    if note := history.state().note:
        notes.append(note)
    return notes
