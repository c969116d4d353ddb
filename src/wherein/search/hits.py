"""Makes the hits of a ranked query: the place in each of the first files, with telling lines."""

from __future__ import annotations

from wherein.search import evidence
from wherein.search.equipment import Equipment
from wherein.search.finding import Found
from wherein.search.places import (
    Place,
    choose_place,
    lines_between,
    matched_lines,
    telling_texts,
)
from wherein.search.rank import Ranked, WeightSet, contributions
from wherein.search.reranking import Reranked, rerank
from wherein.types import RERANKER_SIGNAL, Evidence, Hit

__all__ = ["make_hit", "reranked"]


def reranked(found: Found, ranked: Ranked, equipment: Equipment) -> Reranked:
    """Let the reranker, where there is one, read the best place of each of the first files."""
    reranking, read_text = equipment.reranking, equipment.read_text
    if reranking is None or read_text is None:
        return Reranked(ranked)
    rows: list[int] = []
    texts: list[str] = []
    for row in ranked.order[: reranking.n_files]:
        path = found.matches.index.path(int(found.evaluated.files[row]))
        content = read_text(path)
        if content is None:
            continue
        place = _place(found, row)
        lines = lines_between(content, place.start_line, place.end_line)
        rows.append(row)
        texts.append("\n".join([path, *lines]))
    return rerank(reranking, found.query.subject, ranked, rows, texts)


def make_hit(
    found: Found,
    final: Reranked,
    weights: WeightSet,
    place: int,
    sureness: Evidence,
    equipment: Equipment,
) -> Hit:
    """Return the hit at one place of the order.

    Args:
        found: What the query brought to light.
        final: The order and the scores.
        weights: What the scores were made with.
        place: From 0.
        sureness: How sure the whole answer is.
        equipment: Reads the file for its telling lines.
    """
    row = final.ranked.order[place]
    ordinal = int(found.evaluated.files[row])
    file = found.matches.index.file(ordinal)
    literal = found.literals.get(ordinal)
    chosen = _place(found, row)
    numbers: tuple[int, ...] = ()
    texts: dict[int, str] = {}
    content = equipment.read_text(file.path) if equipment.read_text is not None else None
    if content is not None:
        lines = lines_between(content, chosen.start_line, chosen.end_line)
        numbers = matched_lines(lines, chosen.start_line, found.matches.term_weights)
        if literal and chosen.start_line <= literal.line <= chosen.end_line:
            numbers = tuple(dict.fromkeys([literal.line, *numbers]))
        texts = telling_texts(lines, chosen.start_line, numbers)
    signals = dict(contributions(found.evaluated, weights, row))
    if row in final.added:
        signals[RERANKER_SIGNAL] = final.added[row]
    return Hit(
        path=file.path,
        start_line=chosen.start_line,
        end_line=chosen.end_line,
        symbol=chosen.symbol,
        kind=chosen.kind,
        language=file.language,
        score=float(final.ranked.scores[row]),
        rank=place + 1,
        evidence=evidence.hit_level(found.evaluated, row, sureness),
        repository=equipment.repository,
        signature=chosen.signature,
        further=chosen.further,
        matched_lines=numbers,
        texts=texts,
        signals=signals,
    )


def _place(found: Found, row: int) -> Place:
    literal = found.literals.get(int(found.evaluated.files[row]))
    line = literal.line if literal else None
    return choose_place(found.matches, found.query, row, found.similarities, line)
