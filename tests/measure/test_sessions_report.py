"""Figures over sessions as a page and as a table."""

import html.parser
import re
import shutil
from pathlib import Path

import pytest
from tests.measure.test_sessions import DAY, session

from wherein.external.run import run
from wherein.measure.report_charts import color_of
from wherein.measure.sessions import SessionsReport, measure_sessions
from wherein.measure.sessions_html import to_html
from wherein.render.rendered import PLAIN
from wherein.render.sessions import messages, render


def sample() -> SessionsReport:
    sessions = [
        session(
            f"{agent}{week}",
            *[("Grep", f"<w{i}>") for i in range(2 + week)],
            ("Edit", "a.py"),
            start=(3 + 7 * week) * DAY,
            agent=agent,
            prompt='find </script> & "it"',
        )
        for agent in ("codex", "gemini")
        for week in range(6)
    ]
    return measure_sessions(sessions, split_at=20 * DAY, unreadable=["x: no access"])


def test_a_page_draws_each_agent_and_each_slow_session() -> None:
    page = to_html(sample())
    tags: list[str] = []

    class Parser(html.parser.HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.append(tag)

    Parser().feed(page)
    assert "script" not in tags
    assert tags.count("polyline") == 2
    assert tags.count("details") == 4
    assert "x: no access" in page
    assert to_html(sample()) == page


def test_an_agent_has_the_same_color_in_every_plot() -> None:
    undated = session("a", ("Grep", "x"), start=None, agent="codex")  # in no week
    dated = session("b", ("Grep", "x"), agent="gemini")
    page = to_html(measure_sessions([undated, dated]))
    (point,) = re.findall(r"<circle[^>]*fill:var\(([^)]*)\)\"><title>gemini", page)
    assert point == color_of(2)
    assert page.count(f"fill:var({color_of(2)})") > 2


def test_a_page_over_nothing_says_so() -> None:
    page = to_html(measure_sessions([]))
    assert "No session" in page
    assert "<svg" not in page


def test_the_table_shows_both_sides_of_the_day() -> None:
    report = sample()
    text = render(report, PLAIN).whole()
    assert "before and after 1970-01-21" in text
    assert messages(report) == ["not read: x: no access"]


def test_the_page_opens_in_a_browser(tmp_path: Path) -> None:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    browser = next((found for name in names if (found := shutil.which(name))), None)
    if browser is None:
        pytest.skip("no browser here")
    page = tmp_path / "page.html"
    page.write_text(to_html(sample()), encoding="utf-8")
    shot = tmp_path / "page.png"
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=900,1800"]
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    done = run(
        [browser, *options, profile, f"--screenshot={shot}", page.as_uri()],
        cwd=tmp_path,
        timeout_s=90,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert shot.stat().st_size > 10_000
