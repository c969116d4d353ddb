"""The first ten hits of fixed queries, held against those recorded.

After a wanted change of ranking: python -m benchmarks.golden.run --fixture --update
"""

import os
import sys
from pathlib import Path

import pytest
from benchmarks.golden import fixture, run
from benchmarks.golden.compare import differences
from benchmarks.golden.record import figures, from_text, to_text
from benchmarks.golden.sets import KINDS, GoldenQuery, GoldenRepository, read_queries

from tests.history.repositories import git
from wherein.external import run as process

ACCEPT = "accept it with: python -m benchmarks.golden.run --fixture --update"
ONE = GoldenRepository(
    "one",
    "https://example.invalid/one.git",
    "0" * 40,
    (
        GoldenQuery("exact", "name: of a thing", ("a.py",)),
        GoldenQuery("behaviour", "what it does", ("b c.py", "d.py")),
    ),
)
BEFORE = {
    "name: of a thing": (("a.py", "Thing"), ("b c.py", "")),
    "what it does": (("x.py", "f"), ("b c.py", "g"), ("d.py", "h")),
}


def test_the_fixture_is_ranked_as_recorded(tmp_path: Path) -> None:
    root = tmp_path / fixture.NAME
    fixture.make(root)
    repository = fixture.repository()
    text = to_text(repository, run.answers(root, repository))
    recorded = run.recorded_file(repository).read_text("utf-8")
    assert text == recorded, (
        f"{differences(repository, from_text(recorded), from_text(text))}{ACCEPT}"
    )


@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_command_agrees_under_every_hash_seed(seed: str) -> None:
    done = process.run(
        [sys.executable, "-m", "benchmarks.golden.run", "--fixture"],
        cwd=Path(__file__).parent.parent,
        timeout_s=100,
        env_extra={"PYTHONHASHSEED": seed, "PATH": os.environ["PATH"]},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"lending: as recorded  recall@1 ")


def test_fifty_queries_of_four_kinds_on_three_repositories_are_recorded() -> None:
    repositories = read_queries(run.QUERIES)
    queries = [query for one in repositories for query in one.queries]
    assert (len(repositories), len(queries)) == (3, 50)
    assert {query.kind for query in queries} == set(KINDS)
    for one in repositories:
        text = run.recorded_file(one).read_text("utf-8")
        assert text == to_text(one, from_text(text)), f"{one.name}: labels and record disagree"


def test_a_record_is_read_back_as_it_was_written() -> None:
    assert from_text(to_text(ONE, BEFORE)) == BEFORE


def test_figures_count_every_file_that_answers() -> None:
    found = figures(ONE.queries, BEFORE)
    assert (found.recall_at_1, found.recall_at_5, found.mrr) == (0.5, 1.0, 0.75)


def test_what_moved_came_and_went_is_said() -> None:
    after = {
        "name: of a thing": (("a.py", "Other"), ("b c.py", "")),
        "what it does": (("b c.py", "g"), ("x.py", "f"), ("new.py", "n")),
    }
    assert differences(ONE, BEFORE, BEFORE) == ""
    assert differences(ONE, BEFORE, after).splitlines() == [
        "one: 2 of 2 queries answer otherwise",
        "  before  recall@1 0.500  recall@5 1.000  MRR 0.750",
        "  after   recall@1 0.750  recall@5 0.750  MRR 1.000",
        "",
        "  exact: name: of a thing",
        "    1 -> 1     * a.py  Thing => Other",
        "",
        "  behaviour: what it does",
        "    2 -> 1     * b c.py  g",
        "    1 -> 2       x.py  f",
        "    - -> 3       new.py  n",
        "    3 -> -     * d.py  h",
    ]


def test_a_query_taken_out_or_put_in_is_said() -> None:
    shown = differences(ONE, {"old one": (("a.py", ""),)}, BEFORE)
    assert "not recorded yet" in shown
    assert "no longer asked: old one" in shown


def test_a_checkout_that_would_mislead_is_refused(tmp_path: Path) -> None:
    assert "git clone https://example.invalid/one.git" in run.objection(tmp_path / "none", ONE)
    root = tmp_path / "one"
    fixture.make(root)
    assert f"checkout {'0' * 40}" in run.objection(root, ONE)
    pinned = GoldenRepository("one", "", git(root, "rev-parse", "HEAD"), ONE.queries)
    assert run.objection(root, pinned) == ""
    (root / "README.md").write_text("other\n")
    assert "has changes" in run.objection(root, pinned)
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth", "1", root.as_uri(), str(shallow))
    assert "lacks history" in run.objection(shallow, pinned)
