"""What reading files answers, as frozen values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from wherein.tools.excerpt import visible
from wherein.walk.paths import show_path

__all__ = ["PartKind", "ReadPart", "ReadResult"]


class PartKind(StrEnum):
    """What a part of the answer is."""

    TEXT = "text"
    NOTEBOOK = "notebook"
    DIRECTORY = "directory"
    IMAGE = "image"
    BINARY = "binary"
    EMPTY = "empty"
    UNCHANGED = "unchanged"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class ReadPart:
    """One range, symbol or whole file."""

    path: str
    kind: PartKind
    start_line: int = 0
    end_line: int = 0
    n_lines: int = 0
    """Lines of the whole file; 0 when it is too large to be read to its end."""
    texts: tuple[str, ...] = ()
    """The lines without their ends; a folder's entries."""
    symbol: str = ""
    encoding: str = ""
    line_ending: str = ""
    """``lf``, ``crlf``, ``cr`` or ``mixed``."""
    ends_with_newline: bool = True
    n_bytes: int = 0
    digest: str = ""
    """Names the content: git's blob id of the file, or a hash of the lines shown of a large one."""
    media_type: str = ""
    width: int = 0
    height: int = 0
    next_line: int = 0
    """Where to go on when the limit cut the lines; 0 when it did not."""
    notes: tuple[str, ...] = ()
    hint: str = ""
    has_numbers: bool = True

    @property
    def text(self) -> str:
        """The lines as the file has them."""
        end = {"crlf": "\r\n", "cr": "\r"}.get(self.line_ending, "\n")
        if not self.texts:
            return ""
        is_end = self.n_lines == self.end_line
        return end.join(self.texts) + ("" if is_end and not self.ends_with_newline else end)

    def lines(self) -> Iterator[str]:
        """Yield the plain form: ``number<TAB>line``, or bare lines."""
        if self.kind in {PartKind.TEXT, PartKind.NOTEBOOK} and self.has_numbers:
            for number, text in enumerate(self.texts, self.start_line):
                yield f"{number}\t{visible(text)}"
        else:
            yield from (visible(text) for text in self.texts)
        yield from (f"[{note}]" for note in self.notes)


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What was asked for, in the order it was asked for."""

    parts: tuple[ReadPart, ...]
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the plain form; several parts get a heading each."""
        out: list[str] = []
        for part in self.parts:
            if len(self.parts) > 1:
                where = f":{part.start_line}-{part.end_line}" if part.start_line else ""
                symbol = f" {visible(part.symbol)}" if part.symbol else ""
                out.append(f"== {show_path(part.path)}{where}{symbol}")
            out.extend(part.lines())
        return out
