"""Digests many files in worker processes; a file that kills its worker costs itself only."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from wherein.errors import ExternalError
from wherein.external.workers import Worker, wait_for
from wherein.indexing.jobs import FAILED, READY, Job, Outcome, decode_outcome, encode, encode_task
from wherein.indexing.worker import MODULE
from wherein.settings import Settings

__all__ = ["Pool"]

_IN_FLIGHT = 6
"""Jobs sent ahead to one worker. A path has at most 4 KB, so they fit the pipe (64 KB) and neither
side can wait for the other."""

_RETIREMENT_BYTES = 64 << 20
"""Source a worker digests before another takes its place, which costs 1 % of the time: what Python
cannot give back of the words of large files grew to a gigabyte otherwise."""


@dataclass(slots=True)
class _Crew:
    """A worker with the jobs it has not answered yet, in the order they were sent."""

    worker: Worker
    waiting: deque[Job] = field(default_factory=deque)
    is_ready: bool = False
    """True once it has said that it runs: what dies before was killed by no file."""
    is_alone: bool = False
    """True while it has a job that killed a worker before: nothing else is sent."""
    n_bytes: int = 0
    """Source it has digested."""

    @property
    def takes_jobs(self) -> bool:
        """Whether it may be sent another job."""
        return not self.is_alone and self.n_bytes < _RETIREMENT_BYTES


class Pool:
    """Worker processes for one root; they start with the first job and end with `close`.

    Args:
        root: The tree.
        settings: Limits and model.
        size: Workers at most.
        module: Whose ``main`` they run.
        with_texts: True when they send the chunks' texts instead of vectors.
    """

    def __init__(
        self,
        root: Path,
        settings: Settings,
        size: int,
        module: str = MODULE,
        *,
        with_texts: bool = False,
    ) -> None:
        self._module = module
        self._first_frame = encode_task(root, settings, with_texts=with_texts)
        self._size = max(1, size)
        self._crews: list[_Crew] = []
        self._suspects: deque[Job] = deque()
        self._again: deque[Job] = deque()
        self._killed: set[int] = set()

    def run(self, jobs: Iterable[Job], suspects: Iterable[Job] = ()) -> Generator[Outcome]:
        """Yield the outcome of every job, as they come.

        Args:
            jobs: Read only as workers become free.
            suspects: Jobs that ended a process before; each runs with a worker to itself.

        Raises:
            ExternalError: Workers cannot run here.
        """
        todo = iter(jobs)
        self._suspects.extend(suspects)
        self._fill(todo)
        while any(crew.waiting for crew in self._crews):
            busy = {crew.worker: crew for crew in self._crews if crew.waiting}
            for worker in wait_for(list(busy), None):
                yield from self._listen(busy[worker])
            self._fill(todo)

    def _fill(self, todo: Iterator[Job]) -> None:
        """Send jobs until every worker has enough or none are left."""
        while True:
            crew = min(
                (crew for crew in self._crews if crew.takes_jobs),
                key=lambda crew: len(crew.waiting),
                default=None,
            )
            can_grow = len(self._crews) < self._size
            if crew is not None and len(crew.waiting) >= _IN_FLIGHT and not can_grow:
                return
            if crew is None and not can_grow:
                return
            job = self._next(todo)
            if job is None:
                return
            if can_grow and (crew is None or crew.waiting):
                crew = self._hire()
            if crew is not None:
                self._send(crew, job)

    def _next(self, todo: Iterator[Job]) -> Job | None:
        """Return the next job: sound ones first, then suspects, one by one."""
        if self._again:
            return self._again.popleft()
        job = next(todo, None)
        if job is None and self._suspects and not any(crew.waiting for crew in self._crews):
            return self._suspects.popleft()
        return job

    def _send(self, crew: _Crew, job: Job) -> None:
        crew.is_alone = job.number in self._killed
        crew.waiting.append(job)
        crew.worker.send(encode(job))  # a worker that is gone shows when it is listened to

    def _hire(self) -> _Crew:
        worker = Worker(self._module)
        worker.send(self._first_frame)
        crew = _Crew(worker)
        self._crews.append(crew)
        return crew

    def _listen(self, crew: _Crew) -> Iterator[Outcome]:
        frames, is_alive = crew.worker.receive()
        for frame in frames:
            outcome = decode_outcome(frame)
            if outcome.number == READY:
                crew.is_ready = True
                continue
            crew.waiting.popleft()
            crew.is_alone = False
            crew.n_bytes += outcome.file_stat.size if outcome.stat else 0
            yield outcome
        if not is_alive:
            yield from self._bury(crew)
        elif crew.n_bytes >= _RETIREMENT_BYTES and not crew.waiting:
            crew.worker.close()
            self._crews.remove(crew)

    def _bury(self, crew: _Crew) -> Iterator[Outcome]:
        """Find the job that killed a worker: the first it had not answered."""
        crew.worker.close()
        self._crews.remove(crew)
        if not crew.is_ready:
            message = "a worker process ended before its first file"
            raise ExternalError(message, hint="run 'wherein doctor'")
        guilty, *innocent = crew.waiting
        self._again.extend(innocent)
        if guilty.number in self._killed:
            yield Outcome(guilty.number, FAILED)
        else:
            # Once may be the machine (memory, a signal); twice, alone, is the file.
            self._killed.add(guilty.number)
            self._suspects.append(guilty)

    def close(self) -> None:
        """End all workers now."""
        for crew in self._crews:
            crew.worker.close()
        self._crews.clear()

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()
