from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.history.repositories import Step, add_commits, make_repository

from wherein.errors import UsageError
from wherein.measure.bench import BenchResult, bench
from wherein.measure.fit import Collected, FitReport, fit
from wherein.measure.fit_examples import Examples, ExamplesBuilder
from wherein.measure.fit_linear import Problem
from wherein.measure.fit_replay import collect_replay
from wherein.measure.fit_scores import ndcg_of, ranked_labels, score_all
from wherein.measure.minimise import minimise
from wherein.measure.replay import replay
from wherein.measure.requests import Wanted
from wherein.render.bench import render as render_bench
from wherein.render.rendered import PLAIN
from wherein.render.replay import render as render_replay
from wherein.render.status import render as render_status
from wherein.search.own_weights import own_weights_file
from wherein.search.rank import bundled_weights
from wherein.settings import Settings
from wherein.tools.context import ToolContext
from wherein.tools.search import search
from wherein.tools.status import clear, status
from wherein.workspace import Workspace

N_PAIRS = 90
_LETTERS = "bcdfghjklmnpqrstvwxz"


def word(number: int) -> str:
    """A word of its own for each number, which no stemmer shortens."""
    return "".join(_LETTERS[number // 20**place % 20] + "o" for place in range(3)) + "k"


def write_pairs(root: Path) -> None:
    """Two files of the same text for each word, one in a folder that ranking marks down."""
    for number in range(N_PAIRS):
        text = f"def handle_{word(number)}(value):\n    '''Turn {word(number)} around.'''\n"
        for folder in ("src", "deprecated"):
            (root / folder).mkdir(parents=True, exist_ok=True)
            (root / folder / f"part_{number}.py").write_text(text)


def bench_of(tmp_path: Path, folder: str, n: int = N_PAIRS, **settings: object) -> BenchResult:
    context = context_of(tmp_path, **settings)
    if not (context.root / "src").exists():
        write_pairs(context.root)
    rows = [
        f'[[query]]\nquery = "turn {word(number)} around"\nexpect = "{folder}/part_{number}.py"\n'
        for number in range(n)
    ]
    (tmp_path / "queries.toml").write_text("".join(rows))
    return bench(context, str(tmp_path / "queries.toml"), fit=True)


def context_of(tmp_path: Path, **settings: object) -> ToolContext:
    root = tmp_path / "repo"
    root.mkdir(exist_ok=True)
    made = Settings(home=tmp_path / "home", model="none").replace(**settings)
    return ToolContext(settings=made, root=root, may_name_roots=True)


def fit_of(result: BenchResult) -> FitReport:
    assert result.fit is not None
    return result.fit


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, BenchResult]:
    """A repository whose answers all lie in the folder that the shipped weights mark down."""
    folder = tmp_path_factory.mktemp("kept")
    return folder, bench_of(folder, "deprecated")


def test_weights_that_the_held_out_part_proves_are_kept_and_used(
    kept: tuple[Path, BenchResult],
) -> None:
    folder, result = kept
    report = fit_of(result)
    assert report.is_kept
    assert (report.n_fitted, report.n_held_out, report.situation) == (60, 30, "plain")
    before, after = report.figures
    assert (before.ranking, before.hit_at_1, before.hit_at_10) == ("shipped", 0.0, 1.0)
    assert (after.ranking, after.hit_at_1) == ("fitted", 1.0)
    assert report.gain is not None
    assert report.gain.low > 0.3
    assert next(iter(report.moved)) == "p_legacy"
    # The figures beside the fit are of the ranking in use now, and say so.
    assert result.figures[0].recall_at_1 == 1.0
    assert any("fitted for this repository" in note for note in result.notes)
    shown = render_bench(result, PLAIN).whole()
    assert "kept the fitted weights: +0.3" in shown
    with Workspace(folder / "repo", context_of(folder).settings) as workspace:
        answer = workspace.search(f"turn {word(3)} around")
    assert answer.hits[0].path == "deprecated/part_3.py"
    assert answer.ranking.startswith("fitted for this repository on ")
    # What a hit's signals add sums to its score with fitted weights too.
    assert sum(answer.hits[0].signals.values()) == pytest.approx(answer.hits[0].score, abs=1e-6)


def test_explain_and_status_name_the_fitted_weights(kept: tuple[Path, BenchResult]) -> None:
    folder, _ = kept
    context = context_of(folder)
    asked = search(context, "turn things around", explain=True)
    assert [name[:26] for name in asked.rankings.values()] == ["fitted for this repository"]
    assert search(context, "turn things around").rankings == {}
    assert status(context).workspaces[0].ranking.startswith("fitted for this repository")


def test_a_setting_switches_them_off(kept: tuple[Path, BenchResult]) -> None:
    folder, _ = kept
    off = context_of(folder, use_own_weights=False)
    with Workspace(off.root, off.settings) as workspace:
        answer = workspace.search(f"turn {word(3)} around")
    assert answer.hits[0].path == "src/part_3.py"
    assert answer.ranking == "shipped; the setting use_own_weights is off"


def test_the_same_queries_give_the_same_weights(
    kept: tuple[Path, BenchResult], tmp_path: Path
) -> None:
    folder, first = kept
    again = bench_of(tmp_path, "deprecated")
    assert fit_of(again).weights == fit_of(first).weights
    files = [next((where / "home").rglob("weights.json")) for where in (folder, tmp_path)]
    texts = [file.read_text().replace(str(folder), str(tmp_path)) for file in files]
    assert texts[0] == texts[1]


def test_weights_that_bring_nothing_are_not_kept(tmp_path: Path) -> None:
    result = bench_of(tmp_path, "src", n=60)
    report = fit_of(result)
    assert not report.is_kept
    assert report.gain is not None
    assert report.gain.mean == 0.0
    assert report.reason.startswith("kept the shipped weights")
    assert not list((tmp_path / "home").rglob("weights.json"))
    assert "kept the shipped weights: the fitted ones bring +0.000" in (
        render_bench(result, PLAIN).whole()
    )


def test_an_earlier_fit_stays_when_a_later_one_proves_nothing_and_clear_drops_it(
    tmp_path: Path,
) -> None:
    bench_of(tmp_path, "deprecated", n=60)
    (file,) = (tmp_path / "home").rglob("weights.json")
    kept_bytes = file.read_bytes()
    assert not fit_of(bench_of(tmp_path, "src", n=60)).is_kept
    assert file.read_bytes() == kept_bytes
    context = context_of(tmp_path)
    cleared = clear(context, weights=True)
    assert (cleared.n_bytes, cleared.what) == (len(kept_bytes), "fitted weights")
    assert not file.exists()
    assert clear(context, weights=True).n_bytes == 0
    assert status(context).workspaces[0].is_indexed
    with pytest.raises(UsageError):
        clear(context, all=True, weights=True)


def test_too_few_requests_prove_nothing(tmp_path: Path) -> None:
    result = bench_of(tmp_path, "deprecated", n=59)
    report = fit_of(result)
    assert not report.is_kept
    assert report.reason.startswith("only 59 requests")
    assert report.figures == ()
    assert "fitted on" not in render_bench(result, PLAIN).whole()


# The core.


def examples_of(labels: Sequence[Sequence[bool]], signal: NDArray[np.float32]) -> Examples:
    builder = ExamplesBuilder("one", "bench")
    for place, row in enumerate(labels):
        builder.add(
            ("dens_top3", "planted"),
            signal[place],
            labels=row,
            counts=[True] * len(row),
            n_targets=1,
            category="behaviour",
        )
    return builder.build()


def random_requests(n: int, *, is_planted: bool) -> Collected:
    """Requests of eight files, the right one at random or where the planted signal is."""
    draw = np.random.default_rng(7)
    signal = draw.random((n, 8, 2), dtype=np.float32)
    right = draw.integers(0, 8, n)
    if is_planted:
        signal[np.arange(n), right, 1] += 1
    labels = [[file == chosen for file in range(8)] for chosen in right.tolist()]
    return Collected(examples_of(labels, signal), ("plain",) * n, "none")


def test_a_signal_that_tells_is_learned_and_one_that_does_not_is_not_kept() -> None:
    good, noise = (fit(random_requests(120, is_planted=planted)) for planted in (True, False))
    assert good.is_kept
    assert good.weights["planted"] > 1
    assert not noise.is_kept


def test_only_the_most_common_situation_is_fitted() -> None:
    collected = random_requests(120, is_planted=True)
    mixed = Collected(collected.examples, ("vectors",) * 20 + ("plain",) * 100, "none")
    report = fit(mixed)
    assert (report.situation, report.n_fitted + report.n_held_out) == ("plain", 100)


def test_without_any_request_nothing_is_kept() -> None:
    empty = Collected(ExamplesBuilder("one", "bench").build(), (), "none")
    assert fit(empty).reason.startswith("only 0 requests")


def test_a_strong_pull_keeps_the_prior_and_no_pull_leaves_it() -> None:
    examples = random_requests(120, is_planted=True).examples
    prior = {"planted": 0.5}
    strong = Problem([examples], l2=1e7, prior=prior).fit().named()
    weak = Problem([examples], l2=1.0, prior=prior).fit().named()
    assert strong["planted"] == pytest.approx(0.5, abs=1e-3)
    assert weak["planted"] > 3


def test_the_minimum_of_a_convex_function_is_found() -> None:
    draw = np.random.default_rng(1)
    root = draw.normal(size=(40, 40))
    hessian = root @ root.T + np.eye(40)
    goal = draw.normal(size=40)

    def bowl(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        away = x - goal
        return 0.5 * float(away @ hessian @ away), hessian @ away

    found = minimise(bowl, np.zeros(40), max_iterations=500, value_tolerance=1e-14)
    assert np.abs(found.x - goal).max() < 1e-4
    assert minimise(bowl, goal).n_iterations == 0


def test_scores_are_of_counted_files_and_equal_ones_keep_their_order() -> None:
    builder = ExamplesBuilder("one", "bench")
    matrix = np.array([[1.0], [2.0], [2.0], [3.0]], np.float32)
    builder.add(
        ("planted",),
        matrix,
        labels=[False, False, True, False],
        counts=[True, True, True, False],
        n_targets=2,
        category="behaviour",
    )
    examples = builder.build()
    hits = ranked_labels(examples, 0, matrix[:, 0].astype(np.float64))
    assert hits.tolist() == [False, True, False]
    assert ndcg_of(hits, 2) == pytest.approx((1 / np.log2(3)) / (1 + 1 / np.log2(3)))
    assert score_all(examples, {"planted": 1.0})["mrr"] == [0.5]


def test_requests_with_other_signals_are_aligned_by_name() -> None:
    builder = ExamplesBuilder("one", "bench")
    for names in (("a",), ("b", "a")):
        matrix = np.ones((2, len(names)), np.float32)
        builder.add(
            names, matrix, labels=[True, False], counts=[True] * 2, n_targets=1, category="exact"
        )
    examples = builder.build()
    assert examples.signal_names == ("a", "b")
    assert examples.signals.tolist() == [[1, 0], [1, 0], [1, 1], [1, 1]]
    assert examples.part([1]).signals.tolist() == [[1, 1], [1, 1]]
    assert examples.part([]).signals.shape == (0, 2)


# Commits as requests.

FILES = {
    "shop/basket.py": "def add_item(basket, item):\n    basket.append(item)\n",
    "shop/payment.py": "def reverse_charge(card):\n    return card\n",
    "tests/test_payment.py": "def test_reverse_charge():\n    assert True\n",
    "docs/payment.md": "# How a charge is reversed\n",
}
STEPS = [
    Step("start of the shop", FILES),
    Step("refund the customer in full", {"shop/payment.py": FILES["shop/payment.py"] + "# one\n"}),
    Step("keep the order of items", {"shop/basket.py": FILES["shop/basket.py"] + "# one\n"}),
    Step(
        "payment charge is refused twice", {"shop/payment.py": FILES["shop/payment.py"] + "# two\n"}
    ),
]


def test_no_request_learns_from_its_own_or_a_later_commit(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    make_repository(folder, STEPS)
    settings = Settings(home=tmp_path / "home")
    before = collect_replay(folder, settings, Wanted(n=9))
    assert len(before.examples) == 3
    assert before.situations == ("history+vectors",) * 3
    later = [
        Step("refund twice is refused once more", {"shop/basket.py": "refund = 'refund twice'\n"}),
        Step("refund the whole customer", {"shop/payment.py": "refund = customer = full = 1\n"}),
    ]
    add_commits(folder, later, start=9)
    after = collect_replay(folder, settings, Wanted(n=9))
    assert len(after.examples) == 5
    old = after.examples.part(range(3))
    assert old.signal_names == before.examples.signal_names
    np.testing.assert_array_equal(old.signals, before.examples.signals)
    np.testing.assert_array_equal(old.labels, before.examples.labels)


def test_tests_and_documents_are_candidates_that_are_no_answers(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    make_repository(folder, STEPS)
    examples = collect_replay(folder, Settings(home=tmp_path / "home"), Wanted(n=9)).examples
    rows = examples.request(2)
    assert rows.stop - rows.start == 4  # every file there is
    assert int(examples.counts[rows].sum()) == 2
    assert int(examples.labels[rows].sum()) == 1
    assert not (examples.labels & ~examples.counts).any()


def test_replay_fits_instead_of_comparing_arms(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", STEPS)
    context = context_of(tmp_path)
    report = replay(context, commits=9, fit=True)
    assert (report.n_requests, report.mode, report.arms) == (3, "parent", ())
    assert report.fit is not None
    assert not report.fit.is_kept
    assert "only 3 requests with files to rank" in render_replay(report, PLAIN).whole()
    assert not list((tmp_path / "home").rglob("weights.json"))
    with pytest.raises(UsageError, match="compares no arms"):
        replay(context, arm=["grep"], fit=True)


def test_replay_keeps_weights_where_search_finds_them(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    write_pairs(folder)
    texts = {
        str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*.py"))
    }
    steps = [Step("all parts of the machine", texts)]
    for number in range(60):
        path = f"deprecated/part_{number}.py"
        steps.append(Step(f"turn {word(number)} around", {path: texts[path] + "# done\n"}))
    make_repository(folder, steps)
    context = context_of(tmp_path, use_history=False)
    report = replay(context, commits=60, fit=True)
    assert report.fit is not None
    assert report.fit.situation == "history"
    assert report.fit.is_kept, report.fit.reason
    family = context.workspace(folder).layout.family
    assert report.fit.file == str(own_weights_file(family))
    said = render_status(status(context), PLAIN).whole()
    assert "not indexed" in said
    assert "ranking: fitted for this repository" in said
    with Workspace(folder, Settings(home=tmp_path / "home", model="none")) as workspace:
        answer = workspace.search(f"turn {word(80)} around")
    assert answer.ranking.endswith("(wherein replay --fit --commits 60)")
    assert answer.hits[0].path == "deprecated/part_80.py"
    # Searches in another situation keep the shipped weights.
    own = context.workspace(folder).ranking().weights
    assert own.sets["plain"] == bundled_weights().sets["plain"]
    assert own.sets["history"] != bundled_weights().sets["history"]
