import json
from pathlib import Path

import pytest

from wherein.errors import PathError, UsageError
from wherein.measure.bench import BenchResult, bench
from wherein.render.bench import render
from wherein.render.rendered import PLAIN
from wherein.settings import Settings
from wherein.tools.context import ToolContext

FILES = {
    "src/basket.py": (
        "class Basket:\n"
        '    """What a customer wants to buy."""\n\n'
        "    def apply_discount(self, percent):\n"
        '        """Take a share off the total price."""\n'
        "        self.total *= 1 - percent / 100\n"
    ),
    "src/mail.py": "def send_letter(address):\n    '''Post a letter.'''\n    return address\n",
    "src/tax.py": "def tax_rate(country):\n    '''Rate of a country.'''\n    return 0.2\n",
}
QUERIES = """
[floors]
recall_at_10 = 1.0
tokens = 5000

[[query]]
query = "take a share off the price"
expect = "src/basket.py#Basket.apply_discount"

[[query]]
query = "tax_rate"
expect = ["src/tax.py#tax_rate"]
kind = "exact"
"""


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    root = tmp_path / "repo"
    for path, text in FILES.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return ToolContext(settings=Settings(home=tmp_path / "home", model="none"), root=root)


def run_bench(
    context: ToolContext, text: str, name: str = "queries.toml", *floor: str
) -> BenchResult:
    (context.root / name).write_text(text)
    return bench(context, name, floor=floor)


def test_queries_are_answered_and_counted_by_kind(context: ToolContext) -> None:
    result = run_bench(context, QUERIES)
    assert [figure.kind for figure in result.figures] == ["all", "behaviour", "exact"]
    assert result.figures[0].recall_at_10 == 1.0
    assert result.figures[0].ndcg_at_10 == 1.0
    assert result.missed == ()
    assert result.outcomes[0].ranks == {"src/basket.py#Basket.apply_discount": 1}
    assert render(result, PLAIN).is_found


def test_a_missed_floor_ends_with_failure_and_says_which(context: ToolContext) -> None:
    text = QUERIES.replace('expect = ["src/tax.py#tax_rate"]', 'expect = ["src/mail.py"]')
    result = run_bench(context, text)
    assert result.missed == ("recall_at_10 is 0.500, below 1",)
    shown = render(result, PLAIN)
    assert not shown.is_found
    assert "expected src/mail.py" in shown.whole()


def test_floors_can_be_given_beside_the_file(context: ToolContext) -> None:
    result = run_bench(context, QUERIES, "queries.toml", "tokens=1")
    assert len(result.missed) == 1
    assert result.missed[0].startswith("tokens is ")
    assert result.missed[0].endswith("above 1")


def test_several_expected_places_count_by_share(context: ToolContext) -> None:
    text = '[[query]]\nquery = "tax_rate"\nexpect = ["src/tax.py", "src/mail.py#send_letter"]\n'
    result = run_bench(context, text)
    assert result.figures[0].recall_at_10 == 0.5


def test_precision_at_three_and_answers_without_a_right_hit_are_counted(
    context: ToolContext,
) -> None:
    text = (
        '[[query]]\nquery = "take a share off the price"\nexpect = "src/basket.py"\n'
        '[[query]]\nquery = "tax_rate"\nexpect = "src/mail.py#send_letter"\n'
    )
    result = run_bench(context, text)
    assert [outcome.precision_at_3 for outcome in result.outcomes] == [pytest.approx(1 / 3), 0.0]
    assert result.figures[0].precision_at_3 == pytest.approx(1 / 6)
    assert result.figures[0].without_right == 0.5
    shown = render(result, PLAIN).whole()
    assert run_bench(context, text, "queries.toml", "without_right=0.4").missed == (
        "without_right is 0.500, above 0.4",
    )
    assert run_bench(context, text, "queries.toml", "precision_at_3=0.2").missed == (
        "precision_at_3 is 0.167, below 0.2",
    )
    assert "P@3  none right" in shown
    assert "0.167       0.500" in shown


def test_json_is_read_as_well(context: ToolContext) -> None:
    rows = [{"query": "post a letter", "expect": ["src/mail.py"], "kind": "past bug"}]
    assert run_bench(context, json.dumps(rows), "q.json").figures[0].recall_at_1 == 1.0
    whole = {"queries": rows, "floors": {"mrr": 0.5}}
    assert run_bench(context, json.dumps(whole), "q.json").missed == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no queries"),
        ("[[query]\n", "is not TOML"),
        ('[[query]]\nquery = ""\nexpect = "src/tax.py"\n', "has no text"),
        ('[[query]]\nquery = "x"\n', "expects nothing"),
        ('[[query]]\nquery = "x"\nexpect = []\n', "expects nothing"),
        ('[[query]]\nquery = "x"\nexpects = "src/tax.py"\n', "unknown key 'expects'"),
        ('[[query]]\nquery = "x"\nexpect = "src/tax.py"\nkind = "exakt"\n', "unknown kind"),
        ('[[query]]\nquery = "x"\nexpect = "src/gone.py"\n', "'src/gone.py' is not indexed"),
        ('[[query]]\nquery = "x"\nexpect = "src/tax.py#gone"\n', "defines no 'gone'"),
        ("[floors]\nrecal = 1\n" + QUERIES.split("tokens = 5000")[1], "unknown floor 'recal'"),
    ],
)
def test_a_file_that_could_only_fail_is_refused(
    context: ToolContext, text: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        run_bench(context, text)


def test_a_missing_file_and_a_wrong_floor_are_refused(context: ToolContext) -> None:
    with pytest.raises(PathError):
        bench(context, "gone.toml")
    with pytest.raises(UsageError, match="floor mrr cannot be nan"):  # nothing is ever below it
        run_bench(context, QUERIES, "queries.toml", "mrr=nan")
    with pytest.raises(UsageError, match="no floor"):
        run_bench(context, QUERIES, "queries.toml", "recall_at_10=high")
    with pytest.raises(UsageError, match="unknown floor 'zzz'") as caught:
        run_bench(context, QUERIES, "queries.toml", "zzz=1")
    assert caught.value.hint.startswith("one of recall_at_1, recall_at_5, ")
