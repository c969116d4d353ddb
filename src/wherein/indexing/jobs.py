"""What the builder asks of whoever digests a file, and what comes back, as bytes over a pipe."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import msgspec

from wherein.settings import Settings
from wherein.types import FileStat

__all__ = [
    "FAILED",
    "GONE",
    "READY",
    "UNREADABLE",
    "Job",
    "Outcome",
    "decode_job",
    "decode_outcome",
    "decode_task",
    "encode",
    "encode_task",
]


READY = -1
"""Number of the outcome that a worker sends when it has started."""


GONE = "gone"
UNREADABLE = "unreadable"
FAILED = "failed"
"""Skip reason of a content that the parser cannot take (`walk.classify.SKIP_REASONS`)."""


class Job(msgspec.Struct, frozen=True, array_like=True):
    """Digest one file."""

    number: int
    raw_path: bytes
    """Relative to the root, as the file system spells it."""
    language: str | None

    @property
    def path(self) -> str:
        """The path, relative to the root."""
        return os.fsdecode(self.raw_path)


class Outcome(msgspec.Struct, frozen=True, array_like=True):
    """What became of a job."""

    number: int
    reason: str
    """Empty when digested; else why the file could not be read, or `FAILED`."""
    blob_id: str = ""
    stat: tuple[int, int, int, int, int] | None = None
    is_settled: bool = False
    n_chunks: int = 0
    core: bytes = b""
    references: bytes = b""
    texts: tuple[str, ...] = ()
    """The chunks' texts, when the model reads them: the record has no vectors yet."""

    @property
    def file_stat(self) -> FileStat:
        """The stat of the file as it was read."""
        if self.stat is None:
            message = f"job {self.number} read nothing"
            raise ValueError(message)
        return FileStat(*self.stat)


_encoder = msgspec.msgpack.Encoder()
_job_decoder = msgspec.msgpack.Decoder(Job)
_outcome_decoder = msgspec.msgpack.Decoder(Outcome)


def encode(item: Job | Outcome) -> bytes:
    """Return a job or an outcome as bytes."""
    return _encoder.encode(item)


def decode_job(data: bytes) -> Job:
    """Return the job that `encode` gave."""
    return _job_decoder.decode(data)


def decode_outcome(data: bytes) -> Outcome:
    """Return the outcome that `encode` gave."""
    return _outcome_decoder.decode(data)


def encode_task(root: Path, settings: Settings, *, with_texts: bool = False) -> bytes:
    """Return what a worker must know before its first job as bytes.

    Args:
        root: The tree.
        settings: Limits and model.
        with_texts: True when the chunks' texts are wanted instead of vectors.
    """
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    return _encoder.encode((os.fsencode(root), _plain(values), with_texts))


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Return settings with paths as text, which msgpack knows."""
    return {name: os.fspath(v) if isinstance(v, Path) else v for name, v in values.items()}


def decode_task(data: bytes) -> tuple[Path, Settings, bool]:
    """Return what `encode_task` was given."""
    raw_root, values, with_texts = cast(
        "tuple[bytes, dict[str, Any], bool]", msgspec.msgpack.decode(data)
    )
    settings = Settings(home=Path(values.pop("home"))).replace(**values)
    return Path(os.fsdecode(raw_root)), settings, with_texts
