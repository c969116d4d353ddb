import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.search.trees import Tree

from wherein.search.equipment import Equipment
from wherein.search.finding import Found, find
from wherein.search.place_scores import PLACE_SIGNALS, place_scores, place_signals

PAY = "def pay(bill):\n    # settle an open bill\n" + "    bill.step()\n" * 40
REFUND = "def refund(order):\n    # give money back\n" + "    order.step()\n" * 20


def lines_of(found: Found) -> NDArray[np.uint32]:
    return found.matches.index.lines_in(int(found.matches.files[0]))


def ask(folder: Path, query: str) -> Found:
    tree = Tree(folder, {"shop.py": f"{PAY}\n\n{REFUND}", "other.py": "x = 1\n"})
    return find(tree.index, query, None, Equipment(read_text=tree.read))


def test_each_signal_says_what_it_promises(tmp_path: Path) -> None:
    found = ask(tmp_path, "settle bill")
    rows = np.arange(2)
    signals = place_signals(found.matches, rows, lines_of(found), None)
    match, coverage, nearness, length = (signals[:, i] for i in range(len(PLACE_SIGNALS)))
    assert 0 < match[0] <= 1
    assert match[1] == 0
    assert coverage.tolist() == [1, 0]
    assert nearness.tolist() == [0, 0]
    lines = [
        chunk.end_line - chunk.start_line + 1
        for chunk in map(found.matches.index.chunk, found.matches.rows[rows].tolist())
    ]
    assert length.tolist() == [math.log(number + 1) / 5 for number in lines]
    scores = place_scores(found.matches, rows, lines_of(found), None)
    assert scores[0] > scores[1]


def test_nearness_is_the_cosine_and_counts(tmp_path: Path) -> None:
    found = ask(tmp_path, "step")
    rows = np.arange(2)
    alike = place_scores(found.matches, rows, lines_of(found), np.zeros(3, np.float32))
    near = np.zeros(3, np.float32)
    near[found.matches.rows[1]] = 0.5
    nearer = place_scores(found.matches, rows, lines_of(found), near)
    assert place_signals(found.matches, rows, lines_of(found), near)[:, 2].tolist() == [0, 0.5]
    assert nearer[0] == alike[0]
    assert nearer[1] > alike[1]


def test_where_no_chunk_has_a_word_length_says_nothing(tmp_path: Path) -> None:
    found = ask(tmp_path, "shop.py")
    assert not place_signals(found.matches, np.arange(2), lines_of(found), None)[:, 1:].any()
