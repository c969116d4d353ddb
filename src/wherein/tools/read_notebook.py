"""Shows a Jupyter notebook as its cells: sources in full, outputs as short text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import cast

__all__ = ["notebook_lines"]

MAX_OUTPUT_LINES = 20
"""Lines shown of one output: tables and traces say what they say in the first ones."""

MAX_OUTPUT_CHARS = 500


def notebook_lines(text: str) -> list[str] | None:
    """Return the notebook's cells as lines, None when the text is no notebook."""
    try:
        loaded: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(loaded, dict):
        return None
    notebook = cast("dict[str, object]", loaded)
    cells = _cells(notebook)
    if cells is None:
        return None
    lines: list[str] = []
    for number, cell in enumerate(cells, 1):
        if isinstance(cell, dict):
            lines.extend(_cell(number, cast("dict[str, object]", cell)))
    return lines


def _cells(notebook: dict[str, object]) -> list[object] | None:
    """Return the cells; before format 4 they lie in worksheets."""
    cells = notebook.get("cells")
    if isinstance(cells, list):
        return cast("list[object]", cells)
    sheets = notebook.get("worksheets")
    if not isinstance(sheets, list):
        return None
    found: list[object] = []
    for sheet in cast("list[object]", sheets):
        inside = cast("dict[str, object]", sheet).get("cells") if isinstance(sheet, dict) else None
        found.extend(cast("list[object]", inside) if isinstance(inside, list) else ())
    return found


def _cell(number: int, cell: dict[str, object]) -> Iterator[str]:
    kind = str(cell.get("cell_type", "raw"))
    count = cell.get("execution_count", cell.get("prompt_number"))
    ran = f" [{count}]" if isinstance(count, int) else ""
    yield f"# %% [{kind}] cell {number}{ran}"
    yield from _lines(cell.get("source", cell.get("input")))
    outputs = cell.get("outputs")
    if isinstance(outputs, list):
        for output in cast("list[object]", outputs):
            if isinstance(output, dict):
                yield from _output(cast("dict[str, object]", output))
    yield ""


def _lines(source: object) -> list[str]:
    """Return the lines of a source, which is a text or a list of texts."""
    if isinstance(source, list):
        pieces = cast("list[object]", source)
        source = "".join(piece for piece in pieces if isinstance(piece, str))
    return source.removesuffix("\n").split("\n") if isinstance(source, str) and source else []


def _output(output: dict[str, object]) -> Iterator[str]:
    if "text" in output:
        yield from _short("# > ", _lines(output["text"]))
    if output.get("output_type") == "error":
        yield f"# > {output.get('ename', 'Error')}: {output.get('evalue', '')}"[:MAX_OUTPUT_CHARS]
    data = output.get("data")
    if isinstance(data, dict):
        yield from _rich(cast("dict[str, object]", data))


def _rich(data: dict[str, object]) -> Iterator[str]:
    """Show the plain form of a rich output and name its other forms."""
    plain = data.get("text/plain")
    if plain is not None:
        yield from _short("# > ", _lines(plain))
    others = sorted(kind for kind in data if kind != "text/plain")
    if others:
        yield f"# > [{', '.join(others)}]"


def _short(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines[:MAX_OUTPUT_LINES]:
        cut = line if len(line) <= MAX_OUTPUT_CHARS else f"{line[:MAX_OUTPUT_CHARS]}…"
        yield mark + cut
    if len(lines) > MAX_OUTPUT_LINES:
        yield f"{mark}… [{len(lines) - MAX_OUTPUT_LINES} lines]"
