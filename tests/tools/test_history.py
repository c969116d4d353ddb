from pathlib import Path

import pytest

from tests.history.repositories import Step, build_case, git, make_repository
from wherein.errors import PathError, QueryError, UsageError
from wherein.render.history import render
from wherein.render.rendered import PLAIN, Style
from wherein.settings import Settings
from wherein.tools.context import ToolContext
from wherein.tools.history import HistoryResult, history

SHOP = (
    "class Cart:\n    def total(self):\n        return sum(self.items)\n\n\n"
    "def empty():\n    pass\n"
)
ROUNDED = SHOP.replace("sum(self.items)", "round(sum(self.items), 2)")
STEPS = [
    Step("start the cart", {"shop/cart.py": SHOP, "shop/tax.py": "x\n", "old.py": "1\n"}),
    Step(
        "round totals to cents\n\nThe bank refuses longer amounts.",
        {"shop/cart.py": ROUNDED, "shop/tax.py": "y\n"},
    ),
    Step("tax by country", {"shop/tax.py": "z\n"}),
    Step("drop what nobody calls", {"old.py": None}),
]


def context_of(folder: Path) -> ToolContext:
    return ToolContext(settings=Settings(home=folder.parent / "home"), root=folder)


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    make_repository(tmp_path / "repo", STEPS)
    return context_of(tmp_path / "repo")


def subjects(result: HistoryResult) -> list[str]:
    return [commit.subject for commit in result.commits]


def test_commits_are_found_by_words_of_their_messages(context: ToolContext) -> None:
    result = history(context, "amounts the bank refuses")
    assert subjects(result) == ["round totals to cents"]
    (commit,) = result.commits
    assert commit.files == ("shop/cart.py", "shop/tax.py")
    assert "total" in commit.symbols
    assert commit.similarity is not None
    assert 0 < commit.similarity <= 1
    assert result.known == "4 commits"


def test_a_files_commits_come_newest_first_and_a_folders_too(context: ToolContext) -> None:
    assert subjects(history(context, place="shop/tax.py")) == [
        "tax by country",
        "round totals to cents",
        "start the cart",
    ]
    assert len(history(context, place="shop").commits) == 3


def test_the_commit_that_wrote_a_line_says_why_it_is_there(context: ToolContext) -> None:
    result = history(context, place="shop/cart.py:3", detail="full")
    first = result.commits[0]
    assert first.subject == "round totals to cents"
    assert first.body == "The bank refuses longer amounts."
    assert first.lines == ((3, 3),)
    assert subjects(result)[1:] == ["start the cart"]


def test_a_symbol_is_asked_by_its_name(context: ToolContext) -> None:
    assert subjects(history(context, place="shop/cart.py#empty")) == ["start the cart"]
    assert subjects(history(context, place="shop/cart.py#Cart.total"))[0] in {
        "start the cart",
        "round totals to cents",
    }
    with pytest.raises(UsageError, match="defines no 'Basket'"):
        history(context, place="shop/cart.py#Basket")


def test_lines_that_are_not_committed_are_said_to_be_new(context: ToolContext) -> None:
    (context.root / "shop" / "cart.py").write_text("import math\n" + ROUNDED)
    result = history(context, place="shop/cart.py:1-2")
    assert result.commits[0].sha == ""
    assert result.commits[0].lines == ((1, 1),)
    assert "not committed yet: line 1\n" in render(result, PLAIN).whole()


def test_a_place_and_a_query_narrow_each_other(context: ToolContext) -> None:
    assert subjects(history(context, "country", place="shop/tax.py")) == ["tax by country"]


def test_a_file_that_is_gone_still_has_its_commits(context: ToolContext) -> None:
    result = history(context, place="old.py")
    assert subjects(result) == ["drop what nobody calls", "start the cart"]
    assert result.notes == ("old.py is gone from the tree",)
    with pytest.raises(PathError):
        history(context, place="never.py")


@pytest.mark.parametrize("name", ["total", "Cart.total", "Cart::total", "cart.TOTAL"])
def test_a_symbol_is_named_as_read_takes_it(context: ToolContext, name: str) -> None:
    wrote = subjects(history(context, place=f"shop/cart.py#{name}"))
    assert sorted(wrote) == ["round totals to cents", "start the cart"]


def test_a_symbol_that_is_not_there_is_answered_with_near_names(context: ToolContext) -> None:
    with pytest.raises(UsageError, match="defines no 'totl'") as caught:
        history(context, place="shop/cart.py#totl")
    assert caught.value.hint == "did you mean 'total'?"


def test_companions_are_named_with_support_and_lift(context: ToolContext) -> None:
    result = history(context, together=["shop/cart.py"])
    assert [item.path for item in result.companions] == ["shop/tax.py"]
    assert result.companions[0].support == 2
    assert "shop/tax.py  2x together, confidence " in render(result, PLAIN).whole()


def test_an_answer_is_paged_on(context: ToolContext) -> None:
    first = history(context, place="shop/tax.py", limit=2)
    assert first.has_more
    assert render(first, PLAIN).whole().endswith("more commits: --offset 2\n")
    assert render(first, Style(for_agent=True)).whole().endswith("more commits: offset=2\n")
    page = history(context, place="shop/tax.py", limit=1, offset=1)
    assert render(page, PLAIN).whole().endswith("more commits: --offset 2\n")
    rest = history(context, place="shop/tax.py", limit=2, offset=2)
    assert subjects(rest) == ["start the cart"]
    assert not rest.has_more


def test_a_path_asked_in_words_is_said_to_be_one(context: ToolContext) -> None:
    assert "place (--for)" in history(context, "shop/tax.py").notes[0]
    assert "place (--for)" in history(context, "shop/tax.py:1").notes[0]
    assert history(context, "tax by country").notes == ()
    assert history(context, "no/such.py").notes == ()


@pytest.mark.parametrize("place", ["shop/cart.py:0", "shop/cart.py:9-3", "shop/cart.py:99"])
def test_lines_that_do_not_exist_are_refused(context: ToolContext, place: str) -> None:
    with pytest.raises(UsageError):
        history(context, place=place)


def test_nothing_asked_and_nothing_found_are_different_things(context: ToolContext) -> None:
    with pytest.raises(QueryError, match="nothing was asked"):
        history(context, "  ")
    found = render(history(context, "zebra"), PLAIN)
    assert not found.is_found
    assert "nothing found" in found.whole()


def test_a_subfolder_of_the_repository_names_files_its_own_way(context: ToolContext) -> None:
    inner = context_of(context.root / "shop")
    result = history(inner, "round totals")
    assert result.commits[0].files == ("cart.py", "tax.py")
    assert [item.path for item in history(inner, together=["cart.py"]).companions] == ["tax.py"]


def test_shallow_unborn_and_no_repository_are_told_apart(tmp_path: Path) -> None:
    build_case("K01", tmp_path / "k1")
    shallow = history(context_of(tmp_path / "k1" / "shallow"), "c6")
    assert shallow.known == "shallow: 2 commits of unknown total"
    assert "shallow: 2 commits of unknown total" in render(shallow, PLAIN).whole()
    # Git names the commit where the clone begins for all lines that are older.
    line = history(context_of(tmp_path / "k1" / "shallow"), place="f1.py:1")
    assert line.commits == ()
    assert line.notes == ("line 1: unknown, from before the history here begins",)
    said = history(context_of(tmp_path / "k1" / "shallow"), "c5").commits
    assert [commit.symbols for commit in said if commit.subject == "c5"] == [()]
    build_case("K03", tmp_path / "k3")
    unborn = history(context_of(tmp_path / "k3" / "unborn"), "anything")
    assert unborn.known == "0 commits"
    assert unborn.notes == ("nothing is known of earlier commits here",)
    with pytest.raises(PathError, match="not a git repository"):
        history(context_of(tmp_path / "k3" / "notgit"), "anything")


def test_asking_changes_nothing_in_the_repository(context: ToolContext) -> None:
    before = git(context.root, "status", "--porcelain"), sorted(context.root.rglob("*"))
    history(context, "round", place="shop/cart.py:1-3")
    assert (git(context.root, "status", "--porcelain"), sorted(context.root.rglob("*"))) == before
