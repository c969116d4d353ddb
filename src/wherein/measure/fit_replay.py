"""Collects what a fit learns from the repository's own commits: no request sees a later one.

Each request is asked in its parent's tree with the history up to there, over every file a search
would have there: tests and documentation are candidates, and wrong answers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from wherein.embed.departure import ModelAccess
from wherein.errors import QueryError
from wherein.measure.arms_index import Shared
from wherein.measure.fit import Collected
from wherein.measure.fit_examples import ExamplesBuilder
from wherein.measure.replay_start import Progress, ReplayPlan, open_replay
from wherein.measure.replay_trees import TextTree, read_tree
from wherein.measure.requests import Request, Wanted, is_pool_path
from wherein.search.equipment import Equipment
from wherein.search.pipeline import explain_features
from wherein.settings import Settings
from wherein.walk.classify import classify, skip_reason
from wherein.walk.language import detect_language

__all__ = ["collect_replay"]


def collect_replay(
    root: Path,
    settings: Settings,
    wanted: Wanted,
    *,
    family: Path | None = None,
    progress: Progress | None = None,
    access: ModelAccess | None = None,
) -> Collected:
    """Return the requests of ``wanted`` with the signals of their candidates, oldest first.

    Args:
        root: A working tree or bare repository.
        settings: Chunk size, model, kinds of files.
        wanted: How many commits, and which.
        family: Folder where the commits that are read are kept; None keeps them in memory.
        progress: Told how far it is.
        access: Keys for a model elsewhere, and whom to tell before text goes there.

    Raises:
        PathError: There is no git repository.
        ProviderError: A model elsewhere cannot be reached.
        UsageError: No request is asked for.
        ExternalError: Git failed.
    """
    plan = ReplayPlan(wanted, mode="parent")
    replay = open_replay(root, plan, family)
    requests = replay.selection.requests
    shared = replay.shared(settings, access)
    admits = _searched(settings)
    builder = ExamplesBuilder(replay.name, "replay")
    situations: list[str] = []
    try:
        for number, request in enumerate(requests, start=1):
            tree = read_tree(replay.git, request.parent, replay.contents, admits)
            if progress is not None:
                progress("requests", number, len(requests))
            situation = _add(builder, shared, tree, request)
            if situation:
                situations.append(situation)
    finally:
        shared.indexer.close()
    model = shared.embedder.name if shared.embedder else "none"
    return Collected(builder.build(), tuple(situations), model, str(replay.history.state()))


def _searched(settings: Settings) -> Callable[[str], bool]:
    """Return what tells whether a search would have a path among its candidates."""
    kinds = frozenset(settings.index_kinds)

    @cache
    def is_searched(path: str) -> bool:
        kind, _ = classify(path, detect_language(path))
        return not skip_reason(path) and kind in kinds

    return is_searched


def _add(builder: ExamplesBuilder, shared: Shared, tree: TextTree, request: Request) -> str:
    """Add one request; return the situation it is in, empty when nothing can be asked."""
    index = shared.indexer.index_of(tree)
    source = shared.source_of(index, tree.commit)
    try:
        features = explain_features(
            index,
            request.text,
            Equipment(
                embedder=shared.embedder,
                sources=(source,) if source is not None else (),
                own_names=shared.own_names,
                read_text=tree.text,
            ),
        )
    except QueryError:
        return ""
    targets = set(request.targets)
    builder.add(
        features.names,
        features.matrix,
        labels=[path in targets for path in features.paths],
        counts=[is_pool_path(path) for path in features.paths],
        n_targets=len(targets),
        category=request.kind,
    )
    return features.situation
