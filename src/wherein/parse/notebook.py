"""Leaves only the cells' sources of a Jupyter notebook, each line in its place."""

from __future__ import annotations

import json
import re

__all__ = ["NOTEBOOK", "cell_sources", "is_python"]

NOTEBOOK = "jupyter"
"""The language of such files."""

_TEXT = rb'"(?:[^"\\\n]|\\.)*+"'
_TEXTS = rb"\[(?:\s*+" + _TEXT + rb"\s*+,?)*+\s*+\]"
_CELL_PART = re.compile(
    rb'(?<!\\)"(?:cell_type"\s*:\s*"(?P<kind>\w+)"'
    rb'|(?:source|input)"\s*:\s*(?P<source>' + _TEXTS + rb"|" + _TEXT + rb"))"
)
_LINE = re.compile(_TEXT)
_LANGUAGE = re.compile(
    rb'(?<!\\)"language(?:_info)?"\s*:\s*(?:\{[^{}]{0,2000}?"name"\s*:\s*)?"([^"\n]+)"'
)
_COMMAND = re.compile(rb"[%!]")
_BLANKS = bytes(byte if byte in b"\r\n" else 0x20 for byte in range(256))


def cell_sources(text: bytes) -> bytes:
    """Return ``text`` with the cells' sources as a person reads them and all else as spaces.

    As long as ``text``, with the same line ends, so that every line keeps its number. Outputs are
    gone; prose and commands to the notebook (``%matplotlib``, ``!pip``) become comments.

    Args:
        text: The notebook's JSON, of any form. What is no notebook becomes spaces.
    """
    blank = text.translate(_BLANKS)
    pieces: list[bytes] = []
    position, kind = 0, b"code"
    for part in _CELL_PART.finditer(text):
        kind = part["kind"] or kind
        if part["source"] is None:
            continue
        for line in _LINE.finditer(text, *part.span("source")):
            start = text.rfind(b"\n", 0, line.start()) + 1
            if start < position or text[start : line.start()].strip():
                start = line.start()
            pieces += (blank[position:start], _shown(line[0], kind, line.end() - start))
            position = line.end()
    pieces.append(blank[position:])
    return b"".join(pieces)


def is_python(text: bytes) -> bool:
    """Return whether the notebook says that its code is Python, or nothing of its language."""
    named = {found[1].lower() for found in _LANGUAGE.finditer(text)}
    return not named or any(name.startswith((b"python", b"ipython")) for name in named)


def _shown(literal: bytes, kind: bytes, size: int) -> bytes:
    """Return a line of a source, filled up with spaces to ``size`` bytes."""
    try:
        line = str(json.loads(literal)).encode("utf-8", "replace")
    except ValueError:
        line = literal[1:-1]
    line = line.rstrip(b"\r\n").replace(b"\n", b" ").replace(b"\r", b" ")
    if kind != b"code":
        line = b"# " + line
    elif line.lstrip().startswith((b"%", b"!")):
        line = _COMMAND.sub(b"#", line, count=1)
    return line.ljust(size)[:size]
