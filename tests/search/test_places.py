from itertools import pairwise
from pathlib import Path

from tests.search.trees import Tree

from wherein.search.literal import files_with_all_terms
from wherein.search.places import matched_lines

LONG = "\n\n".join(
    f"def step_{i}(value):\n" + "".join(f"    value += {i} * {k}\n" for k in range(60))
    for i in range(6)
)


def test_a_second_good_place_is_a_further_span_of_the_same_hit(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"steps.py": LONG})
    hit = tree.search("step value").hits[0]
    assert hit.further
    spans = [(hit.start_line, hit.end_line), *((s.start_line, s.end_line) for s in hit.further)]
    assert all(span.path == "steps.py" for span in hit.further)
    ordered = sorted(spans)
    assert all(a[1] < b[0] for a, b in pairwise(ordered))


def test_two_definitions_of_one_name_in_a_file_are_both_shown(tmp_path: Path) -> None:
    text = "class A:\n    def run(self):\n        pass\n\n"
    text += "class B:\n    def run(self):\n        return 1\n"
    hit = Tree(tmp_path, {"ab.py": text}).search("run").hits[0]
    lines = {hit.start_line, *(span.start_line for span in hit.further)}
    assert lines == {2, 6}


def test_a_file_found_by_its_path_alone_is_shown_from_its_start(tmp_path: Path) -> None:
    hit = Tree(tmp_path, {"cart.py": "", "other.py": "x = 1\n"}).search("cart.py").hits[0]
    assert (hit.path, hit.start_line, hit.kind) == ("cart.py", 1, "file")


def test_the_lines_with_most_of_the_query_come_first() -> None:
    lines = [
        "def total(cart):",
        "    tax = 1",
        "    return cart.total * tax_rate",
        "",
        "    # total",
    ]
    weights = {"total": 1.0, "tax": 2.0, "cart": 0.5}
    assert matched_lines(lines, 10, weights) == (12, 11, 10, 14)
    assert matched_lines(lines, 10, weights, limit=1) == (12,)
    assert matched_lines(lines, 10, {}) == ()


def test_files_with_all_words_of_a_text_in_one_chunk(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"a.py": "# one two\n", "b.py": "# two\n", "c.py": "# two one\n"})
    found = files_with_all_terms(tree.index, "one two", 10)
    assert [tree.index.path(int(file)) for file in found] == ["a.py", "c.py"]
    assert len(files_with_all_terms(tree.index, "one three", 10)) == 0
    assert len(files_with_all_terms(tree.index, "***", 10)) == 0


def test_a_named_definition_longer_than_a_chunk_is_shown_whole(tmp_path: Path) -> None:
    lines = "".join(f"    total += price_{i} * {i} + tax_{i} * rate_{i}\n" for i in range(150))
    tree = Tree(tmp_path, {"shop/sum.py": f"def add_all(total):\n{lines}    return total\n"})
    (hit,) = tree.search("add_all").hits
    assert (hit.start_line, hit.end_line) == (1, 152)


def test_a_name_asked_for_comes_first_and_other_likely_places_further(tmp_path: Path) -> None:
    body = "".join(f"    total += fee_{i}\n" for i in range(30))
    text = f"def charge_fee(total):\n{body}\n\ndef report():\n    charge_fee(1)  # overdue\n"
    text += "".join(f"    overdue_{i} = charge_fee({i})\n" for i in range(30))
    hit = Tree(tmp_path, {"fees.py": text}).search("charge_fee of an overdue report").hits[0]
    assert hit.symbol == "charge_fee"
    assert [span.start_line for span in hit.further] == [34]


def test_a_file_with_no_word_of_the_query_is_shown_from_its_start(tmp_path: Path) -> None:
    hit = Tree(tmp_path, {"sum/steps.py": LONG, "b.py": "x = 1\n"}).search("sum/").hits[0]
    assert (hit.path, hit.start_line) == ("sum/steps.py", 1)


def test_a_very_long_class_is_shown_from_its_head_not_by_its_first_line_alone(
    tmp_path: Path,
) -> None:
    before = "import os\n\nLIMIT = 3\n\n\n"
    methods = "".join(
        f"    def step_{i}(self):\n" + "".join(f"        self.a{i} += {k}\n" for k in range(30))
        for i in range(15)
    )
    text = f"{before}class Longest:\n    size = 1\n\n{methods}"
    hit = Tree(tmp_path, {"longest.py": text}).search("Longest").hits[0]
    assert hit.start_line == 6
    assert 10 <= hit.end_line - hit.start_line < 300
