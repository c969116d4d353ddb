"""What the terminal can show: colour, and a progress bar on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from wherein.tools.context import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

__all__ = ["ProgressBar", "is_colored", "make_tolerant"]


def make_tolerant() -> None:
    """Let text that is not Unicode, or not in the terminal's encoding, be written as escapes.

    A stream that was closed before we started (``>&-``) swallows what it is given.
    """
    if sys.__stdout__ is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if sys.__stderr__ is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def is_colored(when: str, environment: Mapping[str, str]) -> bool:
    """Return True when standard output takes colour: a terminal, unless told otherwise."""
    if when != "auto":
        return when == "always"
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def _counted(progress: Progress) -> str:
    chunks = f", {progress.chunks} chunks" if progress.chunks else ""
    return f"{progress.unit}{chunks}"


class ProgressBar:
    """Shows what is done and the time left on a terminal; on anything else it is silent.

    The bar appears with the first report, so a quick answer never loads it.
    """

    def __init__(self, *, is_shown: bool) -> None:
        self._is_shown = is_shown
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self.last: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    @property
    def report(self) -> Callable[[Progress], None]:
        """The function to hand to a tool."""
        return self._report

    def note(self, text: str) -> None:
        """Write a note to standard error, above the bar where there is one."""
        line = f"wherein: note: {text}"
        if self._bar is not None:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()

    def _report(self, progress: Progress) -> None:
        self.last = progress
        if not self._is_shown:
            return
        bar, task = self._start()
        bar.update(
            task,
            description=progress.stage,
            completed=progress.files_done,
            total=progress.files_total or None,
            counted=_counted(progress),
        )

    def _start(self) -> tuple[Bar, TaskID]:
        if self._bar is None or self._task is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[counted]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("", total=None, counted="")
            self._bar.start()
        return self._bar, self._task
