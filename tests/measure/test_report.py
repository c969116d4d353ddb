import html.parser
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from wherein.external.run import run
from wherein.measure.arms import Found, Opened
from wherein.measure.report import Case, ReplayReport, SizeFigures, make_report
from wherein.measure.report_charts import Line, line_chart
from wherein.measure.report_html import to_html
from wherein.measure.requests import NAMED, PLAIN, Request
from wherein.metrics import bootstrap_mean
from wherein.render.rendered import PLAIN as PLAIN_STYLE
from wherein.render.replay import render


def request(number: int, kind: str, text: str = "empty the basket", n: int = 1) -> Request:
    return Request(f"{number:040x}", "1" * 40, number, text, kind, ("a.py",), n)


def found(*paths: str, rounds: int = 1) -> Found:
    return Found(tuple(Opened(path, 100, rounds) for path in paths), (10,) * rounds, rounds)


def sample_report() -> ReplayReport:
    cases = [
        Case(request(1, NAMED), {"grep": found("b.py", rounds=6), "hybrid": found("a.py", "b.py")}),
        Case(request(2, NAMED), {"grep": found("a.py", rounds=3), "hybrid": found("b.py", "a.py")}),
        Case(
            request(3, PLAIN, '<script>alert(1)</script> & "quotes" \udce9', 3),
            {"grep": found("<b>.py", "x\udcff.py", rounds=6), "hybrid": found("c.py")},
        ),
    ]
    return make_report(
        cases,
        ["grep", "hybrid"],
        repository="/home/ada/shop",
        mode="snapshot",
        history="40 commits",
        snapshot="2" * 40,
        n_files=12,
        skipped={"merge": 7},
        sizes=[SizeFigures("grep", 1.0, 12, 0.3), SizeFigures("grep", 0.5, 6, 0.6)],
        notes=["only 3 of 300 commits could be requests"],
    )


def test_rates_rounds_and_differences_are_added_up_by_kind() -> None:
    report = sample_report()
    named, grep = report.figure("hybrid", NAMED), report.figure("grep", NAMED)
    assert named is not None
    assert grep is not None
    assert named.hit_at[1].mean == 0.5
    assert named.hit_at[10].mean == 1.0
    assert named.mrr == 0.75
    assert grep.within_rounds == {1: 0.0, 3: 0.5, 6: 0.5}
    assert grep.mean_rounds == 4.5
    assert grep.median_tokens == 100 + 3 * 10
    difference = next(d for d in report.differences if d.group == NAMED and d.k == 10)
    assert difference.interval.mean == 0.5
    assert [f.group for f in report.figures if f.arm == "grep"] == [
        "all",
        "named",
        "plain",
        "1 file",
        "2-3 files",
    ]


def test_the_interval_is_that_of_the_plain_bootstrap() -> None:
    values = [1.0] * 60 + [0.0] * 40
    cases = [
        Case(request(i, PLAIN), {"grep": found("a.py" if value else "b.py")})
        for i, value in enumerate(values)
    ]
    report = make_report(cases, ["grep"], repository="r", mode="snapshot", history="")
    figure = report.figure("grep")
    assert figure is not None
    plain = bootstrap_mean(values)
    assert figure.hit_at[10].mean == plain.mean
    assert figure.hit_at[10].low == pytest.approx(plain.low, abs=0.02)
    assert figure.hit_at[10].high == pytest.approx(plain.high, abs=0.02)


def test_the_hardest_misses_come_first_with_what_each_arm_opened() -> None:
    misses = sample_report().misses
    assert [miss.request.kind for miss in misses] == [PLAIN, NAMED]
    assert misses[0].opened["hybrid"] == ("c.py",)
    assert misses[1].ranks == {"grep": None, "hybrid": 1}


def test_the_table_names_every_arm_and_says_what_was_left_out() -> None:
    text = render(sample_report(), PLAIN_STYLE).whole()
    assert (
        "40 commits; 3 requests (2 name code, 1 plain), in 12 source files as of 222222222222"
        in text
    )
    assert "no requests: 7 merge" in text
    rows = [line.split() for line in text.splitlines() if line.startswith("  hybrid ")]
    assert rows[0][:5] == ["hybrid", "3", "0.333", "0.667", "0.667"]


def test_an_empty_report_is_a_page_and_a_table_too() -> None:
    report = make_report(
        (), ["grep"], repository="r", mode="snapshot", history="0 commits", notes=["no commit yet"]
    )
    assert "0 commits" in to_html(report)
    shown = render(report, PLAIN_STYLE)
    assert "no commit yet" in shown.whole()
    assert shown.is_found  # no commit is an answer, not a failure


class _Links(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loaded += [value or "" for name, value in attrs if name in {"src", "href", "data"}]


def test_the_page_loads_nothing_and_shows_hostile_names_as_text() -> None:
    page = to_html(sample_report())
    page.encode("utf-8")
    links = _Links()
    links.feed(page)
    assert links.loaded == []
    assert not {"script", "link", "iframe", "img", "object"} & set(links.tags)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;b&gt;.py" in page
    assert "url(" not in page
    assert "@import" not in page


def test_the_same_report_is_the_same_page() -> None:
    assert to_html(sample_report()) == to_html(sample_report())


def test_labels_at_the_ends_of_lines_do_not_lie_over_one_another() -> None:
    chart = line_chart(
        "t",
        [Line(f"arm{i}", ((1.0, 0.5), (2.0, 0.5 + i / 1000)), "--c0") for i in range(4)],
        x_label="x",
        y_label="y",
    )
    ends = sorted(
        float(part.split('y="')[1].split('"')[0]) for part in chart.split('<text class="label"')[1:]
    )
    assert all(b - a >= 14 for a, b in pairwise(ends))


def find_browser() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((path for name in names if (path := shutil.which(name))), None)


@pytest.mark.skipif(find_browser() is None, reason="no Chromium is installed to open the page with")
@pytest.mark.parametrize("width", [480, 1000])
def test_a_browser_draws_the_page_without_errors(tmp_path: Path, width: int) -> None:
    browser = find_browser()
    assert browser is not None
    # The page reports what was drawn in its title: scripts are forbidden in the report itself, so a
    # frame around it looks.
    page = tmp_path / "report.html"
    page.write_text(to_html(sample_report()), encoding="utf-8")
    picture = tmp_path / "page.png"
    common = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    common += [f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},1400"]
    drawn = run(
        [*common, "--enable-logging=stderr", f"--screenshot={picture}", page.as_uri()],
        cwd=tmp_path,
        timeout_s=60,
    )
    assert drawn.returncode == 0
    assert picture.stat().st_size > 20_000  # a blank page of this size is under 10 kB
    messages = drawn.stderr.decode("utf-8", "replace")
    assert "CONSOLE" not in messages
    dumped = run([*common, "--dump-dom", page.as_uri()], cwd=tmp_path, timeout_s=60)
    text = dumped.stdout.decode("utf-8", "replace")
    assert text.count("<svg") == 4
    assert text.count("<details>") == 2
    assert "Replay of shop" in text
