import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wherein.budget import count_tokens, cut_to_budget, fit_to_budget

SAMPLES = json.loads((Path(__file__).parent / "data" / "token_counts.json").read_text("utf-8"))
TEXTS = st.text(alphabet=st.characters(codec="utf-8"), max_size=300)


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample["name"] for sample in SAMPLES])
def test_the_count_is_not_below_either_vocabulary(sample: dict[str, object]) -> None:
    actual = max(int(str(sample["cl100k"])), int(str(sample["o200k"])))

    assert count_tokens(str(sample["text"])) >= actual


def test_the_count_of_code_is_not_more_than_twice_the_truth() -> None:
    code = [
        sample
        for sample in SAMPLES
        if sample["name"] in {"python", "typescript", "go", "rust", "java", "c", "sql", "bash"}
    ]

    counted = sum(count_tokens(sample["text"]) for sample in code)

    assert len(code) == 8
    assert counted <= 2 * sum(sample["cl100k"] for sample in code)


def test_the_empty_text_costs_nothing() -> None:
    assert count_tokens("") == 0


def test_a_surrogate_is_counted_and_does_not_raise() -> None:
    assert count_tokens("a\udcffb") > 0


@settings(derandomize=True, max_examples=150)
@given(st.lists(TEXTS, max_size=8), st.integers(0, 400), TEXTS, TEXTS)
def test_the_budget_is_never_exceeded(parts: list[str], budget: int, head: str, foot: str) -> None:
    fitted = fit_to_budget(parts, budget, head=head, foot=lambda n: f"{foot}{n}")

    assert count_tokens(fitted.text) == fitted.n_tokens <= budget


@settings(derandomize=True, max_examples=150)
@given(st.lists(TEXTS, max_size=8), st.integers(0, 400))
def test_what_fits_is_a_prefix_of_the_parts(parts: list[str], budget: int) -> None:
    fitted = fit_to_budget(parts, budget)

    assert "".join(parts).startswith(fitted.text)
    if not fitted.is_cut:
        assert fitted.text == "".join(parts)
        assert fitted.n_parts == len(parts)


@settings(derandomize=True, max_examples=100)
@given(TEXTS, st.integers(0, 200))
def test_a_cut_text_is_a_prefix_within_the_budget(text: str, budget: int) -> None:
    cut = cut_to_budget(text, budget)

    assert text.startswith(cut)
    assert count_tokens(cut) <= budget


def test_a_larger_budget_never_shows_less() -> None:
    parts = [f"src/file_{i}.py:{i}-{i + 9} function number_{i}\n" for i in range(40)]

    shown = [fit_to_budget(parts, budget).n_parts for budget in range(0, 2000, 50)]

    assert shown == sorted(shown)
    assert shown[-1] == 40


def test_the_foot_says_how_many_parts_are_shown() -> None:
    parts = ["one line of text\n"] * 100

    fitted = fit_to_budget(parts, 120, foot=lambda n: f"more: offset={n}\n")

    assert fitted.is_cut
    assert fitted.text.endswith(f"more: offset={fitted.n_parts}\n")


def test_a_first_part_that_is_too_long_is_cut_and_the_foot_kept() -> None:
    fitted = fit_to_budget(["word " * 500], 100, foot=lambda _n: "more: offset=1\n")

    assert fitted.is_cut
    assert fitted.text.startswith("word word")
    assert fitted.text.endswith("more: offset=1\n")
