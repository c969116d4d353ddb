"""Writes a replay as one HTML file that needs nothing from outside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape

from wherein.measure.arms import ARM_HELP
from wherein.measure.report import CONTROL, Miss, ReplayReport
from wherein.measure.report_charts import (
    Bar,
    BarGroup,
    Line,
    bar_chart,
    color_of,
    line_chart,
)
from wherein.measure.requests import NAMED, PLAIN

__all__ = ["page", "to_html"]

_MIN_ROUNDS_GAIN = 0.1
"""Arms that gain less from further rounds are answered in one and not drawn."""

_STYLE = """
:root { --bg:#fff; --fg:#1c1e21; --dim:#5c6370; --rule:#d9dce1; --card:#f5f6f8;
 --c0:#8a8f98; --c1:#1f6fc4; --c2:#b35900; --c3:#2a8a4a; --c4:#7a3fb8; --c5:#b3123f;
 --c6:#00707a; --c7:#6b5b00; }
@media (prefers-color-scheme: dark) { :root { --bg:#16181c; --fg:#e6e8eb; --dim:#9aa2ad;
 --rule:#363b43; --card:#1f2329; --c0:#9aa0aa; --c1:#62a8f0; --c2:#eb9a4a; --c3:#62c383;
 --c4:#b98af0; --c5:#f0708f; --c6:#4fc3cd; --c7:#d0bb4a; } }
* { box-sizing: border-box; }
body { background:var(--bg); color:var(--fg); font:16px/1.5 system-ui,sans-serif; margin:0 auto;
 max-width:860px; padding:32px 24px 80px; }
h1 { font-size:26px; margin:0 0 4px; overflow-wrap:anywhere; }
h2 { font-size:19px; margin:40px 0 8px; }
p { margin:8px 0; } .dim, small { color:var(--dim); }
.headline { background:var(--card); border-radius:8px; padding:14px 18px; margin:18px 0; }
table { border-collapse:collapse; font-size:14px; width:100%; margin:10px 0; }
.scroll { overflow-x:auto; }
th, td { border-bottom:1px solid var(--rule); padding:5px 8px; text-align:right;
 font-variant-numeric:tabular-nums; white-space:nowrap; }
th:first-child, td:first-child { text-align:left; } th { color:var(--dim); font-weight:600; }
svg { width:100%; height:auto; display:block; margin:10px 0; }
svg text { fill:var(--fg); font:13px system-ui,sans-serif; }
svg .head { font-weight:600; } svg .tick, svg .axis, svg .dim { fill:var(--dim); font-size:12px; }
svg .grid { stroke:var(--rule); } svg .whisker { stroke:var(--fg); stroke-width:1.5; }
details { border-bottom:1px solid var(--rule); padding:6px 0; }
summary { cursor:pointer; overflow-wrap:anywhere; } code { font:13px ui-monospace,monospace; }
ol { margin:4px 0 8px; padding-left:28px; } li { overflow-wrap:anywhere; }
.hit { color:var(--c3); font-weight:600; }
"""


def to_html(report: ReplayReport, *, made: datetime | None = None) -> str:
    """Return the whole page.

    Args:
        report: What the replay found.
        made: Shown as the time of the report; None leaves it out, so the same report is the same
            bytes.
    """
    name = report.repository.rstrip("/").rpartition("/")[2] or report.repository
    sections = [
        f"<h1>Replay of {escape(name)}</h1>",
        f'<p class="dim">{escape(_what(report))}</p>',
        _headline(report),
        *(f"<p>Note: {escape(note)}.</p>" for note in report.notes),
    ]
    if report.n_requests:
        sections += [
            _rates(report),
            _rounds(report),
            _tokens(report),
            _sizes(report),
            _table(report),
            _differences(report),
            _misses(report),
        ]
    sections += [_skipped(report), _method(report)]
    if made is not None:
        sections.append(f"<p><small>Made {made.astimezone(UTC):%Y-%m-%d %H:%M} UTC.</small></p>")
    return page(f"Replay of {name}", sections)


def page(title: str, sections: Iterable[str]) -> str:
    """Return an HTML page that loads nothing, with the reports' style."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>\n"
        + "\n".join(section for section in sections if section)
        + "\n</body></html>\n"
    )


def _what(report: ReplayReport) -> str:
    if not report.n_requests:
        return f"No request could be made ({report.history})."
    where = (
        f"one tree of {report.n_files} source files, older than every request"
        if report.mode == "snapshot"
        else "each in its own parent's tree"
    )
    return (
        f"{report.n_requests} of the repository's own commits as requests "
        f"({report.n_named} name code, {report.n_plain} are plain words), searched in {where}, "
        f"with only earlier history ({report.history})."
    )


def _headline(report: ReplayReport) -> str:
    """Say in one paragraph what it comes to."""
    ranked = [f for f in report.figures if f.group == "all"]
    if not ranked:
        return ""
    best = max(ranked, key=lambda f: (f.hit_at[10].mean, f.arm == CONTROL, f.hit_at[1].mean))
    grep = report.figure(CONTROL)
    text = f"<b>{escape(best.arm)}</b> has a changed file among its first ten for "
    text += f"<b>{best.hit_at[10].mean:.0%}</b> of the requests, first of all for "
    text += f"{best.hit_at[1].mean:.0%}."
    if grep is not None and best.arm != CONTROL:
        text += (
            f" The scripted grep searcher opens one within three rounds for "
            f"<b>{grep.within_rounds[3]:.0%}</b>, within six for {grep.within_rounds[6]:.0%}, "
            f"and needs {grep.mean_rounds:.1f} rounds on average."
        )
    return f'<div class="headline">{text}</div>'


def _rates(report: ReplayReport) -> str:
    groups: list[BarGroup] = []
    for kind, title in (
        (NAMED, f"Requests that name code ({report.n_named})"),
        (PLAIN, f"Requests in plain words ({report.n_plain})"),
    ):
        bars: list[Bar] = []
        for place, arm in enumerate(report.arms):
            figure = report.figure(arm, kind)
            if figure is not None:
                hit = figure.hit_at[10]
                bars.append(Bar(arm, hit.mean, hit.low, hit.high, color_of(place)))
        if bars:
            groups.append(BarGroup(title, tuple(bars)))
    chart = bar_chart("A changed file among the first ten, by kind of request and arm", groups)
    return (
        "<h2>A changed file among the first ten</h2>"
        "<p>Share of requests, with 95 % bootstrap intervals.</p>" + chart
    )


def _rounds(report: ReplayReport) -> str:
    groups: list[BarGroup] = []
    for place, arm in enumerate(report.arms):
        figure = report.figure(arm)
        if figure is None or figure.within_rounds[6] - figure.within_rounds[1] < _MIN_ROUNDS_GAIN:
            continue
        color = color_of(place)
        bars = tuple(
            Bar(f"within {n}", share, share, share, color)
            for n, share in sorted(figure.within_rounds.items())
        )
        groups.append(BarGroup(f"{arm}: {figure.mean_rounds:.1f} rounds on average", bars))
    if not groups:
        return ""
    chart = bar_chart("Requests answered within so many rounds of searching", groups)
    return (
        "<h2>Rounds of searching</h2><p>A round is one search whose files are looked at. "
        "The other arms answer in their first round or hardly at all.</p>" + chart
    )


def _tokens(report: ReplayReport) -> str:
    lines: list[Line] = []
    for place, arm in enumerate(report.arms):
        figure = report.figure(arm)
        if figure is not None:
            points = tuple((float(p.tokens), p.share) for p in figure.recall_by_tokens)
            lines.append(Line(arm, points, color_of(place)))
    chart = line_chart(
        "Share of requests whose target was shown, by model tokens read",
        lines,
        x_label="model tokens shown to the asker (logarithmic)",
        y_label="target shown",
        is_log=True,
    )
    return (
        "<h2>Tokens against recall</h2><p>What a searcher had put before the asker when the first "
        "changed file came up: its lists, and for every file before it the lines shown.</p>" + chart
    )


def _sizes(report: ReplayReport) -> str:
    if len({item.share for item in report.sizes}) < 2:  # a note says why
        return ""
    arms = list(dict.fromkeys(item.arm for item in report.sizes))
    lines = [
        Line(
            arm,
            tuple(sorted((float(s.n_files), s.hit_at_10) for s in report.sizes if s.arm == arm)),
            color_of(report.arms.index(arm)),
        )
        for arm in arms
    ]
    chart = line_chart(
        "hit@10 with a quarter, a half and all of the files",
        lines,
        x_label="source files in the tree",
        y_label="hit@10",
    )
    return (
        "<h2>Size of the repository</h2><p>The same requests with a half and a quarter of the "
        "files; every changed file stays. A line that is flat here needs no help at this size.</p>"
        + chart
    )


def _table(report: ReplayReport) -> str:
    rows = [
        (
            f"{f.arm} · {f.group}",
            str(f.n),
            f"{f.hit_at[1].mean:.3f}",
            f"{f.hit_at[5].mean:.3f}",
            f"{f.hit_at[10].mean:.3f}",
            f"{f.recall_at_10:.3f}",
            f"{f.mrr:.3f}",
            f"{f.mean_rounds:.2f}",
            "–" if f.median_tokens is None else f"{f.median_tokens:.0f}",
            f"{f.mean_seconds * 1000:.0f} ms",
        )
        for f in report.figures
    ]
    head = ("arm · requests", "n", "hit@1", "hit@5", "hit@10", "recall@10", "MRR", "rounds",
            "tokens", "time")  # fmt: skip
    return (
        "<h2>All figures</h2>"
        + _html_table(head, rows)
        + (
            "<p><small>“1 file”, “2-3 files”, “4+ files”: by the source files the commit changed. "
            "tokens: median until a target was shown, where one was.</small></p>"
        )
    )


def _differences(report: ReplayReport) -> str:
    chosen = [d for d in report.differences if d.group in {"all", NAMED, PLAIN}]
    if not chosen:
        return ""
    rows = [
        (
            f"{d.arm} · {d.group}",
            f"hit@{d.k}",
            f"{d.interval.mean:+.3f}",
            f"{d.interval.low:+.3f} to {d.interval.high:+.3f}",
            "yes" if d.is_clear else "no",
        )
        for d in chosen
    ]
    head = ("arm · requests", "", f"less {CONTROL}", "95 % interval", "clear")
    return (
        f"<h2>Against {CONTROL}, request by request</h2>"
        "<p>Paired differences; “clear” when the interval leaves zero out.</p>"
        + _html_table(head, rows)
    )


def _misses(report: ReplayReport) -> str:
    if not report.misses:
        return "<h2>Misses</h2><p>Every arm had a changed file among its first ten.</p>"
    return (
        f"<h2>Misses ({len(report.misses)})</h2><p>Requests that some arm did not answer in ten, "
        "with what each arm put first; hardest first.</p>"
        + "".join(_miss(report.arms, miss) for miss in report.misses)
    )


def _miss(arms: Sequence[str], miss: Miss) -> str:
    targets = set(miss.request.targets)
    ranks = ", ".join(
        f"{arm} {miss.ranks[arm] if miss.ranks[arm] is not None else '–'}" for arm in arms
    )
    wanted = ", ".join(f"<code>{escape(path)}</code>" for path in miss.request.targets)
    lists = "".join(
        f"<p><b>{escape(arm)}</b></p><ol>"
        + "".join(_place(path, is_hit=path in targets) for path in miss.opened[arm])
        + "</ol>"
        for arm in arms
    )
    return (
        f"<details><summary>{escape(_safe(miss.request.text))} "
        f"<small>({miss.request.kind}; ranks: {escape(ranks)})</small></summary>"
        f"<p>Changed: {_safe(wanted)} in <code>{miss.request.sha[:12]}</code></p>{lists}</details>"
    )


def _place(path: str, *, is_hit: bool) -> str:
    name = ' class="hit"' if is_hit else ""
    return f"<li{name}><code>{escape(_safe(path))}</code></li>"


def _skipped(report: ReplayReport) -> str:
    if not report.skipped:
        return ""
    rows = [(reason, str(count)) for reason, count in sorted(report.skipped.items())]
    return "<h2>Commits that are no requests</h2>" + _html_table(("why", "commits"), rows)


def _method(report: ReplayReport) -> str:
    items = "".join(
        f"<li><b>{escape(arm)}</b>: {escape(ARM_HELP.get(arm, 'a command of your own'))}.</li>"
        for arm in report.arms
    )
    return (
        "<h2>How it was measured</h2><p>A request is the cleaned subject line of a commit; the "
        "answer is any source file it changed that existed before (no tests, documents, examples, "
        "generated or vendored files). Commit subjects are worded by the people who wrote the "
        "history, so what history adds here is an upper bound for other wording.</p>"
        f"<ul>{items}</ul>"
    )


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f'<div class="scroll"><table><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _safe(text: str) -> str:
    """Return text that can be encoded: names that are not UTF-8 hold surrogates."""
    return text.encode("utf-8", "backslashreplace").decode()
