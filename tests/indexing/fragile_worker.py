"""The real worker, with a parser that some contents crash, hang or make raise."""

import os
import signal

from wherein.embed.protocol import Embedder
from wherein.indexing import worker
from wherein.indexing.digest import digest
from wherein.settings import Settings
from wherein.types import Record


def fragile(
    data: bytes, language: str | None, settings: Settings, embedder: Embedder | None
) -> Record:
    if b"crash here" in data:
        os.kill(os.getpid(), signal.SIGSEGV)
    if b"raise here" in data:
        raise RecursionError
    if b"out of memory" in data:
        raise MemoryError
    while b"never end" in data:
        pass
    return digest(data, language, settings, embedder)


def main() -> None:
    worker.digest = fragile
    worker._CPU_S_PER_FILE = 0.3
    worker.main()
