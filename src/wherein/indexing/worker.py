"""The worker's side: digests one file after another until its input ends.

Started by `external.workers.Worker`, as a fork or by itself. Whatever a file does to the parser,
only this process dies: the kernel ends it when one file takes too much CPU, even if its parent is
gone.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
import time
from pathlib import Path

from wherein.embed.load import load_embedder
from wherein.embed.protocol import Embedder
from wherein.errors import PathError
from wherein.external.workers import read_frame, write_frame
from wherein.indexing.digest import chunk_texts, digest, skip_record
from wherein.indexing.jobs import (
    FAILED,
    GONE,
    READY,
    UNREADABLE,
    Job,
    Outcome,
    decode_job,
    decode_task,
    encode,
)
from wherein.settings import Settings
from wherein.store.record_format import encode_record, encode_references
from wherein.types import Record
from wherein.walk.blob import blob_id
from wherein.walk.reading import FileRead, TreeReader
from wherein.walk.walker import is_racy

__all__ = ["MODULE", "digest_job", "failed_outcome", "main"]

MODULE = "wherein.indexing.worker"

_CPU_S_PER_FILE = 30.0
"""Sound files of the largest size take a second; what takes this long would not end."""

_MAX_MEMORY_BYTES = 4 << 30
"""Address space a worker may add to what it starts with (a fork has its parent's): a parse that
wants more dies alone instead of filling the machine."""


def digest_job(
    job: Job,
    root: Path,
    reader: TreeReader,
    settings: Settings,
    embedder: Embedder | None,
    *,
    with_texts: bool = False,
) -> Outcome:
    """Read and digest the file under ``root`` that ``job`` names.

    Args:
        job: Which file.
        root: The tree.
        reader: Reads it.
        settings: Limits.
        embedder: Makes the vectors.
        with_texts: True gives the chunks' texts instead, for a model that reads them.
    """
    looked_ns = time.time_ns()
    try:
        read = reader.read(job.path)
    except PathError:
        return Outcome(job.number, UNREADABLE if os.path.lexists(root / job.path) else GONE)
    settled = not is_racy(read.stat, looked_ns)
    try:
        record = digest(read.data, job.language, settings, None if with_texts else embedder)
        texts = chunk_texts(read.data, record, settings) if with_texts else ()
    except Exception:  # whatever a file does to the parser costs that file only
        return failed_outcome(job, read, is_settled=settled)
    return _outcome(job, read, record, is_settled=settled, texts=texts)


def failed_outcome(job: Job, read: FileRead, *, is_settled: bool) -> Outcome:
    """Return the outcome of a file whose content no parser survives."""
    record = skip_record(blob_id(read.data), job.language, len(read.data), FAILED)
    return _outcome(job, read, record, is_settled=is_settled)


def _outcome(
    job: Job, read: FileRead, record: Record, *, is_settled: bool, texts: tuple[str, ...] = ()
) -> Outcome:
    found = read.stat
    return Outcome(
        number=job.number,
        reason="",
        blob_id=record.blob_id,
        stat=(found.size, found.mtime_ns, found.ctime_ns, found.inode, found.mode),
        is_settled=read.is_settled and is_settled,
        n_chunks=len(record.chunks),
        core=encode_record(record),
        references=encode_references(record),
        texts=texts,
    )


def main() -> None:
    """Answer jobs until the input ends."""
    # What a native library prints must not get between the frames.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    jobs = sys.stdin.buffer
    _limit_memory()
    # What a file leaves is freed by reference counts; looking for cycles cost 5 % of the time.
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)
    first = read_frame(jobs)
    if first is None:
        return
    root, settings, with_texts = decode_task(first)
    reader = TreeReader(root)
    # A model that reads texts is its parent's: one connection, one key, one copy in memory.
    embedder = None if with_texts else load_embedder(settings)
    write_frame(answers, encode(Outcome(READY, "")))
    while (frame := read_frame(jobs)) is not None:
        # The default action of SIGPROF ends the process, in native code too.
        signal.setitimer(signal.ITIMER_PROF, _CPU_S_PER_FILE)
        outcome = digest_job(
            decode_job(frame), root, reader, settings, embedder, with_texts=with_texts
        )
        signal.setitimer(signal.ITIMER_PROF, 0)
        try:
            write_frame(answers, encode(outcome))
        except BrokenPipeError:
            return


def _limit_memory() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = _address_space() + _MAX_MEMORY_BYTES
    ceiling = most if hard == resource.RLIM_INFINITY else min(most, hard)
    if soft == resource.RLIM_INFINITY or soft > ceiling:
        resource.setrlimit(resource.RLIMIT_AS, (ceiling, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _address_space() -> int:
    """Return the bytes of address space in use, 0 where the system does not say."""
    try:
        n_pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return n_pages * resource.getpagesize()
