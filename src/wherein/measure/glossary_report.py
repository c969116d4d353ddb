"""What the glossary command answers, as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wherein.glossary import GlossaryLine
from wherein.measure.glossary_trial import Gain, KeptLine

__all__ = ["CheckedLine", "GlossaryReport", "LineState", "Verdict"]


class Verdict(StrEnum):
    """What the newest commits, on which nothing was chosen, say of the whole."""

    HELPS = "helps"
    UNCLEAR = "no clear gain"
    HARMS = "harms"
    NOTHING = "nothing found"


class LineState(StrEnum):
    """What a check says of a line."""

    HELPS = "helps"
    NO_HELP = "no longer helps"
    NOT_ASKED = "not asked for"
    """No request since it was mined says it: nothing is known."""
    FILE_GONE = "file gone"
    NAME_GONE = "name gone"
    UNREAD = "not in the form of a line"


@dataclass(frozen=True, slots=True)
class CheckedLine:
    """A line of the file with its state."""

    text: str
    line: GlossaryLine | None
    state: LineState
    n_asked: int = 0
    n_helped: int = 0
    n_harmed: int = 0

    @property
    def is_bad(self) -> bool:
        """Whether the line should go or be mended."""
        return self.state not in {LineState.HELPS, LineState.NOT_ASKED}


@dataclass(frozen=True, slots=True)
class GlossaryReport:
    """All that the command says."""

    action: str
    repository: str
    file: str
    """The file that holds or would hold the lines, relative to the repository."""
    mined_until: str = ""
    """The last commit that was mined; every request is later."""
    history: str = ""
    n_pairs: int = 0
    """Pairs that were tried."""
    n_chosen_on: int = 0
    """Requests the lines were chosen on."""
    n_proved_on: int = 0
    """Later requests that only measured the whole."""
    lines: tuple[KeptLine, ...] = ()
    checked: tuple[CheckedLine, ...] = ()
    gains: tuple[Gain, ...] = ()
    """Over the requests that only proved; for a check over all that are later than the lines."""
    verdict: Verdict = Verdict.NOTHING
    tokens: int = 0
    """What the block costs in every session."""
    is_written: bool = False
    notes: tuple[str, ...] = ()
    cpu_seconds: float = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether the command ends with 1: no line, or a line that must be mended."""
        if self.action == "remove":
            return not self.is_written
        if self.action == "check":
            return not self.checked or any(line.is_bad for line in self.checked)
        return not self.lines or (self.action == "apply" and self.verdict is Verdict.NOTHING)
