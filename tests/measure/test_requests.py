from pathlib import Path

import pytest
from tests.history.repositories import Step, build_case, make_repository

from wherein.errors import UsageError
from wherein.history.open import History
from wherein.history.source import open_source, tree_paths
from wherein.history.view import HistoryView
from wherein.measure.requests import (
    Selection,
    Wanted,
    code_tokens,
    is_pool_path,
    select_requests,
)

BASE = {"src/cart.py": "a\n", "src/tax.py": "a\n", "tests/test_cart.py": "a\n", "docs/x.md": "a\n"}


def view_of(folder: Path) -> HistoryView:
    found = open_source(folder)
    assert found is not None
    view = History(found).view(())
    assert view is not None
    return view


def select(folder: Path, wanted: Wanted | None = None, *, snapshot: bool = False) -> Selection:
    found = open_source(folder)
    assert found is not None

    def files(commit: str) -> list[str]:
        return [path for path, _, _ in tree_paths(found, commit)]

    view = view_of(folder)
    return select_requests(view, wanted or Wanted(), snapshot_files=files if snapshot else None)


def test_commits_of_no_interest_are_left_out_with_the_reason(tmp_path: Path) -> None:
    make_repository(
        tmp_path,
        [
            Step("start of the project", BASE),
            Step("round the total of a cart", {"src/cart.py": "b\n"}),
            Step("Fix typo in cart", {"src/cart.py": "c\n"}),
            Step('Revert "round the total of a cart"', {"src/cart.py": "d\n"}),
            Step("Release 1.2.0", {"src/cart.py": "e\n"}),
            Step("bump to new compiler", {"src/tax.py": "e\n"}, author="renovate[bot] <r@x>"),
            Step("document the cart's total", {"docs/x.md": "b\n"}),
            Step("more tests of the cart", {"tests/test_cart.py": "b\n"}),
            Step("wip", {"src/cart.py": "f\n"}),
            Step("add a mailer for letters", {"src/mail.py": "f\n"}),
        ],
    )
    selection = select(tmp_path)
    assert [request.text for request in selection.requests] == ["round the total of a cart"]
    assert selection.skipped == {
        "bot": 1,
        "changes no existing source file": 3,
        "first commit": 1,
        "release or dependency": 1,
        "revert": 1,
        "says too little": 1,
        "typo or format": 1,
    }


def test_targets_are_the_source_files_that_existed_before(tmp_path: Path) -> None:
    shas = make_repository(
        tmp_path,
        [
            Step("start", BASE),
            Step(
                "tax is part of the total now",
                {"src/tax.py": "b\n", "src/new.py": "n\n", "tests/test_cart.py": "c\n"},
            ),
        ],
    )
    (request,) = select(tmp_path).requests
    assert request.targets == ("src/tax.py",)
    assert request.n_changed == 2
    assert request.parent == shas[0]


def test_a_renamed_target_is_named_as_it_was_before(tmp_path: Path) -> None:
    text = "".join(f"line {i}\n" for i in range(20))
    make_repository(
        tmp_path,
        [
            Step("start", {"src/old.py": text}),
            Step("the cart has a better name", moves={"src/old.py": "src/basket.py"}),
        ],
    )
    (request,) = select(tmp_path).requests
    assert request.targets == ("src/old.py",)


def test_one_snapshot_is_older_than_every_request_and_holds_their_targets(tmp_path: Path) -> None:
    steps = [Step("start", BASE)]
    steps += [Step(f"change number {i} of the cart", {"src/cart.py": f"{i}\n"}) for i in range(6)]
    steps += [Step("add mail to cart", {"src/mail.py": "1\n", "src/cart.py": "m\n"})]
    steps += [Step("mail is sent twice", {"src/mail.py": "2\n"})]
    shas = make_repository(tmp_path, steps)
    selection = select(tmp_path, Wanted(n=4), snapshot=True)
    assert selection.snapshot == shas[2]
    assert [request.targets for request in selection.requests] == [("src/cart.py",)] * 4
    assert selection.skipped["files newer than the snapshot"] == 1


def test_a_seed_draws_the_same_commits_again_and_the_newest_come_without(tmp_path: Path) -> None:
    steps = [Step("start", BASE)]
    steps += [Step(f"change number {i} of the cart", {"src/cart.py": f"{i}\n"}) for i in range(12)]
    make_repository(tmp_path, steps)
    newest = [request.text for request in select(tmp_path, Wanted(n=3)).requests]
    assert newest == [f"change number {i} of the cart" for i in (9, 10, 11)]
    drawn = select(tmp_path, Wanted(n=3, seed=4))
    assert drawn == select(tmp_path, Wanted(n=3, seed=4))
    assert [request.text for request in drawn.requests] != newest


def test_period_and_paths_narrow_the_choice(tmp_path: Path) -> None:
    from tests.history.repositories import FIRST_TIME

    steps = [Step("start", BASE)]
    for i in range(4):
        name = "src/cart.py" if i % 2 else "src/tax.py"
        steps.append(Step(f"change number {i} of it", {name: f"{i}\n"}))
    make_repository(tmp_path, steps)
    taxes = select(tmp_path, Wanted(paths=("*/tax.py",)))
    assert [request.text for request in taxes.requests] == [
        "change number 0 of it",
        "change number 2 of it",
    ]
    late = select(tmp_path, Wanted(since=FIRST_TIME + 3 * 3600))
    assert [request.text for request in late.requests] == [
        "change number 2 of it",
        "change number 3 of it",
    ]
    assert len(select(tmp_path, Wanted(until=FIRST_TIME + 3600)).requests) == 1


@pytest.mark.parametrize("n", [0, -1])
def test_no_request_or_fewer_is_refused(tmp_path: Path, n: int) -> None:
    build_case("K03", tmp_path / "case")
    with pytest.raises(UsageError, match=str(n)):
        select(tmp_path / "case" / "detached", Wanted(n=n))


def test_the_boundary_of_a_shallow_clone_is_no_request(tmp_path: Path) -> None:
    build_case("K01", tmp_path / "case")
    skipped = select(tmp_path / "case" / "shallow").skipped
    assert skipped["boundary of a cut history"] == 1


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("send_file doesn't allow StringIO", ["send_file", "StringIO"]),
        ("Fix `Predicate` issue in `v2.9.0`", ["Predicate", "v2"]),
        ("fix --vimgrep for multi-line mode", ["vimgrep"]),
        ("call reset() before use", ["reset"]),
        ("typing.Self is replaced", ["typing", "Self"]),
        ("empty the basket when the customer leaves", []),
    ],
)
def test_words_that_look_like_code_are_picked_out(text: str, names: list[str]) -> None:
    assert code_tokens(text) == names


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("src/cart.py", True),
        ("web/app.tsx", True),
        ("tests/test_cart.py", False),
        ("docs/conf.py", False),
        ("README.md", False),
        ("vendor/lib/x.go", False),
        ("package-lock.json", False),
        ("bench/run.py", False),
    ],
)
def test_only_own_source_files_can_be_targets(path: str, counts: bool) -> None:
    assert is_pool_path(path) is counts
