"""Reads what ripgrep prints, file by file, without decoding more than will be shown."""

from __future__ import annotations

import base64
import json
import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from wherein.external.ripgrep_report import clean_path
from wherein.tools.excerpt import MAX_COLUMNS, cut_line
from wherein.tools.grep_types import GrepRow

__all__ = [
    "FoundFile",
    "RecordReader",
    "path_order",
    "read_counts",
    "read_paths",
    "read_rows",
    "row_of_line",
]

MAX_MATCH_LINES = 100
"""Lines shown of one multiline match."""

# With --crlf ripgrep ends its own lines so, too.
_COUNT = re.compile(rb"\./([^\0]*)\0(\d+)\r?\n")
_SEARCHED = re.compile(rb"(?m)^(\d+) files searched\r?$")
_MATCHED_LINES = re.compile(rb'"matched_lines":(\d+)')
_SUMMARY_SEARCHED = re.compile(rb'"searches":(\d+)')

# None of these can stand inside a value, where quotes are escaped.
_BEGIN = b'{"type":"begin"'
_MATCH = b'{"type":"match"'
_CONTEXT = b'{"type":"context"'
_END = b'{"type":"end"'
_SUMMARY = b'{"data":{"elapsed_total"'
_WHOLE = b'"binary_offset":null'
_PATH, _PATH_END = b',"data":{"path":{"text":"', b'"}}}'


@dataclass(slots=True)
class FoundFile:
    """A file with matches as ripgrep reported it."""

    path: str
    count: int = 0
    output: bytes = b""
    """JSON lines, those of its matches and context among them."""
    start: int = 0
    end: int = 0
    """Where in the output its lines are, as half-open bytes: they are copied only when shown."""
    is_cut_at_nul: bool = False
    """True when ripgrep stopped at a NUL: the rest was not searched."""

    @property
    def raw(self) -> bytes:
        """JSON lines of its matches and context, in order, with other lines after them."""
        return self.output[self.start : self.end]

    def records(
        self, first: int = 0, last: int | None = None, around: int = 0
    ) -> tuple[list[bytes], int]:
        """Return the JSON lines of some matches with their context, not decoded.

        Args:
            first: Matching lines to leave out from the start.
            last: The matching line to stop before; None for all.
            around: Lines around a match that must be among them.

        Returns:
            The lines in order, and how many matching ones before them are left out.
        """
        records = [line for line in self.raw.split(b"\n") if line.startswith((_MATCH, _CONTEXT))]
        if first == 0 and (last is None or last >= self.count):
            return records, 0
        matching = [index for index, line in enumerate(records) if line.startswith(_MATCH)]
        start = max(0, matching[first] - around)
        end = matching[first:last][-1] + around + 1
        return records[start:end], bisect_left(matching, start)


def path_order(path: str) -> bytes:
    """Return the sort key of ripgrep's ``--sort=path``: component by component, by bytes."""
    return os.fsencode(path).replace(b"/", b"\0")


def read_paths(output: bytes) -> tuple[list[FoundFile], int]:
    """Read ``--files-with-matches --null``: the files; how many were searched it does not say."""
    return [FoundFile(clean_path(path), 1) for path in output.split(b"\0")[:-1]], 0


def read_counts(output: bytes) -> tuple[list[FoundFile], int]:
    """Read ``--count --null --stats``."""
    files = [FoundFile(os.fsdecode(path), int(count)) for path, count in _COUNT.findall(output)]
    searched = _SEARCHED.search(output, output.rfind(b"\0") + 1)
    return files, int(searched[1]) if searched else 0


class RecordReader:
    """Takes ripgrep's JSON lines and sorts them by file, decoding only the paths."""

    def __init__(self, *, counts_submatches: bool, is_multiline: bool = False) -> None:
        self.files: list[FoundFile] = []
        self.n_matches = 0
        self.n_searched = 0
        self._counts_submatches = counts_submatches
        self._is_multiline = is_multiline
        self._file: FoundFile | None = None
        self._records: list[bytes] = []

    def feed_whole(self, output: bytes) -> None:
        """Take all output at once, which may end in a piece of a line.

        Lines are neither split nor looked at here, but for their number: most of them will not be
        shown.
        """
        output = output[: output.rfind(b"\n") + 1]
        if self._counts_submatches:
            self.feed(output.split(b"\n"))
            return
        begin = output.find(_BEGIN)
        while begin != -1:
            following = output.find(_BEGIN, begin + 1)
            self._take_block(output, begin, following if following != -1 else len(output))
            begin = following
        summary = output.rfind(_SUMMARY)
        found = _SUMMARY_SEARCHED.search(output, summary) if summary != -1 else None
        if found is not None:
            self.n_searched += int(found[1])

    def _take_block(self, output: bytes, begin: int, end: int) -> None:
        """Take the lines of one file, without looking at most of them: they may be megabytes."""
        head = output.find(b"\n", begin, end)
        last = output.rfind(b"\n", begin, end - 1) + 1
        is_ended = output.startswith(_END, last)
        counted = None
        if is_ended and not self._is_multiline:  # else a record may be several lines
            counted = _MATCHED_LINES.search(output, last, end)
        count = int(counted[1]) if counted else output.count(_MATCH, head, end)
        self.n_matches += count
        if count:
            path = clean_path(_begun(output[begin + len(_BEGIN) : head]))
            is_cut = is_ended and output.find(_WHOLE, last, end) == -1
            self.files.append(FoundFile(path, count, output, head + 1, end, is_cut))

    def feed(self, lines: Iterable[bytes]) -> None:
        """Take complete lines."""
        for line in lines:
            if line.startswith(_MATCH):
                self._add(line)
            elif line.startswith(_CONTEXT):
                self._records.append(line)
            elif line.startswith(_BEGIN):
                self._records = []
                self._file = FoundFile(clean_path(_bytes(_data(line)["path"])))
            elif line.startswith(_END):
                self._finish(line)
            elif (found := _SUMMARY_SEARCHED.search(line)) is not None:
                self.n_searched += int(found[1])

    def _add(self, line: bytes) -> None:
        n = 1
        if self._counts_submatches:
            data = _data(line)
            spans = data["submatches"]
            shown = _shown_spans(
                _bytes(data["lines"]), _spans(data), is_multiline=self._is_multiline
            )
            n = len(shown) if spans else 1
        self.n_matches += n
        if self._file is not None:
            self._file.count += n
            self._records.append(line)

    def _finish(self, line: bytes) -> None:
        if self._file is not None:
            self._file.is_cut_at_nul = _WHOLE not in line
        self.close()

    def close(self) -> None:
        """Keep the file that a stopped search was in the middle of."""
        if self._file is not None and self._file.count:
            self._file.output = b"\n".join(self._records)
            self._file.end = len(self._file.output)
            self.files.append(self._file)
        self._file = None


def _begun(head: bytes) -> bytes:
    """Return the path in the rest of a ``begin`` line, in the usual case without parsing it."""
    if head.startswith(_PATH) and head.endswith(_PATH_END) and b"\\" not in head:
        return head[len(_PATH) : -len(_PATH_END)]
    return _bytes(_data(_BEGIN + head)["path"])


def _data(record: bytes) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(record.decode())["data"])


def _bytes(value: dict[str, str]) -> bytes:
    """Return the bytes of ripgrep's ``{"text": …}`` or ``{"bytes": base64}``."""
    text = value.get("text")
    return text.encode() if text is not None else base64.b64decode(value["bytes"])


def _spans(data: dict[str, Any]) -> list[tuple[int, int]]:
    return [(int(found["start"]), int(found["end"])) for found in data["submatches"]]


def _shown_spans(
    raw: bytes, spans: Sequence[tuple[int, int]], *, is_multiline: bool
) -> list[tuple[int, int]]:
    """Return the matches that are shown alone: over several lines, not those of line ends only."""
    if not is_multiline:
        return list(spans)
    return [(start, end) for start, end in spans if raw[start:end].strip(b"\r\n")]


def read_rows(
    records: Sequence[bytes],
    shown_path: str,
    *,
    only_matching: bool,
    is_multiline: bool = False,
    encoding: str = "",
) -> list[GrepRow]:
    """Decode records of one file into rows.

    Args:
        records: From `FoundFile.records`.
        shown_path: The path to put into the rows.
        only_matching: One row for each match, holding nothing else.
        is_multiline: Matches may span lines.
        encoding: How lines that are not UTF-8 are written; empty takes their bytes as Latin-1.
    """
    rows: list[GrepRow] = []
    for record in json.loads((b"[" + b",".join(records) + b"]").decode()):
        data = cast("dict[str, Any]", record["data"])
        number = int(data["line_number"] or 0)
        lines = data["lines"]
        is_match = record["type"] == "match"
        spans = _spans(data)
        text = str(lines.get("text", ""))
        if _is_short_line(text) and not only_matching:
            rows.append(_row_of_short_line(shown_path, number, text, spans, is_match=is_match))
            continue
        used = "utf-8" if "text" in lines else encoding or "utf-8"
        raw = _bytes(lines)
        line = _Line(shown_path, number, raw, is_match, used)
        if only_matching and is_match and spans:
            shown = _shown_spans(raw, spans, is_multiline=is_multiline)
            rows.extend(line.single(span) for span in shown)
        else:
            rows.append(line.row(spans))
    return rows


def _is_short_line(text: str) -> bool:
    """Return whether a record holds one line that is shown whole, as nearly all are."""
    ends_at = text.find("\n")
    return 0 <= ends_at == len(text) - 1 and ends_at <= MAX_COLUMNS and text.isascii()


def _row_of_short_line(
    path: str, number: int, text: str, spans: Sequence[tuple[int, int]], *, is_match: bool
) -> GrepRow:
    """Return what `_Line.row` does, where bytes are characters, in a third of the time."""
    shown = text[:-2] if text.endswith("\r\n") else text[:-1]
    n = len(shown)
    column = spans[0][0] + 1 if spans else 0
    if spans and spans[-1][1] > n:  # a match of the line's end
        spans = [(start, min(end, n)) for start, end in spans if start <= n]
    return GrepRow(
        path=path,
        line=number,
        text=shown,
        is_match=is_match,
        end_line=number,
        column=column,
        spans=tuple(spans),
        n_bytes=n,
    )


@dataclass(frozen=True, slots=True)
class _Line:
    path: str
    number: int
    raw: bytes
    is_match: bool
    encoding: str

    def row(self, spans: Sequence[tuple[int, int]]) -> GrepRow:
        """Return the record as one row, each of its lines cut."""
        pieces = [_without_end(piece) for piece in self.raw.removesuffix(b"\n").split(b"\n")]
        first = pieces[0]
        inside = [(start, min(end, len(first))) for start, end in spans if start <= len(first)]
        cut = cut_line(first, inside, encoding=self.encoding)
        texts = [cut.text]
        texts.extend(
            cut_line(piece, encoding=self.encoding).text for piece in pieces[1:MAX_MATCH_LINES]
        )
        if len(pieces) > MAX_MATCH_LINES:
            texts.append(f"… [{len(pieces) - MAX_MATCH_LINES} lines]")
        return GrepRow(
            path=self.path,
            line=self.number,
            text=_printable("\n".join(texts)),
            is_match=self.is_match,
            end_line=self.number + len(pieces) - 1,
            column=spans[0][0] + 1 if spans else 0,
            spans=cut.spans,
            n_bytes=len(first),
            n_cut_before=cut.n_before,
            n_cut_after=cut.n_after,
        )

    def single(self, span: tuple[int, int]) -> GrepRow:
        """Return one match alone."""
        start, end = span
        n_lines_before = self.raw.count(b"\n", 0, start)
        line_start = self.raw.rfind(b"\n", 0, start) + 1
        piece = self.raw[start:end]
        lines = _without_end(piece).split(b"\n")
        cuts = [cut_line(_without_end(line), encoding=self.encoding) for line in lines]
        number = self.number + n_lines_before
        return GrepRow(
            path=self.path,
            line=number,
            text=_printable("\n".join(cut.text for cut in cuts[:MAX_MATCH_LINES])),
            end_line=number + len(lines) - 1,
            column=start - line_start + 1,
            spans=((0, len(cuts[0].text)),),
            n_bytes=len(_without_end(self.raw[line_start:].split(b"\n", 1)[0])),
            n_cut_after=cuts[0].n_after,
            is_whole_line=False,
        )


def row_of_line(path: str, number: int, raw: bytes, column: int) -> GrepRow:
    """Return a matching line of which only the column of its first match is known (0: none)."""
    line = _Line(path, number, raw, True, "utf-8")
    return line.row([(column - 1, column - 1)] if column else [])


def _without_end(line: bytes) -> bytes:
    line = line.removesuffix(b"\n")
    return line.removesuffix(b"\r")


def _printable(text: str) -> str:
    """Return text without surrogates: a byte that fits no encoding is shown as Latin-1 has it."""
    if text.isascii() or not any("\udc80" <= c <= "\udcff" for c in text):
        return text
    return "".join(chr(ord(c) - 0xDC00) if "\udc80" <= c <= "\udcff" else c for c in text)
