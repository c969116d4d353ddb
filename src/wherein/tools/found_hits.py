"""Makes of a hit what is shown: where it is, with the lines that say why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from wherein.errors import PathError
from wherein.tools.context import ToolContext
from wherein.tools.excerpt import MAX_COLUMNS
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
    """At most `excerpt.MAX_COLUMNS` characters; a longer line ends with ``…``."""


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
    """Return the lines to show; what the answer did not read is read from the file as it is now."""
    texts = hit.texts
    if detail == "full" or not texts:
        texts = _read_place(root, hit)
    numbers = list(texts)[:_FULL_LINES] if detail == "full" else _telling(hit, texts)
    return tuple(ShownLine(number, _cut(texts[number].rstrip("\r"))) for number in numbers)


def _cut(text: str) -> str:
    """Return the beginning of a line that no person wrote so long, marked."""
    return text if len(text) <= MAX_COLUMNS else f"{text[:MAX_COLUMNS]}…"


def _read_place(root: Path, hit: Hit) -> dict[int, str]:
    from wherein.search.places import lines_between
    from wherein.walk.encoding import decode
    from wherein.walk.reading import read_file

    try:
        decoded = decode(read_file(root, hit.path).data)
    except PathError:
        return {}
    if decoded is None:
        return {}
    lines = lines_between(decoded.text, hit.start_line, hit.end_line)
    return dict(enumerate(lines, hit.start_line))


def _telling(hit: Hit, texts: Mapping[int, str]) -> list[int]:
    """Return the head of the place and the most telling lines, in order."""
    written = [number for number in sorted(texts) if texts[number].strip()]
    chosen = [number for number in hit.matched_lines if number in written][:_CONCISE_LINES]
    if len(chosen) < _CONCISE_LINES:
        chosen.extend(number for number in written[:1] if number not in chosen)
    return sorted(chosen)
