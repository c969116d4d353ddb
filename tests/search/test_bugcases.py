"""Public reports of kind D (search quality), each with the answer that should have come."""

from pathlib import Path

import numpy as np
import pytest
from tests.search.trees import Tree

from wherein.embed.hashing import HashingEmbedder
from wherein.types import Evidence


@pytest.mark.parametrize(
    "query", ["settle_invoice", "settle_invoice function", "where is settle_invoice defined"]
)
@pytest.mark.parametrize("embedder", [None, HashingEmbedder()])
def test_d02_the_definition_of_an_exact_name_is_first(
    tmp_path: Path, query: str, embedder: HashingEmbedder | None
) -> None:
    calls = "    settle_invoice({k})  # settle_invoice again\n"
    files = {
        f"use{i}.py": f"from ledger.core import settle_invoice\n\ndef job_{i}():\n"
        + "".join(calls.format(k=k) for k in range(1, 7))
        for i in range(1, 31)
    }
    core = "import math\n\ndef settle_invoice(inv):\n    return math.floor(inv)\n"
    tree = Tree(tmp_path, {**files, "ledger/core.py": core}, embedder)
    hit = tree.search(query).hits[0]
    assert (hit.path, hit.start_line, hit.symbol) == ("ledger/core.py", 3, "settle_invoice")


def shop(tmp_path: Path) -> Tree:
    test = (
        "from shop.cart import apply_discount\n\ndef test_apply_discount_to_cart_{i}():\n"
        "    cart = 10\n    # apply discount to cart\n    assert apply_discount(cart, 0) == cart\n"
    )
    return Tree(
        tmp_path,
        {
            "shop/cart.py": "def apply_discount(cart, pct):\n    return cart * (1 - pct)\n",
            "shop/testing_tools.py": "def make_clock():\n    return 0\n",
            **{f"tests/test_cart_{i}.py": test.format(i=i) for i in range(1, 7)},
            "spec/cart.spec.ts": 'describe("apply discount to cart", () => { it("") })\n',
        },
    )


def test_d04_the_source_comes_before_its_tests(tmp_path: Path) -> None:
    tree = shop(tmp_path)
    found = tree.found("apply discount to cart")
    assert found[0] == "shop/cart.py:1-2"
    assert len(found) > 1
    assert tree.found("apply discount to cart", tests=False) == ["shop/cart.py:1-2"]


def test_d04_a_query_that_asks_for_tests_gets_tests_first(tmp_path: Path) -> None:
    tree = shop(tmp_path)
    assert all(path.startswith("tests/") for path in tree.paths("test apply discount")[:6])
    scoped = tree.paths("apply discount path:tests")
    assert len(scoped) == 6
    assert all(path.startswith("tests/") for path in scoped)


@pytest.mark.parametrize("query", ["tests for login", "where is login tested", "login test"])
def test_tests_that_are_asked_for_come_before_the_definition(tmp_path: Path, query: str) -> None:
    login = 'def login(name):\n    """Let the user in."""\n    return True\n'
    test = 'def test_user_can_login():\n    assert login("a")\n'
    tree = Tree(
        tmp_path,
        {"auth/login.py": login, "tests/test_user.py": test, "docs/login.md": "# Login\n\nUser.\n"},
        HashingEmbedder(),
    )
    assert tree.paths(query)[0] == "tests/test_user.py"
    assert tree.paths("login")[0] == "auth/login.py"
    assert tree.paths("login docs")[0] == "docs/login.md"


@pytest.mark.parametrize(
    ("query", "line"), [("admin?", 2), ("save!", 3), ("who calls save!", 3), ("User#admin?", 2)]
)
def test_names_that_end_with_a_sign_are_found_by_it(tmp_path: Path, query: str, line: int) -> None:
    user = "class User < Record\n  def admin?; true; end\n  def save!; true; end\nend\n"
    tree = Tree(tmp_path, {"user.rb": user, "other.rb": "def work(user)\n  user.admin\nend\n"})
    hit = tree.search(query).hits[0]
    assert (hit.path, hit.start_line) == ("user.rb", line)


def test_a_line_of_a_log_is_found_without_quotes(tmp_path: Path) -> None:
    load = 'def load_{i}(path):\n    """A file record; what is not there is not found."""\n'
    tree = Tree(
        tmp_path,
        {
            **{f"m{i:02}.py": load.format(i=i) for i in range(8)},
            "zz.py": 'def fetch(p):\n    raise LookupError("file record not found")\n',
        },
        HashingEmbedder(),
    )
    hit = tree.search("file record not found").hits[0]
    assert (hit.path, hit.matched_lines) == ("zz.py", (2,))
    assert "weak" not in str(hit.evidence)


REFUNDS = """export interface RefundService {
  createRefund(id: string): void;
}

export class StripeRefundService implements RefundService {
  createRefund(id: string) {
    return post("/refunds", { id });
  }
}
"""


@pytest.mark.parametrize(
    ("kind", "line", "symbol"),
    [("interface", 1, "RefundService"), ("class", 5, "StripeRefundService"),
     ("method", 6, "createRefund"), ("declaration", 2, "createRefund")],
)  # fmt: skip
def test_a_filter_by_kind_shows_a_place_of_that_kind(
    tmp_path: Path, kind: str, line: int, symbol: str
) -> None:
    tree = Tree(tmp_path, {"refunds.ts": REFUNDS})
    hit = tree.search("refund", kinds=(kind,)).hits[0]
    assert (hit.kind, hit.start_line, hit.symbol) == (kind, line, symbol)


def test_of_one_name_the_place_with_a_body_is_first(tmp_path: Path) -> None:
    hit = Tree(tmp_path, {"refunds.ts": REFUNDS}).search("createRefund").hits[0]
    assert (hit.start_line, hit.kind) == (6, "method")
    assert [span.start_line for span in hit.further] == [2]


def test_a_quoted_text_of_common_words_is_found_among_many_files(tmp_path: Path) -> None:
    other = "def f{i}(found):\n    # not a record that the file has\n    return found\n" * 3
    rest = "".join(f"def g{k}(): return {k}\n" for k in range(60))
    tree = Tree(
        tmp_path,
        {
            **{f"m{i:03}.py": other.format(i=i) for i in range(150)},
            "zz.py": f'{rest}def h(): raise LookupError("file record not found")\n',
        },
    )
    hit = tree.search('"file record not found"').hits[0]
    assert (hit.path, hit.matched_lines[0]) == ("zz.py", 61)


def test_a_quoted_word_that_stands_everywhere_leaves_the_right_file(tmp_path: Path) -> None:
    other = 'def f{i}(x):\n    return x["all"], {i}\n'
    finder = "def find_finders(path, shadowing):\n    return [path, shadowing]\n"
    tree = Tree(
        tmp_path,
        {**{f"m{i:03}.py": other.format(i=i) for i in range(150)}, "zz_finders.py": finder},
    )
    assert tree.paths('Avoided name shadowing of "all" in finders')[0] == "zz_finders.py"


def test_d06_words_of_scripts_without_spaces_are_found(tmp_path: Path) -> None:
    net = (
        "def call(fn):\n    # 请求超时重试三次\n    return fn()\n\n# 使用redis连接池\nPOOL = None\n"
    )
    tree = Tree(
        tmp_path,
        {
            "net.py": net,
            "jp.py": "def again(fn):\n    # 失敗したら再試行する\n    return fn()\n",
            "kr.py": "def again_k(fn):\n    # 실패하면 재시도합니다\n    return fn()\n",
            **{
                f"z{i}.py": f"def f{i}():\n    # 普通的说明文字\n    return {i}\n"
                for i in range(20)
            },
        },
    )
    for query, path, line in [
        ("超时", "net.py", 2),
        ("超时重试", "net.py", 2),
        ("再試行", "jp.py", 2),
        ("재시도", "kr.py", 2),
        ("redis", "net.py", 5),
        ("ＲＥＤＩＳ", "net.py", 5),
    ]:
        hit = tree.search(query).hits[0]
        assert hit.path == path, query
        assert hit.start_line <= line <= hit.end_line
        assert line in hit.matched_lines
    nothing = tree.search("计算")
    assert nothing.hits == ()
    assert any("计算" in note for note in nothing.notes)


SIGNS = {
    "a.py": "# multi-agent planner\ndef plan():\n    pass\n",
    "b.py": "# C++ bridge\ndef bridge():\n    pass\n",
    "c.sql": "create table t (x int NOT NULL);\n",
    "d.py": "foo(bar)\n",
    "e.py": "# keep 50% of it\ndef half():\n    pass\n",
    "f.py": "# see path/to:file\nX = 1\n",
}


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("multi-agent", "a.py"),
        ("C++", "b.py"),
        ("NOT NULL", "c.sql"),
        ("foo(bar)", "d.py"),
        ("50%", "e.py"),
        ("path/to:file", "f.py"),
    ],
)
def test_d08_signs_in_a_query_are_text(tmp_path: Path, query: str, path: str) -> None:
    hit = Tree(tmp_path, SIGNS).search(query).hits[0]
    assert (hit.path, hit.start_line) == (path, 1)


def test_d08_no_query_fails_for_its_signs(tmp_path: Path) -> None:
    tree = Tree(tmp_path, SIGNS)
    for query in ["a'b", "@nasa", "AND", "OR", "NOT", "NEAR(a b)", "a:b^2", "x AND", "{a b}:c"]:
        tree.search(query)
    for query in ['"', "*", "(((", "--"]:
        answer = tree.search(query)
        assert answer.hits == ()
        assert answer.notes
        assert answer.evidence is Evidence.WEAK


def test_d10_two_short_neighbours_are_found_each_at_its_own_line(tmp_path: Path) -> None:
    pair = (
        "def first_half(x):\n    return x[:len(x)//2]\n\n"
        "def second_half(x):\n    return x[len(x)//2:]\n"
    )
    tree = Tree(tmp_path, {"pair.py": pair})
    assert tree.search("first_half").hits[0].start_line == 1
    assert tree.search("second_half").hits[0].start_line == 4
    both = tree.search("half").hits[0]
    shown = [(both.start_line, both.end_line)]
    shown += [(span.start_line, span.end_line) for span in both.further]
    for line in (1, 4):
        assert any(start <= line <= end for start, end in shown)


@pytest.mark.parametrize("embedder", [None, HashingEmbedder()])
def test_d12_strange_files_give_no_strange_scores(
    tmp_path: Path, embedder: HashingEmbedder | None
) -> None:
    tree = Tree(
        tmp_path,
        {
            "add.py": "def sum_numbers(a, b):\n    return a + b\n",
            "empty.py": "",
            "blank.py": "\n\n   \n",
            "punct.js": "}}}}{{{{;;;;\n",
            "rare.txt": "ⵣⵣⵣⵣ ⴰⴱⴳ\n",
        },
        embedder,
    )
    found = tree.search("sum numbers")
    assert [hit.path for hit in found.hits] == ["add.py"]
    for query in ("sum numbers", "ⴰⴱ", "zzz"):
        answer = tree.search(query)
        assert np.isfinite([hit.score for hit in answer.hits]).all()
        assert 0 <= answer.probability <= 1


def test_d14_a_path_filter_holds_before_the_cut(tmp_path: Path) -> None:
    one = "def merge_sorted_runs(a, b):\n    return sorted(a + b)\n"
    many = "def merge_sorted_runs_{i}(runs):\n    # merge sorted runs\n    return sorted(runs)\n"
    tree = Tree(
        tmp_path,
        {
            "small/m.py": one,
            "small_other/m.py": one,
            **{f"big/b{i}.py": many.format(i=i) for i in range(200)},
        },
    )
    for pattern in ("small/", "small", "small/**", "small/*.py", "./small"):
        assert tree.found("merge sorted runs", paths=(pattern,)) == ["small/m.py:1-2"]


def test_d16_a_logged_message_finds_its_format_string(tmp_path: Path) -> None:
    trap = (
        "#include <stdio.h>\nvoid trap(const char *ip) {\n"
        '  printf("snmp_worker: unauthorized SNMP community %s\\n", ip);\n}\n'
    )
    other = "void from_{i}(void) {{ /* community worker */ }}\n"
    tree = Tree(tmp_path, {"trap.c": trap, **{f"w{i}.c": other.format(i=i) for i in range(1, 26)}})
    answer = tree.search("snmp_worker: unauthorized SNMP community from 10.1.2.3")
    hit = answer.hits[0]
    assert hit.path == "trap.c"
    assert hit.start_line <= 3 <= hit.end_line
    assert hit.matched_lines[0] == 3
    assert any("partial" in note for note in answer.notes)
    quoted = tree.search('"unauthorized SNMP community"')
    assert quoted.hits[0].path == "trap.c"
    assert not any("partial" in note for note in quoted.notes)
