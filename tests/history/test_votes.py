from pathlib import Path

import numpy as np
from tests.history.repositories import Step, make_repository

from wherein.history.open import History
from wherein.history.source import open_source
from wherein.history.view import HistoryView
from wherein.history.votes import SIGNALS, FileVotes, commit_scores, query_terms

FILES = {f"{name}.py": f"{name}\n" for name in ("basket", "charge", "mail", "tax", "user")}
STEPS = [
    Step("start the project", FILES),
    Step("reverse a refund when the bank says no", {"charge.py": "1\n"}),
    Step("send a letter after payment", {"mail.py": "1\n", "charge.py": "2\n"}),
    Step("refund twice only once", {"charge.py": "3\n", "tax.py": "1\n"}),
    Step("let users sign in", {"user.py": "1\n"}),
    Step("empty basket on sign out", {"basket.py": "1\n", "user.py": "2\n"}),
]


def make_view(folder: Path, steps: list[Step] = STEPS) -> HistoryView:
    make_repository(folder, steps)
    found = open_source(folder)
    assert found is not None
    view = History(found).view(sorted(FILES))
    assert view is not None
    return view


def test_the_file_changed_by_the_likest_commits_is_voted_first(tmp_path: Path) -> None:
    view = make_view(tmp_path)
    votes = FileVotes(view).votes("customer wants a refund")
    assert view.paths[votes.ranking[0]] == "charge.py"


def test_signals_are_named_bounded_and_zero_for_an_unknown_word(tmp_path: Path) -> None:
    voter = FileVotes(make_view(tmp_path))
    votes = voter.votes("refund after sign in")
    assert tuple(votes.signals) == SIGNALS
    for name, values in votes.signals.items():
        assert values.shape == (len(FILES),), name
        assert np.isfinite(values).all()
        assert (values >= 0).all()
        assert (values <= 1).all()
    nothing = voter.votes("zebra quux")
    assert nothing.ranking == ()
    assert not nothing.signals["h_knn"].any()


def test_only_eligible_files_are_ranked(tmp_path: Path) -> None:
    view = make_view(tmp_path)
    eligible = np.array([path != "charge.py" for path in view.paths])
    votes = FileVotes(view, eligible).votes("refund")
    assert [view.paths[at] for at in votes.ranking] == ["tax.py"]


def test_a_message_equal_to_the_query_is_as_similar_as_can_be(tmp_path: Path) -> None:
    view = make_view(tmp_path)
    query = "refund twice only once"
    scores, ceiling = commit_scores(view, query_terms(query))
    assert scores.max() / ceiling > 0.9
    votes = FileVotes(view).votes(query)
    assert votes.signals["h_knn"][view.file_ids["charge.py"]] == 1


def test_a_commit_that_touches_very_many_files_speaks_for_none(tmp_path: Path) -> None:
    many = {f"f{number}.py": "x\n" for number in range(80)}
    steps = [
        Step("start", {**FILES, **many}),
        Step("reformat invoices", dict.fromkeys(many, "y\n")),
    ]
    make_repository(tmp_path, steps)
    found = open_source(tmp_path)
    assert found is not None
    view = History(found).view(sorted({**FILES, **many}))
    assert view is not None
    assert FileVotes(view).votes("invoices").ranking == ()


def test_stop_words_are_left_out_unless_nothing_else_is_there() -> None:
    assert query_terms("where is the refund") == ["refund"]
    assert query_terms("to be or not to be") != []


def test_scores_only_count_commits_before_the_cut(tmp_path: Path) -> None:
    shas = make_repository(tmp_path, STEPS)
    found = open_source(tmp_path)
    assert found is not None
    history = History(found)
    history.read(shas[-1])  # later commits are in the store, and still not in the view
    view = history.view(sorted(FILES), shas[1])
    assert view is not None
    scores, _ = commit_scores(view, query_terms("sign in refund"))
    assert [line.subject for line in view.lines(np.flatnonzero(scores).tolist())] == [
        "reverse a refund when the bank says no"
    ]
