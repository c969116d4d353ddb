"""Draws small plots as SVG text, for reports that need nothing from outside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

__all__ = ["COLORS", "Bar", "BarGroup", "Line", "bar_chart", "color_of", "line_chart"]

COLORS = ("--c0", "--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7")
"""Names of the style sheet's series colours; one for each arm, the same in every plot."""

_WIDTH = 760
_BAR_HEIGHT = 16
_BAR_GAP = 5
_GROUP_GAP = 18
_LABEL_WIDTH = 150
_VALUE_WIDTH = 126
_PLOT_HEIGHT = 260
_MARGIN = 62
_END_LABEL_WIDTH = 120
_MIN_LABEL_GAP = 15


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar with its interval, 0 to 1."""

    label: str
    value: float
    low: float
    high: float
    color: str


@dataclass(frozen=True, slots=True)
class BarGroup:
    """Bars under one heading."""

    title: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One series; x ascending, y 0 to 1."""

    label: str
    points: tuple[tuple[float, float], ...]
    color: str


def color_of(place: int) -> str:
    """Return the colour of the series with this place."""
    return COLORS[place % len(COLORS)]


def bar_chart(title: str, groups: Sequence[BarGroup]) -> str:
    """Return horizontal bars from 0 to 100 % with whiskers for their intervals."""
    width = _WIDTH - _LABEL_WIDTH - _VALUE_WIDTH
    rows: list[str] = []
    y = 6
    for group in groups:
        rows.append(f'<text class="head" x="0" y="{y + 12}">{escape(group.title)}</text>')
        y += 22
        for bar in group.bars:
            rows.append(_bar(bar, y, width))
            y += _BAR_HEIGHT + _BAR_GAP
        y += _GROUP_GAP
    grid = "".join(
        f'<line class="grid" x1="{_LABEL_WIDTH + width * step / 4:.1f}" y1="22"'
        f' x2="{_LABEL_WIDTH + width * step / 4:.1f}" y2="{y - _GROUP_GAP}"/>'
        for step in range(5)
    )
    return _svg(title, y - 8, grid + "".join(rows))


def _bar(bar: Bar, y: int, width: int) -> str:
    middle = y + _BAR_HEIGHT / 2
    low, high = (_LABEL_WIDTH + width * _unit(x) for x in (bar.low, bar.high))
    interval = f"{bar.low:.0%}–{bar.high:.0%}" if bar.low < bar.high else ""
    whisker = (
        f'<line class="whisker" x1="{low:.1f}" y1="{middle}" x2="{high:.1f}" y2="{middle}"/>'
        if interval
        else ""
    )
    return (
        f'<text class="label" x="{_LABEL_WIDTH - 8}" y="{middle + 4}" text-anchor="end">'
        f"{escape(bar.label)}</text>"
        f'<rect x="{_LABEL_WIDTH}" y="{y}" width="{width * _unit(bar.value):.1f}"'
        f' height="{_BAR_HEIGHT}" rx="2" style="fill:var({bar.color})"/>'
        f'{whisker}<text class="value" x="{_WIDTH - _VALUE_WIDTH + 8}" y="{middle + 4}">'
        f"{bar.value:.0%} <tspan class='dim'>{interval}</tspan></text>"
    )


def line_chart(
    title: str, lines: Sequence[Line], *, x_label: str, y_label: str, is_log: bool = False
) -> str:
    """Return series over one x axis, each named at its end; with ``is_log``, x is logarithmic."""
    xs = sorted({x for line in lines for x, _ in line.points})
    if not xs:
        return ""
    width = _WIDTH - _MARGIN - _END_LABEL_WIDTH

    def place_x(x: float) -> float:
        first, last = _scale(xs[0], is_log), _scale(xs[-1], is_log)
        return _MARGIN + width * ((_scale(x, is_log) - first) / ((last - first) or 1.0))

    def place_y(y: float) -> float:
        return 12 + _PLOT_HEIGHT * (1 - _unit(y))

    parts: list[str] = []
    for step in range(5):
        y = place_y(step / 4)
        parts.append(
            f'<line class="grid" x1="{_MARGIN}" y1="{y:.1f}" x2="{_MARGIN + width}" y2="{y:.1f}"/>'
            f'<text class="tick" x="{_MARGIN - 8}" y="{y + 4:.1f}" text-anchor="end">'
            f"{step * 25}%</text>"
        )
    bottom = _PLOT_HEIGHT + 30
    parts.extend(
        f'<text class="tick" x="{place_x(x):.1f}" y="{bottom}" text-anchor="middle">{x:g}</text>'
        for x in xs
    )
    parts.append(
        f'<text class="axis" x="{_MARGIN + width / 2}" y="{bottom + 20}" text-anchor="middle">'
        f"{escape(x_label)}</text>"
        f'<text class="axis" x="12" y="{12 + _PLOT_HEIGHT / 2}" text-anchor="middle"'
        f' transform="rotate(-90 12 {12 + _PLOT_HEIGHT / 2})">{escape(y_label)}</text>'
    )
    ends = _spread([place_y(line.points[-1][1]) for line in lines])
    for line, end in zip(lines, ends, strict=True):
        coordinates = " ".join(f"{place_x(x):.1f},{place_y(y):.1f}" for x, y in line.points)
        dots = "".join(
            f'<circle cx="{place_x(x):.1f}" cy="{place_y(y):.1f}" r="3"'
            f' style="fill:var({line.color})"><title>{escape(line.label)}: {y:.0%} at {x:g}</title>'
            "</circle>"
            for x, y in line.points
        )
        parts.append(
            f'<polyline points="{coordinates}" fill="none" stroke-width="2"'
            f' style="stroke:var({line.color})"/>{dots}'
            f'<text class="label" x="{place_x(line.points[-1][0]) + 10:.1f}" y="{end + 4:.1f}"'
            f' style="fill:var({line.color})">{escape(line.label)}</text>'
        )
    return _svg(title, bottom + 28, "".join(parts))


def _spread(places: Sequence[float]) -> list[float]:
    """Move labels apart that would lie over one another, keeping their order."""
    order = sorted(range(len(places)), key=lambda i: (places[i], i))
    moved = list(places)
    for before, after in pairwise(order):
        moved[after] = max(moved[after], moved[before] + _MIN_LABEL_GAP)
    return moved


def _scale(x: float, is_log: bool) -> float:
    return math.log(max(x, 1e-9)) if is_log else x


def _unit(x: float) -> float:
    return min(max(x, 0.0), 1.0)


def _svg(title: str, height: float, body: str) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{body}</svg>"
    )
