"""Asks until the files of an answer are as they were when they were indexed."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace

from wherein.indexing.coverage import Coverage
from wherein.indexing.live import LiveIndex
from wherein.indexing.progress import ProgressCallback
from wherein.search.verified import VerifiedTexts
from wherein.store.manifest import Manifest
from wherein.store.tree_index import TreeIndex
from wherein.types import Answer
from wherein.walk.walker import with_links_now

__all__ = ["Ask", "checked_answer"]

_TRIES = 3
"""A file that changes between three answers and their verification is named as not covered."""

Ask = Callable[[TreeIndex, Manifest, VerifiedTexts], Answer]
"""Answers from an index, its manifest and the texts of its files."""


def checked_answer(live: LiveIndex, ask: Ask, progress: ProgressCallback | None) -> Answer:
    """Return what ``ask`` answers from the files as they are now.

    Args:
        live: The index, which is brought up to date first, within the time there is.
        ask: Asked again while a hit's file is not as it was indexed.
        progress: Told how far the index is, while it is waited for.

    Returns:
        The answer with ``not_covered``: files that the index does not cover.

    Raises:
        StoreError: The index cannot be used.
    """
    answer, coverage, texts = _asked(live, ask, frozenset(), progress)
    read, indexed = coverage.files_read + texts.n_files, coverage.files_indexed
    for _ in range(_TRIES):
        doubted = texts.doubted(hit.path for hit in answer.hits)
        if not doubted:
            break
        answer, coverage, texts = _asked(live, ask, doubted, progress)
        read += coverage.files_read + texts.n_files
        indexed += coverage.files_indexed
    else:
        doubted = texts.doubted(hit.path for hit in answer.hits)
        not_covered = tuple(sorted({*coverage.not_covered, *doubted}))
        coverage = replace(coverage, not_covered=not_covered)
        hits = tuple(hit for hit in answer.hits if hit.path not in doubted)
        answer = replace(answer, hits=hits)
    counters = replace(
        answer.counters,
        files_read=read,
        files_indexed=indexed,
        bytes_read=answer.counters.bytes_read + texts.n_bytes,
    )
    return replace(
        answer,
        notes=_notes(answer, coverage),
        skipped=with_links_now(live.root, coverage.manifest.skipped),
        not_covered=coverage.not_covered,
        counters=counters,
    )


def _asked(
    live: LiveIndex, ask: Ask, doubted: Set[str], progress: ProgressCallback | None
) -> tuple[Answer, Coverage, VerifiedTexts]:
    def work() -> tuple[Answer, Coverage, VerifiedTexts]:
        coverage = live.refresh_in_time(doubted, progress)
        texts = VerifiedTexts(live.root, coverage.manifest)
        index = live.opened(coverage)
        try:
            return ask(index, coverage.manifest, texts), coverage, texts
        finally:
            texts.close()

    return live.healed(work)


def _notes(answer: Answer, coverage: Coverage) -> tuple[str, ...]:
    from wherein.search.pipeline import NOTHING_INDEXED

    notes = [*answer.notes, *coverage.notes]
    if coverage.not_covered:
        notes = [note for note in notes if note != NOTHING_INDEXED]
    if coverage.failure is not None:
        notes.append(f"the model gave no vectors for what is new: {coverage.failure.message}")
    return tuple(notes)
