"""Pairs from commits, documents and sessions, and the trial that keeps those that help."""

from pathlib import Path

import pytest
from tests.history.repositories import Step, make_repository
from tests.measure.test_sessions import session

from wherein.glossary import GlossaryLine
from wherein.measure.arms_grep import GrepArm, search_words
from wherein.measure.glossary_diffs import names_on_changed_lines
from wherein.measure.glossary_mining import MinedPair, is_found_by_grep
from wherein.measure.glossary_names import index_names
from wherein.measure.glossary_sources import mine_docs, mine_sessions
from wherein.measure.glossary_study import mine, open_study, split_requests
from wherein.measure.glossary_trial import Trial, gain_of, keep_lines, value_of
from wherein.measure.requests import PLAIN, Request
from wherein.transcripts.values import Session

N_NOISE = 14


def shop(*, n: int = 24, late: str = "", doc: str = "") -> list[Step]:
    """A history in which "refund" means ``reverse_charge`` and stands in no file.

    Every second commit says refund and changes the charges, the others change something else;
    ``late`` is said by the last commits and means the tax file.
    """
    files: dict[str, str | None] = {
        f"src/part{i}.py": f"def customer_part{i}(order):\n    return 'customer order {i}'\n"
        for i in range(N_NOISE)
    }
    files["src/charges.py"] = "def reverse_charge(card):\n    return card\n"
    files["src/tax.py"] = "def value_added_rate(country):\n    return 0.2\n"
    if doc:
        files["guide.md"] = doc
    steps = [Step("start of the shop", files)]
    for i in range(n):
        if i % 2:
            body = f"def reverse_charge(card):\n    return card + {i}\n"
            steps.append(Step(f"refund {i} for customer", {"src/charges.py": body}))
        else:
            name = f"src/part{i % N_NOISE}.py"
            text = f"def customer_part{i % N_NOISE}(order):\n    return 'customer order x{i}'\n"
            steps.append(Step(f"customer {i} is asked again", {name: text}))
    if late:
        steps += [
            Step(
                f"{late} customer order {i}",
                {"src/tax.py": f"def value_added_rate(country):\n    return {i}\n# {late}\n"},
            )
            for i in range(4)
        ]
    return steps


def lines_of(pairs: list[MinedPair]) -> dict[str, str]:
    return {pair.line.said: pair.line.name for pair in reversed(pairs)}


def test_a_word_of_messages_leads_to_the_name_they_changed(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", shop())
    study = open_study(tmp_path / "repo", None, 8)
    assert study is not None
    pairs = mine(study)
    assert lines_of(pairs)["refund"] == "reverse_charge"
    (pair,) = [pair for pair in pairs if pair.line.said == "refund"]
    assert pair.line.path == "src/charges.py"
    chosen_on, proved_on = split_requests(study)
    kept = keep_lines(pairs, chosen_on, max_tokens=500)
    assert "refund" in {one.line.said for one in kept}
    assert all(one.gain.low >= 0 < one.gain.mean for one in kept)
    whole = gain_of([one.line for one in kept], proved_on)[0]
    assert whole.with_glossary >= whole.without


def test_what_only_later_commits_say_is_never_mined(tmp_path: Path) -> None:
    word = "zanzibar"
    make_repository(tmp_path / "repo", shop(late=word))
    study = open_study(tmp_path / "repo", None, 8)
    assert study is not None
    asked = [r.text for window in study.windows for r in window.selection.requests]
    assert any(word in text for text in asked)  # it is asked for…
    pairs = mine(study)
    assert "refund" in lines_of(pairs)
    # … and told by later commits and the files they left, which mining does not see.
    assert all(word not in pair.terms for pair in pairs)
    assert not study.newest.tree.counts(word)


def test_a_window_is_not_asked_what_was_mined_after_it(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", shop(n=60))
    study = open_study(tmp_path / "repo", None, 8)
    assert study is not None
    assert len(study.windows) == 2
    first, second = study.windows
    chosen_on, _ = split_requests(study)
    newest_old = max(one.time for one in first.selection.requests)
    later = [pair for pair in mine(study) if pair.known_from]
    for pair in later:
        assert pair.known_from >= newest_old
        places = chosen_on.asked(pair.terms, pair.known_from)
        times = {chosen_on.requests[at].time for at in places}
        assert times <= {one.time for one in second.selection.requests}


def test_a_word_that_grep_finds_is_dropped(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", shop())
    study = open_study(tmp_path / "repo", None, 8)
    assert study is not None
    tree = study.newest.tree
    assert is_found_by_grep(GlossaryLine("charge", "reverse_charge", "src/charges.py"), tree)
    assert not is_found_by_grep(GlossaryLine("refund", "reverse_charge", "src/charges.py"), tree)
    # In too many files to be looked at:
    assert not is_found_by_grep(GlossaryLine("customer", "customer_part1", "src/part1.py"), tree)


def test_headings_lead_to_the_names_below_them(tmp_path: Path) -> None:
    doc = (
        "# Shop\n\n## Refunds\n\nSee ``reverse_charge()``.\n\nTaxes\n-----\n\n`value_added_rate`\n"
    )
    make_repository(tmp_path / "repo", shop(doc=doc))
    study = open_study(tmp_path / "repo", None, 8)
    assert study is not None
    tree = study.newest.tree
    found = lines_of(mine_docs(study.git, tree, index_names(tree)))
    assert found["refunds"] == "reverse_charge"
    assert found["taxes"] == "value_added_rate"


def slow_session(root: Path, *more: tuple[str, str]) -> Session:
    steps = [
        ("Grep", "refund"),
        *[("Grep", f"customer{i}") for i in range(5)],
        ("Grep", "reverse_charge"),
        *more,
    ]
    asked = "why is a refund for me refused?"
    return session("a", *steps, start=3_000_000_000.0, prompt=asked, folder=str(root))


def test_a_slow_session_leads_from_what_was_searched_in_vain(tmp_path: Path) -> None:
    root = (tmp_path / "repo").resolve()
    make_repository(root, shop())
    study = open_study(root, None, 8)
    assert study is not None
    tree = study.newest.tree
    names = index_names(tree)
    edited = slow_session(root, ("Edit", f"{root}/src/charges.py"))
    (pair,) = mine_sessions([edited], root, tree, names)
    assert pair.line == GlossaryLine("refund", "reverse_charge", "src/charges.py")
    assert pair.known_from == 3_000_000_000
    # Nothing since the session can prove it, so it is not kept.
    assert keep_lines([pair], split_requests(study)[0], max_tokens=500) == ()
    elsewhere = slow_session(root, ("Edit", "/other/src/charges.py"))
    assert mine_sessions([elsewhere, slow_session(root)], root, tree, names) == []


def test_names_on_changed_lines_are_told_by_commit(tmp_path: Path) -> None:
    shas = make_repository(tmp_path / "repo", shop(n=4))
    study = open_study(tmp_path / "repo", None, 8)
    git = study.git if study is not None else None
    if git is None:
        from wherein.history.source import open_source

        git = open_source(tmp_path / "repo")
    assert git is not None
    found = names_on_changed_lines(git, shas[1:], {"reverse_charge", "customer_part0"})
    assert found[shas[2]] == {"reverse_charge"}
    assert found[shas[1]] == {"customer_part0"}
    assert names_on_changed_lines(git, [], {"x"}) == {}


def request(number: int, text: str, target: str) -> Request:
    return Request(f"{number:040x}", "1" * 40, number, text, PLAIN, (target,), 1)


@pytest.fixture
def arm(tmp_path: Path) -> GrepArm:
    make_repository(tmp_path / "repo", shop())
    study = open_study(tmp_path / "repo", None, 8)
    assert study is not None
    return study.newest.arm


def pair(said: str, name: str, path: str = "src/charges.py", known_from: int = 0) -> MinedPair:
    line = GlossaryLine(said, name, path)
    return MinedPair(line, frozenset({said}), 3, 3, "commits", known_from)


def test_a_line_that_harms_or_does_nothing_is_not_kept(arm: GrepArm) -> None:
    requests = [request(i, f"refund number {i}", "src/charges.py") for i in range(1, 9)]
    requests += [request(9, "country added", "src/tax.py")]
    trial = Trial([(arm, requests)])
    good, bad = pair("refund", "reverse_charge"), pair("countri", "reverse_charge")
    silent = pair("nobody", "reverse_charge")
    kept = keep_lines([bad, silent, good], trial, max_tokens=500)
    assert [one.line.said for one in kept] == ["refund"]
    assert (kept[0].n_asked, kept[0].n_helped, kept[0].n_harmed) == (8, 8, 0)
    assert gain_of([kept[0].line], trial)[0].difference.low > 0


def test_a_second_line_that_adds_nothing_is_not_kept(arm: GrepArm) -> None:
    requests = [request(i, f"refund the invoice {i}", "src/charges.py") for i in range(1, 5)]
    trial = Trial([(arm, requests)])
    pairs = [pair("refund", "reverse_charge"), pair("invoic", "reverse_charge")]
    pairs[1] = MinedPair(
        GlossaryLine("invoice", "reverse_charge", "src/charges.py"),
        frozenset({"invoic"}), 3, 3, "commits",
    )  # fmt: skip
    assert len(keep_lines(pairs, trial, max_tokens=500)) == 1


def test_the_budget_is_never_exceeded(arm: GrepArm) -> None:
    requests = [request(i, f"refund number {i}", "src/charges.py") for i in range(1, 5)]
    trial = Trial([(arm, requests)])
    (kept,) = keep_lines([pair("refund", "reverse_charge")], trial, max_tokens=500)
    assert keep_lines([pair("refund", "reverse_charge")], trial, max_tokens=kept.tokens - 1) == ()


def test_a_request_older_than_the_line_proves_nothing(arm: GrepArm) -> None:
    requests = [request(i, f"refund number {i}", "src/charges.py") for i in range(1, 5)]
    trial = Trial([(arm, requests)])
    assert keep_lines([pair("refund", "reverse_charge", known_from=4)], trial, max_tokens=500) == ()
    (kept,) = keep_lines([pair("refund", "reverse_charge", known_from=3)], trial, max_tokens=500)
    assert kept.n_asked == 1


def test_sooner_is_worth_more_and_nothing_after_the_third_round() -> None:
    values = [value_of(rounds) for rounds in (1, 2, 3, 4, None)]
    assert values == sorted(values, reverse=True)
    assert values[0] == 1.0
    assert values[3:] == [0.0, 0.0]


def test_the_glossary_is_searched_before_the_words_of_the_request() -> None:
    glossary = {"refund": ("reverse_charge",)}
    assert search_words("refunds are refused", glossary)[0] == "reverse_charge"
    assert search_words("performance", {"for": ("x",)}) == ["performance"]


def test_nothing_is_learned_from_too_few_commits(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", shop(n=2))
    assert open_study(tmp_path / "repo", None, 8) is None
