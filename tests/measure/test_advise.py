from pathlib import Path

import pytest
from tests.history.repositories import Step, build_case, make_repository

from wherein.measure.advise import Advice, advise, judge
from wherein.measure.arms import Found, Opened
from wherein.measure.report import Case, ReplayReport, make_report
from wherein.measure.requests import PLAIN, Request
from wherein.render.advise import render
from wherein.render.rendered import PLAIN as PLAIN_STYLE
from wherein.settings import Settings
from wherein.tools.context import ToolContext


def answer(path: str, rounds: int = 1) -> Found:
    return Found((Opened(path, 50, rounds),), (10,) * rounds, rounds)


def report_of(*, n: int, grep_finds: int, hybrid_finds: int, n_files: int = 900) -> ReplayReport:
    """Return a report where grep and hybrid find the first so many of ``n`` targets."""
    cases = [
        Case(
            Request(f"{i:040x}", "1" * 40, i, f"request {i}", PLAIN, ("a.py",), 1),
            {
                "grep": answer("a.py" if i < grep_finds else "b.py", 2),
                "hybrid": answer("a.py" if i < hybrid_finds else "b.py"),
            },
            is_in_words=i % 2 == 0,
        )
        for i in range(n)
    ]
    return make_report(
        cases,
        ["grep", "hybrid"],
        repository="shop",
        mode="snapshot",
        history="100 commits",
        n_files=n_files,
    )


@pytest.mark.parametrize(
    ("n", "grep", "hybrid", "n_files", "verdict"),
    [
        (100, 50, 90, 900, "wherein helps"),
        (100, 92, 94, 900, "grep is enough"),
        (100, 80, 78, 900, "grep is enough"),
        (40, 30, 34, 900, "no clear difference"),
        (100, 95, 100, 40, "grep is enough"),
        (10, 1, 10, 900, "not known"),
    ],
)
def test_the_verdict_follows_the_paired_difference(
    n: int, grep: int, hybrid: int, n_files: int, verdict: str
) -> None:
    advice = judge(report_of(n=n, grep_finds=grep, hybrid_finds=hybrid, n_files=n_files))
    assert advice.verdict == verdict
    assert advice.reasons


def test_the_figures_behind_the_verdict_are_shown() -> None:
    advice = judge(report_of(n=100, grep_finds=50, hybrid_finds=90), seconds=3.0)
    assert advice.grep_rate == 0.5
    assert advice.in_words_share == 0.5
    assert advice.gains[0].gain.mean == pytest.approx(0.4)
    assert advice.gains[0].one_file_gain == pytest.approx(0.4)
    text = render(advice, PLAIN_STYLE).whole()
    assert text.startswith("shop: wherein helps\n")
    assert "grep by script finds a changed file within 3 rounds for 50%" in text
    assert "3.0 s of CPU" in text


def test_every_arm_says_what_it_adds_and_what_it_costs(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    steps = [Step("start", {f"src/{w}.py": f"def {w}():\n    pass\n" for w in ("ant", "bee")})]
    steps += [Step(f"ant number {i}", {"src/ant.py": f"def ant():\n    {i}\n"}) for i in range(4)]
    make_repository(folder, steps)
    settings = Settings(home=tmp_path / "home")
    advice = advise(ToolContext(settings=settings, root=folder), commits=4)
    assert [gain.arm for gain in advice.gains] == ["lexical", "semantic", "history", "hybrid"]
    semantic = advice.gains[1]
    assert semantic.rate == 1.0
    assert semantic.seconds > 0
    text = render(advice, PLAIN_STYLE).whole()
    assert "CPU ms" in text
    assert "semantic" in text
    assert [gain.arm for gain in advise_on(folder).gains] == ["lexical", "history", "hybrid"]


def advise_on(folder: Path) -> Advice:
    settings = Settings(home=folder.parent / "home", model="none")
    return advise(ToolContext(settings=settings, root=folder), commits=40)


def test_a_small_repository_that_says_what_it_does_needs_no_index(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    words = ["anchor", "basket", "candle", "donkey", "engine"]
    steps = [Step("start", {f"src/{w}.py": f"def {w}():\n    pass\n" for w in words})]
    for i in range(35):
        word = words[i % 5]
        text = f"def {word}():\n    return {i}\n"
        steps.append(Step(f"the {word} is number {i} now", {f"src/{word}.py": text}))
    make_repository(folder, steps)
    advice = advise_on(folder)
    assert advice.verdict == "grep is enough"
    assert advice.grep_rate == 1.0
    assert advice.in_words_share == 1.0


def test_without_commits_nothing_is_claimed(tmp_path: Path) -> None:
    build_case("K03", tmp_path / "case")
    advice = advise_on(tmp_path / "case" / "unborn")
    assert advice.verdict == "not known"
    assert "no commit yet" in render(advice, PLAIN_STYLE).whole()
