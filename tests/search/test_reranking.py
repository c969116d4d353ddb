from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from wherein.errors import ProviderError
from wherein.search.rank import Ranked
from wherein.search.reranking import Reranking, rerank


class Judge:
    name = "judge"

    def __init__(self, *scores: float) -> None:
        self._scores = scores
        self.asked: list[tuple[str, list[str]]] = []

    def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append((query, list(texts)))
        if not self._scores:
            message = "gone"
            raise ProviderError(message)
        return np.array(self._scores, np.float32)


def ranked(*scores: float) -> Ranked:
    values = np.array(scores, np.float64)
    order = sorted(range(len(scores)), key=lambda row: -scores[row])
    return Ranked(tuple(order), values)


def test_what_it_adds_is_on_the_rankings_own_scale() -> None:
    before = ranked(4.0, 3.0, 2.0, 1.0)
    found = rerank(Reranking(Judge(-5, 0, 5, 10), 50, 1.0), "q", before, [0, 1, 2, 3], list("abcd"))
    added = np.array([found.added[row] for row in range(4)])
    assert added.sum() == pytest.approx(0, abs=1e-9)
    assert added.std() == pytest.approx(before.scores.std())
    np.testing.assert_allclose(found.ranked.scores, before.scores + added)
    assert found.n_texts == 4


def test_a_heavy_reranker_decides_and_a_weightless_one_changes_nothing() -> None:
    before = ranked(4.0, 3.0, 2.0, 1.0)
    for weight, order in ((5.0, (3, 2, 1, 0)), (0.0, (0, 1, 2, 3))):
        reranking = Reranking(Judge(1, 2, 3, 4), 50, weight)
        assert rerank(reranking, "q", before, [0, 1, 2, 3], list("abcd")).ranked.order == order


def test_probabilities_count_by_their_odds_and_one_outlier_is_bounded() -> None:
    before = ranked(*range(50, 0, -1))
    rows = list(range(50))
    odds = rerank(
        Reranking(Judge(*[0.5] * 25, *[0.88] * 25), 50, 1.0), "q", before, rows, ["x"] * 50
    )
    logits = rerank(
        Reranking(Judge(*[0.0] * 25, *[1.9924] * 25), 50, 1.0), "q", before, rows, ["x"] * 50
    )
    assert odds.ranked.order == logits.ranked.order
    one = rerank(Reranking(Judge(*[0.0] * 49, 900.0), 50, 1.0), "q", before, rows, ["x"] * 50)
    assert max(one.added.values()) == pytest.approx(3 * before.scores.std())


def test_files_it_did_not_read_keep_their_score() -> None:
    before = ranked(4.0, 3.0, 2.0)
    found = rerank(Reranking(Judge(1, 9), 2, 2.0), "q", before, [0, 1], ["a", "b"])
    assert 2 not in found.added
    assert found.ranked.scores[2] == 2.0
    assert found.ranked.order == (1, 0, 2)


def test_when_it_fails_the_order_stays_and_a_note_says_why() -> None:
    before = ranked(2.0, 1.0)
    found = rerank(Reranking(Judge(), 2, 1.0), "q", before, [0, 1], ["a", "b"])
    assert found.ranked is before
    assert found.note == "ranked without the reranker judge: gone"
    assert found.n_texts == 0


def test_equal_scores_change_nothing_and_one_file_asks_nobody() -> None:
    before = ranked(2.0, 1.0)
    assert rerank(Reranking(Judge(7, 7), 2, 1.0), "q", before, [0, 1], ["a", "b"]).ranked.order == (
        0,
        1,
    )
    judge = Judge(1)
    rerank(Reranking(judge, 2, 1.0), "q", before, [0], ["a"])
    assert not judge.asked
