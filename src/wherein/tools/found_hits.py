"""Makes of a hit what is shown: where it is, with the lines that say why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from wherein.errors import PathError
from wherein.tools.context import ToolContext
from wherein.tools.repositories import Repository
from wherein.types import Evidence, Hit, Span

__all__ = ["FoundHit", "ShownLine", "found_hit"]

_CONCISE_LINES = 3
"""Lines of a hit shown by default: the head of the definition and the two most telling ones."""

_FULL_LINES = 120
"""Lines of a hit shown with ``detail=full``; a chunk of usual size is 20 to 60."""


@dataclass(frozen=True, slots=True)
class ShownLine:
    """One line of a file."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class FoundHit:
    """One place that answers the query."""

    path: str
    """Relative to the folder that was searched, with ``/``."""
    start_line: int
    end_line: int
    symbol: str
    kind: str
    language: str | None
    score: float
    evidence: Evidence
    rank: int
    repository: str
    """The folder or address searched, as it was named."""
    signature: str = ""
    further: tuple[Span, ...] = ()
    """Other good places in the same file."""
    lines: tuple[ShownLine, ...] = ()
    """The lines that show why, in order."""
    is_repeat: bool = False
    """True when this session was shown these lines before: they are left out."""
    signals: Mapping[str, float] = field(default_factory=dict[str, float])
    """With ``explain``: what the score is the sum of."""


def found_hit(
    context: ToolContext, repository: Repository, hit: Hit, rank: int, *, explain: bool, detail: str
) -> FoundHit:
    """Return a hit as it is shown.

    Args:
        context: Whose session remembers what was shown.
        repository: Where it was found.
        hit: What search gave.
        rank: Its place in the whole answer, 1-based.
        explain: Whether the signals are wanted.
        detail: ``full`` for the whole place, else its few most telling lines.
    """
    lines = _lines_of(repository.root, hit, detail)
    found = FoundHit(
        path=_relative(hit.path, repository.base),
        start_line=hit.start_line,
        end_line=hit.end_line,
        symbol=hit.symbol,
        kind=hit.kind,
        language=hit.language,
        score=round(hit.score, 6),
        evidence=hit.evidence,
        rank=rank,
        repository=repository.name,
        signature=hit.signature,
        further=tuple(
            replace(span, path=_relative(span.path, repository.base)) for span in hit.further
        ),
        lines=lines,
        signals=dict(hit.signals) if explain else {},
    )
    return _as_repeat(context, repository, found)


def _relative(path: str, base: str) -> str:
    return path.removeprefix(f"{base}/") if base else path


def _as_repeat(context: ToolContext, repository: Repository, hit: FoundHit) -> FoundHit:
    """Leave out lines that this session was shown before, under the same place and unchanged."""
    session = context.session
    if session is None:
        return hit
    from hashlib import blake2b

    from wherein.budget import count_tokens

    text = "\n".join(f"{line.number}: {line.text}" for line in hit.lines)
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    key = f"{repository.root}/{hit.path}:{hit.start_line}"
    is_repeat = bool(hit.lines) and session.is_shown("hit", key, digest)
    session.remember("hit", key, digest)
    if not is_repeat:
        return hit
    session.count_repeat(count_tokens(text))
    return replace(hit, lines=(), is_repeat=True)


def _lines_of(root: Path, hit: Hit, detail: str) -> tuple[ShownLine, ...]:
    """Return the lines to show, read from the file as it is now."""
    from wherein.walk.encoding import decode
    from wherein.walk.reading import read_file

    try:
        decoded = decode(read_file(root, hit.path).data)
    except PathError:
        return ()
    if decoded is None:
        return ()
    text = decoded.text.split("\n")
    last = min(hit.end_line, len(text))
    if detail == "full":
        numbers = list(range(hit.start_line, min(last, hit.start_line + _FULL_LINES - 1) + 1))
    else:
        numbers = _telling(hit, text, last)
    return tuple(ShownLine(n, text[n - 1].rstrip("\r")) for n in numbers)


def _telling(hit: Hit, text: Sequence[str], last: int) -> list[int]:
    """Return the head of the chunk and the most telling lines, in order."""
    lines = [n for n in hit.matched_lines if hit.start_line <= n <= last and text[n - 1].strip()]
    chosen = lines[:_CONCISE_LINES]
    if len(chosen) < _CONCISE_LINES:
        heads = (n for n in range(hit.start_line, last + 1) if text[n - 1].strip())
        chosen.extend(n for n in [next(heads, 0)] if n and n not in chosen)
    return sorted(chosen)
