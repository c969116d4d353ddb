"""Reads ripgrep's JSON lines, for what its plain output does not tell.

That is matches over several lines, each match alone, and lines behind a NUL in a named file.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from wherein.external.ripgrep_report import clean_path
from wherein.tools.grep_found import Found, Line, matching_part

__all__ = ["JsonFormat", "JsonReader"]

_MATCHED_LINES = re.compile(rb'"matched_lines":(\d+)')
_SEARCHED = re.compile(rb'"searches":(\d+)')

# None of these can stand inside a value, where quotes are escaped.
_BEGIN = b'{"type":"begin"'
_MATCH = b'{"type":"match"'
_CONTEXT = b'{"type":"context"'
_END = b'{"type":"end"'
_SUMMARY = b'{"data":{"elapsed_total"'
_WHOLE = b'"binary_offset":null'
_PATH, _PATH_END = b',"data":{"path":{"text":"', b'"}}}'


@dataclass(frozen=True, slots=True)
class JsonFormat:
    """Lines with all that ripgrep knows of them."""

    before: int = 0
    after: int = 0
    counts_matches: bool = False
    """Each match counts, not each line."""
    is_multiline: bool = False
    """Matches may span lines."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The options that make ripgrep print so."""
        return ("--json", f"--before-context={self.before}", f"--after-context={self.after}")

    def read(self, output: bytes) -> Found:
        """Return the files in the output, which may end anywhere.

        Lines are neither split nor looked at here, but for their number: most of them will not be
        shown.
        """
        output = output[: output.rfind(b"\n") + 1]
        if self.counts_matches:
            reader = JsonReader(self)
            reader.feed(output.split(b"\n"))
            return reader.end()
        files: list[_JsonFile] = []
        begin = output.find(_BEGIN)
        while begin != -1:
            following = output.find(_BEGIN, begin + 1)
            file = self._file(output, begin, following if following != -1 else len(output))
            if file.count:
                files.append(file)
            begin = following
        summary = output.rfind(_SUMMARY)
        found = _SEARCHED.search(output, summary) if summary != -1 else None
        return Found.of(files, int(found[1]) if found is not None else 0)

    def _file(self, output: bytes, begin: int, end: int) -> _JsonFile:
        """Return the file of some lines without looking at most of them: they may be megabytes."""
        head = output.find(b"\n", begin, end)
        last = output.rfind(b"\n", begin, end - 1) + 1
        is_ended = output.startswith(_END, last)
        counted = None
        if is_ended and not self.is_multiline:  # else a record may be several lines
            counted = _MATCHED_LINES.search(output, last, end)
        count = int(counted[1]) if counted else output.count(_MATCH, head, end)
        path = clean_path(_begun(output[begin + len(_BEGIN) : head]))
        is_cut = is_ended and output.find(_WHOLE, last, end) == -1
        return _JsonFile(path, count, is_cut, self, output, head + 1, end)


class JsonReader:
    """Takes JSON lines as they come."""

    def __init__(self, form: JsonFormat) -> None:
        self.n_matches = 0
        self._form = form
        self._files: list[_JsonFile] = []
        self._n_searched = 0
        self._path: str | None = None
        self._count = 0
        self._records: list[bytes] = []

    def feed(self, lines: Iterable[bytes]) -> None:
        """Take complete lines."""
        for line in lines:
            if line.startswith(_MATCH):
                self._add(line)
            elif line.startswith(_CONTEXT):
                self._records.append(line)
            elif line.startswith(_BEGIN):
                self._path = clean_path(_bytes(_data(line)["path"]))
            elif line.startswith(_END):
                self._close(is_cut=_WHOLE not in line)
            elif (found := _SEARCHED.search(line)) is not None:
                self._n_searched += int(found[1])

    @staticmethod
    def ends_a_file(line: bytes) -> bool:
        """Return whether a line is the last one of a file."""
        return line.startswith(_END)

    def end(self) -> Found:
        """Return what was found; a file in whose middle the lines stopped is one."""
        self._close()
        return Found(self._files, self.n_matches, self._n_searched)

    def _add(self, record: bytes) -> None:
        n = 1
        if self._form.counts_matches:
            line = _matches_alone(_line(_data(record), is_match=True), self._form)
            n = max(1, len(line.spans)) if line is not None else 0
        self.n_matches += n
        self._count += n
        self._records.append(record)

    def _close(self, *, is_cut: bool = False) -> None:
        if self._path is not None and self._count:
            output = b"\n".join(self._records)
            self._files.append(
                _JsonFile(self._path, self._count, is_cut, self._form, output, 0, len(output))
            )
        self._path, self._count, self._records = None, 0, []


@dataclass(slots=True)
class _JsonFile:
    path: str
    count: int
    is_cut_at_nul: bool
    form: JsonFormat
    output: bytes
    start: int
    end: int
    """Where in the output its lines are, as half-open bytes, with other lines after them."""

    def read(
        self, first: int = 0, last: int | None = None, around: int = 0
    ) -> tuple[Sequence[Line], int]:
        """Return some matches with the lines around them; see `FoundFile`."""
        printed = self.output[self.start : self.end].split(b"\n")
        records = [line for line in printed if line.startswith((_MATCH, _CONTEXT))]
        are_matches = [record.startswith(_MATCH) for record in records]
        part, n_before = matching_part(are_matches, first, last, around)
        decoded = json.loads((b"[" + b",".join(records[part]) + b"]").decode())
        lines = [_line(item["data"], is_match=item["type"] == "match") for item in decoded]
        if self.form.counts_matches:
            alone = (_matches_alone(line, self.form) for line in lines)
            lines = [line for line in alone if line is not None]
        return lines, n_before


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


def _line(data: dict[str, Any], *, is_match: bool) -> Line:
    spans = tuple((int(found["start"]), int(found["end"])) for found in data["submatches"])
    return Line(int(data["line_number"] or 0), _bytes(data["lines"]), spans, is_match)


def _matches_alone(line: Line, form: JsonFormat) -> Line | None:
    """Return a line with the matches that are shown alone, None when there is none.

    Over several lines, a match of nothing but line ends is not.
    """
    if not form.is_multiline or not line.spans:
        return line
    shown = tuple(span for span in line.spans if line.raw[span[0] : span[1]].strip(b"\r\n"))
    return line._replace(spans=shown) if shown else None
