"""The history as one tree sees it: the commits before it, voting for files that exist in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wherein.history.block import Block, commits_of, hex_shas, raw_shas
from wherein.history.log import Change
from wherein.history.messages import CommitFlag
from wherein.history.renames import follow_renames, global_changes
from wherein.tokens import term_id

__all__ = ["CommitLine", "HistoryView", "Postings"]


@dataclass(frozen=True, slots=True)
class Postings:
    """The commits of a view whose message holds a term."""

    commits: NDArray[np.int64]
    in_subject: NDArray[np.uint8]
    in_body: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class CommitLine:
    """What is shown of a commit."""

    sha: str
    time: int
    author: str
    subject: str
    body: str
    flags: CommitFlag
    n_files: int


class HistoryView:
    """The commits reachable from one tip, with their changes mapped to the tree's files.

    Commits are numbered over all blocks (``row``); those that are not reachable are masked, so a
    view that ends at an earlier commit knows nothing later. Files are numbered as in ``paths``.

    Args:
        blocks: All blocks of the family, oldest first. A commit that stands in two counts once.
        tip: The commit the view ends at (included).
        paths: The tree's paths.
    """

    def __init__(self, blocks: Sequence[Block], tip: str, paths: Sequence[str]) -> None:
        self.paths = tuple(paths)
        self.file_ids = {path: i for i, path in enumerate(self.paths)}
        self._blocks = tuple(blocks)
        self._starts = np.cumsum([0, *(block.n for block in blocks)]).astype(np.int64)
        self.n_rows = int(self._starts[-1])
        self.reachable = self._reach(tip)
        self.n_commits = int(self.reachable.sum())

    @cached_property
    def shas(self) -> NDArray[np.bytes_]:
        """Shape ``(n_rows,)``: raw commit ids."""
        return np.concatenate([np.empty(0, "S1"), *(block.shas for block in self._blocks)])

    @cached_property
    def times(self) -> NDArray[np.int64]:
        """Shape ``(n_rows,)``: committer times in seconds."""
        return np.concatenate([np.empty(0, np.int64), *(b.times for b in self._blocks)])

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Shape ``(n_rows,)``: corrected times, later than every parent's."""
        return np.concatenate([np.empty(0, np.int64), *(b.order for b in self._blocks)])

    @cached_property
    def flags(self) -> NDArray[np.uint8]:
        """Shape ``(n_rows,)``: `messages.CommitFlag`."""
        return np.concatenate([np.empty(0, np.uint8), *(b.flags for b in self._blocks)])

    @cached_property
    def n_files(self) -> NDArray[np.int32]:
        """Shape ``(n_rows,)``: paths each commit changed, whether they exist today or not."""
        return np.concatenate([np.empty(0, np.int32), *(b.n_files for b in self._blocks)])

    @cached_property
    def lengths(self) -> NDArray[np.int32]:
        """Shape ``(n_rows, 2)``: terms in subject and body."""
        return np.concatenate(
            [np.empty((0, 2), np.int32), *(block.lengths for block in self._blocks)]
        )

    @cached_property
    def time(self) -> int:
        """Committer time of the newest commit of the view, seconds."""
        return int(self.times[self.reachable].max()) if self.n_commits else 0

    @cached_property
    def knows_changes(self) -> bool:
        """Whether any reachable commit says what it changed; a bare boundary does not."""
        if not self.n_commits:
            return False
        return bool((self.reachable & ((self.flags & CommitFlag.BOUNDARY) == 0)).any())

    def rows_of(self, sha_prefix: str) -> list[int]:
        """Return the reachable rows whose commit id starts with ``sha_prefix``."""
        prefix = sha_prefix.lower()
        return [
            row
            for row, sha in enumerate(hex_shas(self.shas))
            if self.reachable[row] and sha.startswith(prefix)
        ]

    def postings(self, term: str) -> Postings:
        """Return the reachable commits whose message holds ``term``, in row order."""
        wanted = np.uint64(term_id(term))
        parts: list[tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.uint8]]] = []
        for block, start in zip(self._blocks, self._starts[:-1].tolist(), strict=True):
            at = int(np.searchsorted(block.vocabulary, wanted))
            if at == len(block.vocabulary) or block.vocabulary[at] != wanted:
                continue
            rows = slice(int(block.posting_offsets[at]), int(block.posting_offsets[at + 1]))
            commits = block.posting_commits[rows].astype(np.int64) + start
            seen = self.reachable[commits]
            parts.append(
                (commits[seen], block.posting_subject[rows][seen], block.posting_body[rows][seen])
            )
        if not parts:
            return Postings(np.empty(0, np.int64), np.empty(0, np.uint8), np.empty(0, np.uint8))
        return Postings(
            np.concatenate([part[0] for part in parts]),
            np.concatenate([part[1] for part in parts]),
            np.concatenate([part[2] for part in parts]),
        )

    @cached_property
    def changes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Reachable changes to files that exist in the tree: rows and file ids, in row order.

        A commit names each file once, even where it renamed and changed it.
        """
        rows, found = self._resolved
        alive = (found >= 0) & self.reachable[rows]
        n_files = max(len(self.paths), 1)
        key = np.sort(rows[alive] * n_files + found[alive])
        key = key[np.append(True, key[1:] != key[:-1])] if len(key) else key
        return key // n_files, key % n_files

    @cached_property
    def change_offsets(self) -> NDArray[np.int64]:
        """Shape ``(n_rows + 1,)``: row ``r``'s changes are ``offsets[r]:offsets[r + 1]``."""
        return np.searchsorted(self.changes[0], np.arange(self.n_rows + 1))

    @cached_property
    def by_file(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Offsets and rows: file ``f`` was changed in ``rows[offsets[f]:offsets[f + 1]]``."""
        rows, files = self.changes
        by_file = np.argsort(files, kind="stable")
        return np.searchsorted(files[by_file], np.arange(len(self.paths) + 1)), rows[by_file]

    def rows_changing(self, file_id: int) -> NDArray[np.int64]:
        """Return the rows that changed a file, under whatever name it had, newest first."""
        offsets, rows = self.by_file
        mine = rows[offsets[file_id] : offsets[file_id + 1]]
        return mine[np.argsort(-self.order[mine], kind="stable")]

    def rows_naming(self, path: str) -> list[int]:
        """Return the reachable rows that changed ``path`` under that very name, newest first."""
        found: list[int] = []
        for block, start in zip(self._blocks, self._starts[:-1].tolist(), strict=True):
            if path not in block.paths:
                continue
            wanted = block.paths.index(path)
            hits = np.flatnonzero((block.change_paths == wanted) | (block.change_old == wanted))
            rows = np.searchsorted(block.change_offsets, hits, side="right") - 1 + start
            found.extend(row for row in np.unique(rows).tolist() if self.reachable[row])
        return sorted(found, key=lambda row: -int(self.order[row]))

    def has_path(self, path: str) -> bool:
        """Return whether any reachable commit changed ``path`` under that name."""
        return bool(self.rows_naming(path))

    def files_of(self, row: int) -> NDArray[np.int64]:
        """Return the ids of the tree's files that the commit of ``row`` changed."""
        return self.changes[1][self.change_offsets[row] : self.change_offsets[row + 1]]

    def touched(self, row: int) -> list[Change]:
        """Return what the commit of ``row`` changed, under the names of its time."""
        at = int(np.searchsorted(self._starts, row, side="right")) - 1
        block, within = self._blocks[at], row - int(self._starts[at])
        start, end = block.change_offsets[within : within + 2].tolist()
        paths: list[int] = block.change_paths[start:end].tolist()
        olds: list[int] = block.change_old[start:end].tolist()
        statuses: list[int] = block.change_status[start:end].tolist()
        return [
            Change(block.paths[path], chr(status), block.paths[old] if old >= 0 else "")
            for path, status, old in zip(paths, statuses, olds, strict=True)
        ]

    def parents(self, row: int) -> list[str]:
        """Return the ids of the parents of the commit of ``row``."""
        at = int(np.searchsorted(self._starts, row, side="right")) - 1
        block, within = self._blocks[at], row - int(self._starts[at])
        start, end = block.parent_offsets[within : within + 2].tolist()
        return hex_shas(block.parents[start:end])

    def expand(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the files that the commits ``rows`` changed, each with its index in ``rows``."""
        starts = self.change_offsets[rows]
        counts = self.change_offsets[rows + 1] - starts
        at = np.repeat(np.arange(len(rows)), counts)
        first = np.cumsum(counts) - counts
        within = np.arange(len(at)) - first[at]
        return self.changes[1][starts[at] + within], at

    def decay(self, half_life: float) -> NDArray[np.float64]:
        """Return each commit's weight by age: 1 for the newest, halved with every ``half_life``.

        Args:
            half_life: A share of the view's commits, so that a quiet project forgets as slowly
                as a busy one.
        """
        age = np.zeros(self.n_rows)
        rows = np.nonzero(self.reachable)[0]
        rows = rows[np.lexsort((rows, -self.order[rows]))]
        age[rows] = np.arange(len(rows)) / max(len(rows), 1)
        return 0.5 ** (age / half_life)

    def lines(self, rows: Iterable[int]) -> list[CommitLine]:
        """Return what is shown of the commits of ``rows``, in their order."""
        texts: dict[int, list[tuple[str, str, str]]] = {}
        shown: list[CommitLine] = []
        for row in rows:
            at = int(np.searchsorted(self._starts, row, side="right")) - 1
            block = self._blocks[at]
            if at not in texts:
                texts[at] = commits_of(block)
            author, subject, body = texts[at][row - int(self._starts[at])]
            shown.append(
                CommitLine(
                    sha=hex_shas(self.shas[row : row + 1])[0],
                    time=int(self.times[row]),
                    author=author,
                    subject=subject,
                    body=body,
                    flags=CommitFlag(int(self.flags[row])),
                    n_files=int(self.n_files[row]),
                )
            )
        return shown

    def _reach(self, tip: str) -> NDArray[np.bool_]:
        """Return which rows are ``tip`` or its ancestors, each commit counted once."""
        reached = np.zeros(self.n_rows, dtype=np.bool_)
        if not self.n_rows:
            return reached
        by_sha = np.argsort(self.shas, kind="stable")
        sorted_shas = self.shas[by_sha]
        row_of = _Lookup(sorted_shas, by_sha)
        start = int(row_of(raw_shas([tip]))[0])
        if start < 0:
            return reached
        parent_rows: list[int] = []
        offsets: list[int] = [0]
        for block in self._blocks:
            parent_rows.extend(row_of(block.parents).tolist())
            base = offsets[-1]
            offsets.extend((block.parent_offsets[1:].astype(np.int64) + base).tolist())
        seen = bytearray(self.n_rows)
        seen[start] = 1
        stack = [start]
        while stack:
            row = stack.pop()
            for parent in parent_rows[offsets[row] : offsets[row + 1]]:
                if parent >= 0 and not seen[parent]:
                    seen[parent] = 1
                    stack.append(parent)
        return np.frombuffer(bytes(seen), dtype=np.bool_)

    @cached_property
    def _resolved(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the row of every change and the tree file it belongs to today (-1: gone)."""
        names: dict[str, int] = {}
        rows, path_ids, old_ids = global_changes(self._blocks, self._starts, names)
        position = self._positions[rows]
        renames = (old_ids >= 0) & self.reachable[rows]
        in_tree = np.array([self.file_ids.get(name, -1) for name in names], dtype=np.int64)
        final = follow_renames(
            path_ids,
            position,
            (old_ids[renames], position[renames], path_ids[renames]),
            in_tree,
        )
        return rows, final

    @cached_property
    def _positions(self) -> NDArray[np.int64]:
        """Shape ``(n_rows,)``: rank of each commit in corrected time, oldest 0."""
        position = np.empty(self.n_rows, dtype=np.int64)
        position[np.argsort(self.order, kind="stable")] = np.arange(self.n_rows)
        return position


class _Lookup:
    """Finds rows by commit id in a sorted column."""

    def __init__(self, sorted_shas: NDArray[np.bytes_], rows: NDArray[np.int64]) -> None:
        self._shas = sorted_shas
        self._rows = rows

    def __call__(self, shas: NDArray[np.bytes_]) -> NDArray[np.int64]:
        at = np.minimum(np.searchsorted(self._shas, shas), len(self._shas) - 1)
        return np.where(self._shas[at] == shas, self._rows[at], -1)
