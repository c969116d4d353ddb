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


def test_reading_outside_the_root_is_refused_with_the_setting_to_widen_it(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x.txt").write_text("other_sentinel\n")
    sandbox.write("a.py", "x = 1\n")
    sandbox.write("wherein.toml", f'roots = ["{tmp_path}"]\n')

    for name in ("../other/x.txt", str(tmp_path / "other" / "x.txt"), "/etc/hostname"):
        screen = sandbox.run("read", name)
        assert screen.exit_code == 2
        assert "other_sentinel" not in screen.stdout
        assert "roots" in screen.stderr

    widened = sandbox.run(
        "read", str(tmp_path / "other" / "x.txt"), WHEREIN_ROOTS=str(tmp_path / "other")
    )
    assert "other_sentinel" in widened.stdout


def test_an_index_that_cannot_be_kept_is_said(sandbox: Sandbox) -> None:
    sandbox.write("a.py", "def alpha():\n    return 1\n")
    no_folder = sandbox.write("no-folder", "a file")

    indexed = sandbox.run("index", WHEREIN_HOME=str(no_folder))
    cleared = sandbox.run("clear", WHEREIN_HOME=str(no_folder))

    assert indexed.exit_code == 1
    assert f"note: the index in {no_folder} cannot be written" in indexed.stdout
    assert cleared.stdout == f"no index of {sandbox.root} to remove\n"
