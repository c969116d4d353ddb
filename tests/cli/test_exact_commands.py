import os
import pty
import signal
import subprocess  # noqa: TID251 - tests start the real program
from pathlib import Path

from tests.cli.sandbox import Sandbox


def test_grep_prints_one_path_a_line_and_lines_when_asked(shop: Sandbox) -> None:
    files = shop.run("grep", "retry_request")
    lines = shop.run("grep", "retry_request", "--output", "content", "src")
    counts = shop.run("grep", "-i", "RETRY", "--output", "count", "tests")

    assert files.stdout == "src/retry.py\ntests/test_retry.py\n"
    assert lines.stdout == "src/retry.py:4:def retry_request(request, attempts=3):\n"
    assert counts.stdout == "tests/test_retry.py:1\n"


def test_grep_takes_the_options_that_people_type(shop: Sandbox) -> None:
    lines = "src/retry.py:4:def retry_request(request, attempts=3):\n"

    assert shop.run("grep", "-n", "retry_request", "src").stdout == lines
    assert shop.run("grep", "-nw", "retry_request", "src").stdout == lines
    assert shop.run("grep", "--line-number", "retry_request", "src").stdout == lines
    assert shop.run("grep", "-ic", "RETRY", "tests").stdout == "tests/test_retry.py:1\n"
    assert shop.run("grep", "-l", "retry_request", "src").stdout == "src/retry.py\n"
    assert shop.run("grep", "-rn", "retry_request", "src").stdout == lines
    assert shop.run("grep", "--recursive", "retry_request", "src").stdout == "src/retry.py\n"
    assert shop.run("grep", "retry", "--include", "*.js").exit_code == 1
    counted = shop.run("grep", "--output", "count", "-n", "retry_request", "src")
    assert counted.stdout == "src/retry.py:1\n"
    around = shop.run("grep", "-A1", "retry_request", "src").stdout.splitlines()
    assert around[0] == lines.rstrip("\n")
    assert around[1].startswith("src/retry.py-5-")


def test_grep_finds_nothing_with_one_and_says_where_it_looked(shop: Sandbox) -> None:
    screen = shop.run("grep", "no_such_thing")

    assert screen.exit_code == 1
    assert screen.stdout == ""
    assert "5 files" in screen.stderr


def test_grep_takes_patterns_that_look_like_options(shop: Sandbox) -> None:
    shop.write("flags.txt", "--verbose\n-x\n")

    assert shop.run("grep", "-e", "--verbose").stdout == "flags.txt\n"
    assert shop.run("grep", "--", "--verbose").stdout == "flags.txt\n"
    assert shop.run("grep", "-e", "total", "-e", "renderB").stdout == (
        "src/basket.py\nweb/basket.js\n"
    )


def test_grep_starts_where_the_person_stands(shop: Sandbox) -> None:
    below = shop.run("grep", "Basket", cwd=shop.root / "web")

    assert below.stdout == "basket.js\n"


def test_a_cut_grep_says_how_to_go_on(shop: Sandbox) -> None:
    screen = shop.run("grep", "e", "--limit", "2")

    assert len(screen.stdout.splitlines()) == 2
    assert "--offset 2" in screen.stderr


def test_a_page_past_the_end_says_where_the_end_is(shop: Sandbox) -> None:
    grep = shop.run("grep", "-n", "retry_request", "src", "--offset", "9")
    glob = shop.run("glob", "src/*.py", "--offset", "9")

    assert (grep.exit_code, grep.stdout) == (1, "")
    assert "no more matches: 1 in all" in grep.stderr
    assert "no more files: 2 in all" in glob.stderr


def test_glob_and_read_work_on_the_command_line(shop: Sandbox) -> None:
    assert shop.run("glob", "**/*.py", "--sort", "name").stdout == (
        "src/basket.py\nsrc/retry.py\ntests/test_retry.py\n"
    )
    assert shop.run("read", "src/basket.py#total_price").stdout == (
        "1\tdef total_price(basket):\n2\t    return sum(basket)\n"
    )
    assert shop.run("glob", "*.rs").exit_code == 1


def test_an_interrupt_says_what_is_kept(sandbox: Sandbox) -> None:
    body = "".join(f"def fn_{{i}}_{j}(x):\n    return x + {j}\n\n\n" for j in range(60))
    for i in range(1000):
        sandbox.write(f"f{i}.py", body.replace("{i}", str(i)))
    # Where the tests run in the background interrupts are ignored, and a child inherits that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(
            sandbox.argv("index"),
            cwd=sandbox.root,
            env=sandbox.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        families = sandbox.home / "index" / "families"
        while process.poll() is None and not list(families.glob("*/records.sqlite")):
            os.sched_yield()
        os.killpg(process.pid, signal.SIGINT)
        _out, error = process.communicate(timeout=60)

    assert process.returncode == 130
    assert error.splitlines()[-2:] == [
        "wherein: interrupted",
        "hint: what was indexed so far is kept; the next call goes on from there",
    ]
    assert "Traceback" not in error
    assert (
        sandbox.run("search", "fn_299_59", "--json", "--limit", "1").rows()[0]["path"] == "f299.py"
    )


def test_a_terminal_sees_a_progress_bar_and_colour(shop: Sandbox) -> None:
    for i in range(150):
        shop.write(f"more/f{i}.py", f"def fn_{i}(x):\n    return x\n" * 20)
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        shop.argv("search", "retry_request"),
        cwd=shop.root,
        env=shop.environment(TERM="xterm-256color", COLUMNS="120"),
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    seen = b""
    while True:
        try:
            data = os.read(leader, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data
    os.close(leader)

    assert process.wait(60) == 0
    assert b"files," in seen
    assert b"chunks" in seen
    assert b"\x1b[35msrc/retry.py\x1b[0m" in seen


def test_nothing_in_a_repository_runs(shop: Sandbox, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    evil = f"touch {marker}"
    for name in ("core.fsmonitor", "diff.external", "core.pager", "gpg.program"):
        shop.git("config", name, evil)
    shop.git("config", "filter.evil.clean", f"sh -c '{evil}; cat'")
    shop.write(".gitattributes", "*.py filter=evil diff=evil\n")
    hook = shop.write(".git/hooks/post-checkout", f"#!/bin/sh\n{evil}\n")
    hook.chmod(0o755)
    shop.write("src/basket.py", "def total_price(basket):\n    return 2\n")

    for words in (
        ("search", "basket"),
        ("search", "basket", "--since", "HEAD"),
        ("status",),
        ("grep", "basket"),
        ("index",),
    ):
        shop.run(*words)

    assert not marker.exists()
