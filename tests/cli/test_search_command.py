import json
import os
import subprocess  # noqa: TID251 - tests start the real program
import sys
from pathlib import Path

from tests.cli.sandbox import Sandbox

ROW_FIELDS = {
    "path",
    "start_line",
    "end_line",
    "symbol",
    "kind",
    "language",
    "score",
    "evidence",
}


def test_a_question_finds_the_function_that_answers_it(shop: Sandbox) -> None:
    screen = shop.run("search", "where is a request sent again", "--limit", "3")

    assert screen.exit_code == 0
    assert screen.stdout.splitlines()[0].startswith("src/retry.py:")
    assert "def retry_request" in screen.stdout


def test_json_prints_one_object_a_line_with_the_promised_fields(shop: Sandbox) -> None:
    screen = shop.run("search", "retry_request", ".", "--limit", "2", "--json")

    rows = screen.rows()
    assert screen.exit_code == 0
    assert len(rows) == 2
    assert all(row.keys() >= ROW_FIELDS for row in rows)
    assert rows[0]["path"] == "src/retry.py"
    assert rows[0]["symbol"] == "retry_request"
    assert (rows[0]["start_line"], rows[0]["language"]) == (4, "python")


def test_a_line_of_many_kilobytes_is_cut_in_json_too(sandbox: Sandbox) -> None:
    sandbox.write("data.json", json.dumps({"refund": list(range(15_000))}))
    (row,) = sandbox.run("search", "refund", "--json").rows()
    (line,) = row["lines"]
    assert len(line["text"]) == 501
    assert line["text"].endswith("…")


def test_an_edit_is_in_the_next_answer(shop: Sandbox) -> None:
    shop.run("search", "basket")
    shop.write("src/coupon.py", "def redeem_coupon_code(code):\n    return code\n")

    rows = shop.run("search", "redeem coupon code", "--json").rows()

    assert rows[0]["path"] == "src/coupon.py"


def test_nothing_found_ends_with_one(sandbox: Sandbox) -> None:
    sandbox.write("a.py", "x = 1\n")

    screen = sandbox.run("search", "zzqqxxyy", "--lang", "python", "--tests")

    assert screen.exit_code == 1


def test_filters_narrow_the_answer(shop: Sandbox) -> None:
    only_js = shop.run("search", "basket", "--lang", "javascript", "--json").rows()
    no_tests = shop.run("search", "retry_request", "--no-tests", "--json").rows()
    below_web = shop.run("search", "basket", "--path", "web/**", "--json").rows()
    only_docs = shop.run("search", "retried", "--content", "docs", "--json").rows()

    assert {row["path"] for row in only_js} == {"web/basket.js"}
    assert "tests/test_retry.py" not in {row["path"] for row in no_tests}
    assert {row["path"] for row in below_web} == {"web/basket.js"}
    assert {row["path"] for row in only_docs} == {"README.md"}


def test_since_limits_to_files_changed_after_a_revision(shop: Sandbox) -> None:
    shop.write("src/basket.py", "def total_price(basket):\n    return sum(basket) + 1\n")

    rows = shop.run("search", "basket price retry", "--since", "HEAD", "--json").rows()

    assert {row["path"] for row in rows} == {"src/basket.py"}


def test_a_folder_inside_an_indexed_one_is_answered_from_its_index(shop: Sandbox) -> None:
    shop.run("index")

    rows = shop.run("search", "basket", "src", "--json").rows()

    assert {row["path"] for row in rows} <= {"basket.py", "retry.py"}
    assert rows[0]["path"] == "basket.py"
    assert len(list((shop.home / "index" / "families").glob("*/trees/*/manifest"))) == 1


def test_standing_in_a_subfolder_means_that_subfolder(shop: Sandbox) -> None:
    rows = shop.run("search", "basket", "--json", cwd=shop.root / "web").rows()

    assert {row["path"] for row in rows} == {"basket.js"}


def test_every_spelling_of_a_folder_finds_one_index(sandbox: Sandbox) -> None:
    sandbox.write("real/proj/src/a.py", "def here():\n    pass\n")
    (sandbox.root / "link").symlink_to("real")

    found = [
        sandbox.run("search", "here", name, "--json").rows()[0]["path"]
        for name in ("link/proj", "real/proj", "real/proj/", "./real//proj")
    ]
    below = sandbox.run("search", "here", "link/proj/src", "--json").rows()

    assert found == ["src/a.py"] * 4
    assert [row["path"] for row in below] == ["a.py"]
    assert len(list((sandbox.home / "index" / "families").glob("*/trees/*/manifest"))) == 1


def test_several_repositories_are_answered_in_one_list(sandbox: Sandbox) -> None:
    sandbox.write("one/a.py", "def alpha_ledger():\n    pass\n")
    sandbox.write("two/b.py", "def beta_ledger():\n    pass\n")

    screen = sandbox.run("search", "ledger", "one", "two")
    rows = sandbox.run("search", "ledger", "one", "two", "--json").rows()

    assert {(row["repository"], row["path"]) for row in rows} == {("one", "a.py"), ("two", "b.py")}
    assert [row["rank"] for row in rows] == [1, 2]
    assert "one/a.py:1-2" in screen.stdout
    assert "two/b.py:1-2" in screen.stdout


def test_another_repository_is_searched_with_its_own_settings(sandbox: Sandbox) -> None:
    other = sandbox.root.parent / "other"
    for root in (sandbox.root, other):
        root.mkdir(exist_ok=True)
        for name in ("open.py", "hidden.py"):
            (root / name).write_text(f"def total_{root.name}():\n    return 1\n")
    (other / "wherein.toml").write_text('deny = ["hidden.py"]\n')

    alone = sandbox.run("search", "total", str(other), "--kind", "function", "--json").rows()
    both = sandbox.run("search", "total", ".", str(other), "--kind", "function", "--json").rows()

    assert [row["path"] for row in alone] == ["open.py"]
    assert sorted((Path(str(r["repository"])).name, r["path"]) for r in both) == sorted(
        [("", "hidden.py"), ("", "open.py"), ("other", "open.py")]
    )


def test_a_folder_of_a_repository_has_the_repositorys_settings(sandbox: Sandbox) -> None:
    sandbox.write("sub/open.py", "def total_open():\n    return 1\n")
    sandbox.write("sub/hidden.py", "def total_hidden():\n    return 1\n")
    sandbox.write("wherein.toml", 'deny = ["sub/hidden.py"]\n')
    (sandbox.root / ".git").mkdir(exist_ok=True)

    for place in ("sub", str(sandbox.root / "sub")):
        rows = sandbox.run("search", "total", place, "--kind", "function", "--json").rows()
        assert [row["path"] for row in rows] == ["open.py"]
    (row,) = sandbox.run("search", "total", "sub/open.py", "--limit", "1", "--json").rows()
    assert (row["path"], row["repository"]) == ("sub/open.py", ".")


def test_a_git_url_is_cloned_into_the_cache_and_searched(shop: Sandbox, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    rows = shop.run("search", "retry_request", shop.root.as_uri(), "--json", cwd=elsewhere).rows()

    assert rows[0]["path"] == "src/retry.py"
    assert rows[0]["repository"] == shop.root.as_uri()
    assert list(elsewhere.iterdir()) == []


def test_the_same_question_gives_the_same_bytes_under_any_hash_seed(shop: Sandbox) -> None:
    words = ("search", "retry a request or sum a basket", "--json", "--explain")
    shop.run("index")

    first = shop.run(*words, PYTHONHASHSEED="1").stdout
    second = shop.run(*words, PYTHONHASHSEED="2").stdout

    assert first == second
    assert first


def test_the_token_budget_of_an_answer_holds(shop: Sandbox) -> None:
    from wherein.budget import count_tokens

    screen = shop.run("search", "retry basket request total", "--max-tokens", "100")

    assert screen.exit_code == 0
    assert count_tokens(screen.stdout) <= 100
    assert "more: --offset" in screen.stdout


def test_explain_names_the_signals(shop: Sandbox) -> None:
    row = shop.run("search", "retry_request", "--explain", "--json", "--limit", "1").rows()[0]

    assert isinstance(row["signals"], dict)
    assert row["signals"]


def test_without_history_no_earlier_commit_takes_part(shop: Sandbox) -> None:
    shop.write("src/basket.py", "def total_price(basket):\n    return sum(basket, 0)\n")
    shop.git("commit", "-qam", "ask the postman for the price")
    words = ["search", "postman price", "--explain", "--json"]
    with_history = shop.run(*words)
    without = shop.run(*words, "--no-history")

    assert with_history.exit_code == without.exit_code == 0
    assert any(name.startswith("h_") for row in with_history.rows() for name in row["signals"])
    assert not any(name.startswith("h_") for row in without.rows() for name in row["signals"])


def test_index_status_and_clear_tell_what_there_is(shop: Sandbox) -> None:
    before = shop.run("status", "--json")
    built = shop.run("index", "--json").rows()[0]
    after = shop.run("status", "--json").rows()[0]
    cleared = shop.run("clear")
    again = shop.run("status")

    assert before.rows()[0]["is_indexed"] is False
    assert built["n_files"] == 5
    assert built["n_indexed_now"] == 5
    assert (after["is_fresh"], after["n_files"]) == (True, 5)
    assert after["languages"] == {"javascript": 1, "markdown": 1, "python": 3}
    assert cleared.exit_code == 0
    assert "not indexed" in again.stdout
    assert again.exit_code == 1


def test_a_broken_pipe_is_quiet(shop: Sandbox) -> None:
    shop.run("index")
    read_end, write_end = os.pipe()
    os.close(read_end)

    done = subprocess.run(
        [sys.executable, "-m", "wherein", "search", "basket"],
        cwd=shop.root,
        env=shop.environment(),
        stdout=write_end,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    os.close(write_end)

    assert done.stderr == b""


def test_colour_is_only_for_terminals_unless_asked_for(shop: Sandbox) -> None:
    shop.run("index")

    plain = shop.run("search", "basket")
    colored = shop.run("search", "basket", "--color", "always")

    assert "\x1b[" not in plain.stdout
    assert "\x1b[" in colored.stdout


def test_a_path_filter_may_be_absolute(shop: Sandbox) -> None:
    """An agent pastes the path it knows; inside the root it means what it says."""
    for pattern in (f"{shop.root}/web", f"{shop.root}/web/**", f"{shop.root}"):
        relative = pattern.removeprefix(f"{shop.root}").lstrip("/") or "**"
        absolute_rows = shop.run("search", "basket", "--path", pattern, "--json").stdout
        assert absolute_rows == shop.run("search", "basket", "--path", relative, "--json").stdout
        assert absolute_rows
    without = shop.run("search", "basket", "--path", f"!{shop.root}/web", "--json").rows()
    assert not any(str(row["path"]).startswith("web/") for row in without)


def test_standard_output_closed_from_the_start_is_no_fault(shop: Sandbox) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *shop.argv("search", "basket")],
        cwd=shop.root,
        env=shop.environment(),
        stderr=subprocess.PIPE,
        timeout=60,
    )

    assert done.returncode == 0
    assert done.stderr == b""
