import os
from pathlib import Path

import pytest
from tests.cli.sandbox import Sandbox, Screen


def complaint(screen: Screen) -> tuple[str, str]:
    """Return message and hint, checking that they are all that was said."""
    assert screen.exit_code == 2
    assert screen.stdout == ""
    first, *others = screen.stderr.splitlines()
    assert first.startswith("wherein: ")
    hints = [line.removeprefix("hint: ") for line in others]
    assert all(line.startswith("hint: ") for line in others)
    return first.removeprefix("wherein: "), " ".join(hints)


def test_a_path_that_does_not_exist(sandbox: Sandbox) -> None:
    message, hint = complaint(sandbox.run("search", "x", "nowhere"))

    assert message == "no such file or folder: 'nowhere'"
    assert str(sandbox.root) in hint


def test_a_query_without_quotes_is_told_of_quotes(sandbox: Sandbox) -> None:
    _message, hint = complaint(sandbox.run("search", "proxy", "websocket", "upgrade"))
    assert "in quotes" in hint

    _message, hint = complaint(sandbox.run("search", "proxy", "no/where"))
    assert "in quotes" not in hint


def test_a_special_file_in_place_of_a_folder(sandbox: Sandbox) -> None:
    os.mkfifo(sandbox.root / "pipe")

    message, hint = complaint(sandbox.run("search", "x", "pipe"))

    assert "neither a folder nor a regular file" in message
    assert hint


def test_an_empty_folder_is_answered_with_nothing(sandbox: Sandbox) -> None:
    screen = sandbox.run("search", "anything")

    assert screen.exit_code == 1
    assert screen.stdout.startswith("nothing found")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read(sandbox: Sandbox) -> None:
    (sandbox.root / "locked").mkdir(mode=0)

    message, _hint = complaint(sandbox.run("search", "x", "locked"))

    assert "locked" in message


@pytest.mark.parametrize("query", ["", "   ", "\t\n"])
def test_an_empty_query(sandbox: Sandbox, query: str) -> None:
    message, hint = complaint(sandbox.run("search", query))

    assert message == "the query is empty"
    assert hint


def test_a_missing_query(sandbox: Sandbox) -> None:
    message, _hint = complaint(sandbox.run("search"))

    assert message == "search needs the argument 'query'"


def test_an_unknown_language_names_the_near_one(shop: Sandbox) -> None:
    message, hint = complaint(shop.run("search", "x", "--lang", "pyhton"))

    assert "'pyhton'" in message
    assert hint == "did you mean 'python'?"


def test_a_glob_that_does_not_close(shop: Sandbox) -> None:
    message, hint = complaint(shop.run("search", "x", "--path", "src/[a"))

    assert "src/[a" in message or "'['" in message
    assert hint


@pytest.mark.parametrize("revision", ["no-such-rev", "--output=victim.txt", "-x"])
def test_a_revision_that_does_not_exist_or_is_an_option(shop: Sandbox, revision: str) -> None:
    shop.write("victim.txt", "precious\n")

    message, _hint = complaint(shop.run("search", "x", f"--since={revision}"))

    assert revision in message
    assert (shop.root / "victim.txt").read_text() == "precious\n"


def test_since_outside_git(sandbox: Sandbox) -> None:
    sandbox.write("a.py", "x = 1\n")

    message, _hint = complaint(sandbox.run("search", "x", "--since", "HEAD"))

    assert "no git repository" in message


def test_a_place_without_a_line(shop: Sandbox) -> None:
    message, hint = complaint(shop.run("similar", "src/retry.py"))

    assert message == "'src/retry.py' names no line"
    assert "path:line" in hint


def test_a_place_named_by_symbol(shop: Sandbox) -> None:
    shop.write("src/again.py", (shop.root / "src/retry.py").read_text())
    name = "retry_request"
    screen = shop.run("similar", f"src/retry.py#{name}", "--limit", "1")
    message, hint = complaint(shop.run("similar", f"src/retry.py#{name[:-1]}"))

    shop.write(".env", "HIDDEN_NAME=1\n")
    for tool in ("similar", "history", "read"):
        place = ("--for",) if tool == "history" else ()
        refused, _ = complaint(shop.run(tool, *place, ".env#nothing"))
        assert refused == "'.env' is not shown: secret-like name"

    assert screen.stdout.startswith("src/again.py:")
    assert message == f"'src/retry.py' defines no '{name[:-1]}'"
    assert name in hint


def test_a_corrupt_index_is_built_again_and_answers(shop: Sandbox) -> None:
    shop.run("index")
    for path in (shop.home / "index" / "families").rglob("*"):
        if path.is_file() and path.suffix != ".lock":
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    rows = shop.run("search", "retry_request", "--json").rows()

    assert rows[0]["path"] == "src/retry.py"


def test_a_newer_index_is_left_alone(shop: Sandbox) -> None:
    shop.run("index")
    for path in (shop.home / "index" / "families").glob("*/format"):
        path.write_text("999\n")

    message, hint = complaint(shop.run("search", "retry_request"))

    assert "newer" in message
    assert "update" in hint


def test_a_home_that_cannot_be_written_still_answers(shop: Sandbox, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file, not a folder")

    rows = shop.run("search", "retry_request", "--json", WHEREIN_HOME=str(blocked / "index")).rows()

    assert rows[0]["path"] == "src/retry.py"


def test_a_query_in_chinese_finds_its_line(sandbox: Sandbox) -> None:
    sandbox.write("pay.py", "# 失败的请求最多重试五次\ndef send():\n    pass\n")
    sandbox.write("other.py", "def other():\n    pass\n")

    rows = sandbox.run("search", "请求重试", "--json").rows()

    assert rows[0]["path"] == "pay.py"


def test_a_query_of_100_kilobytes_is_answered(shop: Sandbox) -> None:
    screen = shop.run("search", "retry_request " + "noise words " * 8_500)

    assert screen.exit_code in {0, 1}
    assert screen.stderr == ""


def test_a_query_of_one_endless_word_is_answered_in_time(shop: Sandbox) -> None:
    done = shop.run("search", "a" * 60_000 + "@" * 60_000)

    assert done.exit_code in {0, 1}


def test_a_query_that_looks_like_an_option_goes_after_two_dashes(shop: Sandbox) -> None:
    message, hint = complaint(shop.run("search", "--retry"))
    screen = shop.run("search", "--", "--retry")

    assert message == "search has no option '--retry'"
    assert hint
    assert screen.exit_code in {0, 1}


def test_a_limit_out_of_range(shop: Sandbox) -> None:
    message, hint = complaint(shop.run("search", "x", "--limit", "0"))

    assert message == "search: limit cannot be 0"
    assert hint == "limit is a whole number from 1 to 100"


def test_an_unknown_command_names_the_near_one(sandbox: Sandbox) -> None:
    message, hint = complaint(sandbox.run("serach", "x"))

    assert message == "no command 'serach'"
    assert hint == "did you mean 'search'?"


def test_an_unknown_option_names_the_near_one(sandbox: Sandbox) -> None:
    message, hint = complaint(sandbox.run("search", "x", "--limti", "3"))

    assert message == "search has no option '--limti'"
    assert hint == "did you mean '--limit'?"


def test_a_git_address_that_cannot_be_reached(sandbox: Sandbox, tmp_path: Path) -> None:
    url = (tmp_path / "no-repository").as_uri()

    message, hint = complaint(sandbox.run("search", "x", url))

    assert url in message
    assert "address" in hint


def test_an_address_that_would_run_a_program_is_no_address(sandbox: Sandbox) -> None:
    message, _hint = complaint(sandbox.run("search", "x", "ext::sh -c touch% pwned"))

    assert message.startswith("no such file or folder")
    assert not (sandbox.root / "pwned").exists()


def test_a_current_folder_that_is_gone(sandbox: Sandbox) -> None:
    gone = sandbox.root / "gone"
    gone.mkdir()
    script = "import os, sys; os.rmdir(os.getcwd()); from wherein.cli.main import main; "
    program = f"{script}sys.exit(main(['search', 'x']))"
    import subprocess  # noqa: TID251 - tests start the real program
    import sys

    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=gone,
        env=sandbox.environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 2
    assert "current folder" in done.stderr


@pytest.mark.parametrize("name", ["..", "../other/x.txt", "/etc/hostname", "~", "link/x.txt"])
@pytest.mark.parametrize(
    "words",
    [
        ("read",),
        ("grep", "sentinel"),
        ("grep", "sentinel", "-g"),
        ("glob", "*", "--path"),
        ("glob",),
        ("history", "--for"),
        ("search", "sentinel", "--path"),
        ("similar", "a.py:1", "--path"),
    ],
    ids=" ".join,
)
def test_a_path_outside_the_root_is_refused(
    sandbox: Sandbox, tmp_path: Path, words: tuple[str, ...], name: str
) -> None:
    """Case I14: one rule for every path of every tool."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x.txt").write_text("other_sentinel\n")
    (sandbox.root / "link").symlink_to("../other")
    sandbox.write("a.py", "x = 1\n")
    is_pattern = words[-1] in {"-g", "--path", "glob"} and words[:2] != ("glob", "*")

    screen = sandbox.run(*words, name)

    assert "other_sentinel" not in screen.stdout
    if is_pattern and name == "link/x.txt":
        assert screen.exit_code == 1  # a pattern that matches nothing: links are not followed
    else:
        assert screen.exit_code == 2
        assert "root" in screen.stderr


def test_only_the_user_widens_what_may_be_read(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x.txt").write_text("other_sentinel\n")
    sandbox.write("a.py", "x = 1\n")
    sandbox.write("wherein.toml", f'roots = ["{tmp_path}"]\n')

    screen = sandbox.run("read", "../other/x.txt")

    assert screen.exit_code == 2
    assert "'roots'" in screen.stderr
    moved = sandbox.run("read", "x.txt", "--root", str(tmp_path / "other"))
    assert "other_sentinel" in moved.stdout

    widened = sandbox.run(
        "read", str(tmp_path / "other" / "x.txt"), WHEREIN_ROOTS=str(tmp_path / "other")
    )
    assert "other_sentinel" in widened.stdout


def test_an_index_that_cannot_be_kept_is_said(sandbox: Sandbox) -> None:
    sandbox.write("a.py", "def alpha():\n    return 1\n")
    no_folder = sandbox.write("no-folder", "a file")

    indexed = sandbox.run("index", WHEREIN_HOME=str(no_folder))
    cleared = sandbox.run("clear", WHEREIN_HOME=str(no_folder))

    assert indexed.exit_code == 2
    assert "  not indexed\n" in indexed.stdout
    assert f"note: the index in {no_folder} cannot be written" in indexed.stdout
    assert cleared.stdout == f"no index of {sandbox.root} to remove\n"


@pytest.mark.parametrize(
    ("words", "note"),
    [
        (("search", "retry", "-p", "nothere"), "no file matches the path filter 'nothere'"),
        (("search", "retry", "-l", "go"), "no file here is in 'go'"),
        (("search", "retry", "-p", "web", "-l", "python"), "no file passes all the filters"),
        (("search", "retry", "--since", "HEAD"), "no file changed since then"),
        (("similar", "src/retry.py:4", "-p", "nothere"), "no file matches the path filter"),
        (("grep", "retry", "-g", "nothere"), "no file matches the filter: glob 'nothere'"),
        (("grep", "retry", "-t", "go"), "no file matches the filter: type 'go'"),
    ],
    ids=" ".join,
)
def test_a_filter_that_no_file_passes_is_named(
    shop: Sandbox, words: tuple[str, ...], note: str
) -> None:
    screen = shop.run(*words)

    assert screen.exit_code == 1
    assert note in screen.stdout + screen.stderr


def test_a_filter_that_a_file_passes_is_not_blamed(shop: Sandbox) -> None:
    screen = shop.run("search", "zzzz", "-p", "src", "-p", "nothere")

    assert screen.exit_code == 1
    assert "filter '" not in screen.stdout


def test_a_place_past_the_end_says_where_the_end_is(shop: Sandbox) -> None:
    message, hint = complaint(shop.run("similar", "src/retry.py:99999"))
    read = shop.run("read", "src/retry.py:99999")
    offset = shop.run("read", "src/retry.py", "--offset", "8")

    assert message == "'src/retry.py' has no line 99999: it has 7"
    assert hint == "name a line from 1 to 7"
    assert (read.exit_code, offset.exit_code) == (1, 1)
    assert read.stdout == "[line 99999 is past the end: the file has 7 lines]\n"
    assert shop.run("read", "src/retry.py:7-99").exit_code == 0
    assert shop.run("similar", "src/retry.py:7").exit_code in {0, 1}


@pytest.mark.parametrize("words", [("glob",), ("grep", "x", "-g"), ("search", "x", "-p")], ids=str)
@pytest.mark.parametrize("glob", ["[ab", "x/[ab", "{a"])
def test_a_bad_glob_is_named_as_it_was_typed(
    shop: Sandbox, words: tuple[str, ...], glob: str
) -> None:
    message, hint = complaint(shop.run(*words, glob, cwd=shop.root / "src"))

    assert f"'{glob}'" in message or f"'src/{glob}'" in message
    assert "**" not in message
    assert hint


@pytest.mark.parametrize("words", [(), ("--set", "home=rel")], ids=str)
def test_a_home_that_starts_where_one_stands_is_refused(
    shop: Sandbox, words: tuple[str, ...]
) -> None:
    """It would lie in the tree, and be another one in every folder."""
    variables = {} if words else {"WHEREIN_HOME": "rel"}

    message, hint = complaint(shop.run("search", "retry", *words, **variables))

    assert "'rel'" in message
    assert "absolute" in hint
    assert not (shop.root / "rel").exists()


def test_a_home_inside_the_tree_is_not_searched(shop: Sandbox) -> None:
    home = str(shop.root / ".index")

    for _ in range(2):
        rows = shop.run("search", "families records manifest", "--json", WHEREIN_HOME=home).rows()
        assert not [row for row in rows if str(row["path"]).startswith(".index")]
    assert shop.run("glob", ".index/**", WHEREIN_HOME=home).exit_code == 1


def test_files_that_grep_could_not_read_are_named(shop: Sandbox) -> None:
    shop.write("src/closed.py", "retry\n").chmod(0)
    screens = [
        shop.run_as_anyone("grep", "retry_request", "--output", how)
        for how in ("files", "content", "count")
    ]
    nothing = shop.run_as_anyone("grep", "no_such_thing")

    for screen in (*screens, nothing):
        assert "could not be read, matches may be missing: src/closed.py" in screen.stderr
    assert screens[0].stdout == "src/retry.py\ntests/test_retry.py\n"
    assert "could not be read" not in shop.run("grep", "x", "web").stderr


def test_an_index_without_files_says_why(sandbox: Sandbox) -> None:
    assert "no file is indexed: the folder is empty" in sandbox.run("index").stdout
    sandbox.git("init", "-q")
    sandbox.write("a.py", "x = 1\n")
    sandbox.write(".gitignore", "*\n")

    indexed, status = sandbox.run("index"), sandbox.run("status")

    assert "no file is indexed: ignore files such as .gitignore leave out all" in indexed.stdout
    assert "no file is indexed: ignore files such as .gitignore leave out all" in status.stdout
    sandbox.write(".gitignore", "")
    assert "no file is indexed" not in sandbox.run("index").stdout


def test_a_damaged_grammar_is_unpacked_again(shop: Sandbox, tmp_path: Path) -> None:
    """Loading a library that was cut short ends the process: a bus error."""
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    shop.run("index", **cache)
    (library,) = (tmp_path / "cache").rglob("libtree_sitter_python.so")
    whole = library.read_bytes()
    for damaged in (whole[:20_000], b"", whole[:-1] + b"\0"):
        library.write_bytes(damaged)
        shop.write("src/basket.py", f"def total_price(basket):\n    return {len(damaged)}\n")

        found = shop.run("search", "total_price", "--json", **cache)
        read = shop.run("read", "src/basket.py#total_price", **cache)

        assert found.rows()[0]["symbol"] == "total_price"
        assert read.exit_code == 0
        assert library.read_bytes() == whole


def test_a_damaged_grammar_that_cannot_be_replaced_is_an_error(
    shop: Sandbox, tmp_path: Path
) -> None:
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    shop.run("index", **cache)
    (library,) = (tmp_path / "cache").rglob("libtree_sitter_python.so")
    library.write_bytes(b"")
    library.parent.chmod(0o500)
    shop.write("src/basket.py", "def total_price(basket):\n    return 7\n")
    try:
        message, hint = complaint(shop.run_as_anyone("search", "total_price", **cache))
    finally:
        library.parent.chmod(0o700)

    assert "libtree_sitter_python.so' is damaged" in message
    assert "remove" in hint
    found = shop.run("search", "total_price", "--json", **cache)
    assert found.rows()[0]["symbol"] == "total_price"


@pytest.mark.parametrize("words", [("search", "x"), ("grep", "x"), ("read",)])
def test_an_empty_path_is_a_slip_and_not_the_whole_tree(
    sandbox: Sandbox, words: tuple[str, ...]
) -> None:
    sandbox.write("a.py", "x = 1\n")

    screen = sandbox.run(*words, "")

    assert screen.exit_code == 2
    assert screen.stdout == ""
    assert "is empty\nhint: '.' is the folder here" in screen.stderr
