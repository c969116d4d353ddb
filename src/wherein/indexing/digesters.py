"""Who digests a tree's files: this process for a few, workers for many or for suspects."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from wherein.embed.protocol import Embedder
from wherein.errors import ExternalError, PathError
from wherein.external.workers import can_fork
from wherein.indexing.jobs import FAILED, GONE, Job, Outcome
from wherein.indexing.pool import Pool
from wherein.indexing.text_vectors import TextVectors
from wherein.indexing.worker import digest_job, failed_outcome
from wherein.parse import grammars
from wherein.parse.grammar_cache import remove_damaged
from wherein.settings import Settings
from wherein.walk.reading import TreeReader, read_file

__all__ = ["Digesters", "Journal"]

_IN_PROCESS_FILES = 40
_IN_PROCESS_BYTES = 400_000
"""Up to here (0.1 to 0.2 s of work) a worker's start, 0.25 s of CPU, costs more than it does."""

_BYTES_PER_WORKER = 1_500_000
"""Text that keeps a worker busy longer than it takes to start."""


class Journal:
    """Names the files this process is about to digest, so that a crash leaves their names.

    Args:
        path: Where to write; None writes nothing and suspects nobody.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def suspects(self) -> frozenset[bytes]:
        """Return the files that a process was digesting when it ended."""
        if self._path is None:
            return frozenset()
        try:
            return frozenset(msgspec.msgpack.decode(self._path.read_bytes(), type=list[bytes]))
        except (OSError, msgspec.MsgspecError):
            return frozenset()

    def write(self, jobs: Sequence[Job]) -> None:
        """Name the files of ``jobs``."""
        if self._path is not None:
            # The kernel keeps what was written when we are killed, so no flush to the disk.
            self._path.write_bytes(msgspec.msgpack.encode([job.raw_path for job in jobs]))

    def clear(self) -> None:
        """Forget the names: all files came out well."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


class Digesters:
    """Digests files of one tree.

    Args:
        root: The tree.
        settings: Number of workers, limits, model.
        embedder: Used when files are digested in this process.
        journal: Where this process names what it is about to digest.
        is_isolated: True digests nothing in this process: a server must outlive every file.
        text_vectors: Makes the vectors when the model reads texts.
    """

    def __init__(
        self,
        root: Path,
        settings: Settings,
        embedder: Embedder | None,
        journal: Journal,
        *,
        is_isolated: bool,
        text_vectors: TextVectors | None = None,
    ) -> None:
        self._root = root
        self._settings = settings
        self._embedder = embedder
        self._journal = journal
        self._is_isolated = is_isolated
        self._text_vectors = text_vectors

    def run(self, jobs: Sequence[Job], n_bytes: int) -> Generator[Outcome]:
        """Yield the outcome of every job, as they come.

        Args:
            jobs: What to digest.
            n_bytes: Size of the files together.

        Raises:
            StoreError: A grammar is damaged and cannot be replaced; no file is to blame.
            ProviderError: A model that reads texts cannot be reached.
        """
        outcomes = self._digested(jobs, n_bytes)
        if self._text_vectors is None:
            yield from outcomes
            return
        with closing(outcomes):
            yield from self._text_vectors.fill(outcomes, n_bytes)

    def _digested(self, jobs: Sequence[Job], n_bytes: int) -> Generator[Outcome]:
        for language in sorted({job.language or "" for job in jobs} - {""}):
            remove_damaged(grammars.EMBEDDED.get(language, language))
        named = self._journal.suspects()
        suspects = [job for job in jobs if job.raw_path in named]
        sound = [job for job in jobs if job.raw_path not in named]
        is_small = len(sound) <= _IN_PROCESS_FILES and n_bytes <= _IN_PROCESS_BYTES
        if is_small and not self._is_isolated:
            yield from self._in_workers([], suspects, 1)
            yield from self._here(sound)
        else:
            yield from self._in_workers(sound, suspects, self._n_workers(n_bytes))
        self._journal.clear()

    def _n_workers(self, n_bytes: int) -> int:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return max(1, min(self._settings.workers or cores or 1, n_bytes // _BYTES_PER_WORKER))

    def _in_workers(
        self, sound: Sequence[Job], suspects: Sequence[Job], size: int
    ) -> Iterator[Outcome]:
        if not sound and not suspects:
            return
        if can_fork():  # what is loaded here, each worker has
            for language in sorted({job.language or "" for job in sound}):
                grammars.load(language)
        left = {job.number: job for job in (*sound, *suspects)}
        try:
            with (
                Pool(self._root, self._settings, size, with_texts=self._with_texts) as pool,
                closing(pool.run(sound, suspects)) as outcomes,
            ):
                for outcome in outcomes:
                    job = left.pop(outcome.number)
                    yield self._named(job) if outcome.reason == FAILED else outcome
        except (ExternalError, OSError):
            # No worker can be started here (a sandbox): the journal is what is left.
            yield from self._here(list(left.values()))

    def _named(self, job: Job) -> Outcome:
        """Return a record that says that a content kills its parser, so that nobody tries again."""
        try:
            read = read_file(self._root, job.path)
        except PathError:
            return Outcome(job.number, GONE)
        return failed_outcome(job, read, is_settled=False)

    def _here(self, jobs: Sequence[Job]) -> Iterator[Outcome]:
        if not jobs:
            return
        with TreeReader(self._root) as reader:
            for start in range(0, len(jobs), _IN_PROCESS_FILES):
                batch = jobs[start : start + _IN_PROCESS_FILES]
                self._journal.write(batch)
                for job in batch:
                    yield digest_job(
                        job,
                        self._root,
                        reader,
                        self._settings,
                        self._embedder,
                        with_texts=self._with_texts,
                    )

    @property
    def _with_texts(self) -> bool:
        return self._text_vectors is not None
