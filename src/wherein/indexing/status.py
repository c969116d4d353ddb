"""What the index of one tree holds, for people."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from wherein.store.manifest import Manifest
from wherein.store.tree_index import TreeIndex
from wherein.types import Skipped
from wherein.walk.walker import with_links_now

__all__ = ["Status", "with_index"]


@dataclass(frozen=True, slots=True)
class Status:
    """What the index of a workspace holds; without one, only what the workspace is."""

    root: Path
    model: str
    reranker: str
    is_indexing: bool
    """True while another process writes this index."""
    n_bytes: int
    """Size of the family's index on the disk: worktrees of one repository share it."""
    is_indexed: bool = False
    is_fresh: bool = False
    """True when the files are as they were when they were indexed."""
    is_outdated: bool = False
    """True when another model, or another version, made it: the next search makes it anew."""
    n_files: int = 0
    n_chunks: int = 0
    languages: tuple[tuple[str, int], ...] = ()
    """Language and its number of files, most files first."""
    skipped: tuple[Skipped, ...] = ()
    """Files that are not indexed, sorted by path."""
    not_covered: tuple[str, ...] = ()
    """Files an unfinished build has not come to."""
    snapshot_id: str = ""
    head: str | None = None

    @property
    def skipped_by_reason(self) -> tuple[tuple[str, int], ...]:
        """Reason and number of files, by reason."""
        return tuple(sorted(Counter(item.reason for item in self.skipped).items()))


def with_index(status: Status, manifest: Manifest, index: TreeIndex) -> Status:
    """Return ``status`` with what an index holds.

    Raises:
        CorruptIndexError: A part of the index that is read for it is damaged.
    """
    head, entries = manifest.head, manifest.entries
    codes: list[int] = entries.columns["language"].tolist()
    counts = Counter(entries.languages[code] or "text" for code in codes)
    return replace(
        status,
        is_indexed=True,
        n_files=head.n_files,
        n_chunks=index.n_live_chunks,
        languages=tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
        skipped=with_links_now(status.root, manifest.skipped),
        not_covered=manifest.pending,
        snapshot_id=head.snapshot_id,
        head=head.commit,
    )
