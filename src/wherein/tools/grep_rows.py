"""Makes the rows of an answer from ripgrep's lines: decoded, and cut where they are long."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from wherein.tools.excerpt import MAX_COLUMNS, cut_line
from wherein.tools.grep_found import Line
from wherein.tools.grep_types import GrepRow

__all__ = ["make_rows"]

MAX_MATCH_LINES = 100
"""Lines shown of one multiline match."""

_UTF8 = "utf-8"


def make_rows(
    lines: Sequence[Line],
    path: str,
    *,
    only_matching: bool = False,
    find_encoding: Callable[[], str] = str,
) -> Iterator[GrepRow]:
    """Yield the rows of some lines of one file.

    Args:
        lines: In order.
        path: The path to put into the rows.
        only_matching: One row for each match, holding nothing else.
        find_encoding: Asked when a line is not UTF-8: how the file is written. An empty answer
            takes such bytes as Latin-1.
    """
    encoding = ""
    for line in lines:
        is_alone = only_matching and line.is_match and bool(line.spans)
        if not is_alone and _is_short(line.raw):
            yield _short_row(path, line)
            continue
        used = _UTF8
        if not _is_utf8(line.raw):
            used = encoding = encoding or find_encoding() or _UTF8
        if is_alone:
            for span in line.spans:
                yield _match_row(path, line, span, used)
        else:
            yield _row(path, line, used)


def _is_short(raw: bytes) -> bool:
    """Return whether this is one line that is shown whole as it is, as nearly all are."""
    return len(raw) <= MAX_COLUMNS and raw.isascii() and b"\n" not in raw[:-1]


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _short_row(path: str, line: Line) -> GrepRow:
    """Return what `_row` does for one line where bytes are characters, in a third of the time."""
    number, raw, spans, is_match = line
    text = raw.decode("ascii").removesuffix("\n").removesuffix("\r")
    n = len(text)
    column = spans[0][0] + 1 if spans else 0
    if spans and spans[-1][1] > n:  # a match of the line's end
        spans = tuple((start, min(end, n)) for start, end in spans if start <= n)
    # By place, which takes two thirds of the time.
    return GrepRow(path, number, text, is_match, number, column, spans, n)


def _row(path: str, line: Line, encoding: str) -> GrepRow:
    """Return a record as one row, each of its lines cut."""
    pieces = [_without_end(piece) for piece in line.raw.removesuffix(b"\n").split(b"\n")]
    first = pieces[0]
    inside = [(start, min(end, len(first))) for start, end in line.spans if start <= len(first)]
    cut = cut_line(first, inside, encoding=encoding)
    texts = [cut.text]
    texts.extend(cut_line(piece, encoding=encoding).text for piece in pieces[1:MAX_MATCH_LINES])
    if len(pieces) > MAX_MATCH_LINES:
        texts.append(f"… [{len(pieces) - MAX_MATCH_LINES} lines]")
    return GrepRow(
        path=path,
        line=line.number,
        text=_printable("\n".join(texts)),
        is_match=line.is_match,
        end_line=line.number + len(pieces) - 1,
        column=line.spans[0][0] + 1 if line.spans else 0,
        spans=cut.spans,
        n_bytes=len(first),
        n_cut_before=cut.n_before,
        n_cut_after=cut.n_after,
    )


def _match_row(path: str, line: Line, span: tuple[int, int], encoding: str) -> GrepRow:
    """Return one match alone."""
    start, end = span
    line_start = line.raw.rfind(b"\n", 0, start) + 1
    pieces = _without_end(line.raw[start:end]).split(b"\n")
    cuts = [cut_line(_without_end(piece), encoding=encoding) for piece in pieces]
    number = line.number + line.raw.count(b"\n", 0, start)
    return GrepRow(
        path=path,
        line=number,
        text=_printable("\n".join(cut.text for cut in cuts[:MAX_MATCH_LINES])),
        end_line=number + len(pieces) - 1,
        column=start - line_start + 1,
        spans=((0, len(cuts[0].text)),),
        n_bytes=len(_without_end(line.raw[line_start:].split(b"\n", 1)[0])),
        n_cut_after=cuts[0].n_after,
        is_whole_line=False,
    )


def _without_end(line: bytes) -> bytes:
    line = line.removesuffix(b"\n")
    return line.removesuffix(b"\r")


def _printable(text: str) -> str:
    """Return text without surrogates: a byte that fits no encoding is shown as Latin-1 has it."""
    if text.isascii() or not any("\udc80" <= c <= "\udcff" for c in text):
        return text
    return "".join(chr(ord(c) - 0xDC00) if "\udc80" <= c <= "\udcff" else c for c in text)
