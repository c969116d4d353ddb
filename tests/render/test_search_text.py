from dataclasses import replace
from typing import cast

import pytest

from wherein.budget import count_tokens
from wherein.render.json_lines import to_json
from wherein.render.rendered import Style, fit, render
from wherein.render.search import slim
from wherein.tools.found_hits import FoundHit, ShownLine
from wherein.tools.search import SearchResult
from wherein.types import Evidence, Span

HIT = FoundHit(
    path="src/retry.py",
    start_line=10,
    end_line=42,
    symbol="retry_request",
    kind="function",
    language="python",
    score=7.25,
    evidence=Evidence.STRONG,
    rank=1,
    repository=".",
    signature="def retry_request(request)",
    lines=(ShownLine(10, "def retry_request(request):"), ShownLine(31, "    sleep(delay)")),
)
RESULT = SearchResult((HIT,), Evidence.STRONG, 0.9, snapshots={".": "abc"})


def shown(result: SearchResult, style: Style | None = None) -> str:
    return render("search", result, style or Style()).whole()


def test_a_hit_is_a_place_a_symbol_and_the_lines_that_show_why() -> None:
    assert shown(RESULT) == (
        "src/retry.py:10-42 function retry_request\n"
        "  10: def retry_request(request):\n"
        "  31:     sleep(delay)\n"
    )


def test_weak_evidence_repeats_and_further_places_are_said() -> None:
    weak = replace(
        HIT,
        evidence=Evidence.WEAK,
        is_repeat=True,
        lines=(),
        further=(Span("src/retry.py", 50, 60),),
    )

    assert shown(replace(RESULT, hits=(weak,), evidence=Evidence.WEAK)) == (
        "weak evidence: perhaps none of these is it; check before relying on one\n"
        "src/retry.py:10-42 function retry_request (weak) (shown above, unchanged) also 50-60\n"
    )


def test_signals_are_shown_largest_first() -> None:
    explained = replace(HIT, lines=(), signals={"dense": 0.25, "name": 7.0, "test": -0.5})

    assert shown(replace(RESULT, hits=(explained,))).splitlines()[1] == (
        "  score 7.250 = name +7.000, test -0.500, dense +0.250"
    )


def test_several_repositories_are_named_in_the_path() -> None:
    url = replace(HIT, repository="https://example.org/x.git", lines=())
    local = replace(HIT, repository="../shop/", lines=())
    result = replace(RESULT, hits=(url, local), snapshots={"a": "1", "b": "2"})

    assert shown(result).splitlines() == [
        "https://example.org/x.git src/retry.py:10-42 function retry_request",
        "../shop/src/retry.py:10-42 function retry_request",
    ]


@pytest.mark.parametrize(("for_agent", "words"), [(True, "offset=7"), (False, "--offset 7")])
def test_a_cut_says_how_to_go_on(for_agent: bool, words: str) -> None:
    result = replace(RESULT, hits=(HIT, HIT), offset=5, has_more=True)

    assert shown(result, Style(for_agent=for_agent)).splitlines()[-1] == f"more: {words}"


def test_notes_and_files_not_covered_are_said() -> None:
    result = replace(RESULT, notes=("a note",), not_covered=tuple(f"f{i}.py" for i in range(7)))

    assert shown(result).splitlines()[-2:] == [
        "note: a note",
        "note: not indexed yet: f0.py, f1.py, f2.py, f3.py, f4.py and 2 more",
    ]


def test_nothing_found_says_what_to_try() -> None:
    rendered = render("search", SearchResult((), Evidence.WEAK, 0.0))

    assert not rendered.is_found
    assert rendered.whole().startswith("nothing found: try other words")


def test_a_small_budget_keeps_whole_hits_and_says_where_to_go_on() -> None:
    hits = tuple(replace(HIT, path=f"src/file_{i}.py") for i in range(20))
    fitted = fit(render("search", replace(RESULT, hits=hits), Style(for_agent=True)), 300)

    assert count_tokens(fitted.text) <= 300
    assert 1 <= fitted.n_parts < 20
    assert fitted.text.endswith(f"more: offset={fitted.n_parts}\n")


def test_a_hit_for_a_model_says_each_thing_once() -> None:
    hits = [
        replace(HIT, further=(Span("src/retry.py", 50, 60),)),
        replace(HIT, evidence=Evidence.WEAK, repository="../shop", lines=()),
        replace(HIT, signals={"dense": 0.25}, lines=()),
    ]
    found = {"hits": [to_json(hit) for hit in hits], "has_more": True}

    plain, weak, explained = cast("list[dict[str, object]]", slim(found)["hits"])

    assert plain["further"] == [{"start_line": 50, "end_line": 60}]
    assert plain["lines"] == to_json(HIT.lines)
    assert not {"score", "rank", "language", "signature", "repository", "evidence"} & set(plain)
    assert (weak["evidence"], weak["repository"]) == ("weak", "../shop")
    assert explained["score"] == 7.25
    assert slim(found)["has_more"] is True
    assert slim({"notes": ["x"]}) == {"notes": ["x"]}
