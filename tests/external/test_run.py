"""Programs are started with limits, and nothing of them is left behind."""

from __future__ import annotations

import os
import subprocess  # noqa: TID251 - the one that is killed is no child of `run`
import sys
import time
from pathlib import Path

import pytest

from wherein.errors import MissingProgramError, PathError, ProgramTimeoutError
from wherein.external.run import run
from wherein.external.start import clean_environment
from wherein.external.stream import stream


def test_output_complaints_and_exit_code_come_back(tmp_path: Path) -> None:
    done = run(["sh", "-c", "echo out; echo err >&2; exit 3"], cwd=tmp_path, timeout_s=30)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"out\n", b"err\n")


def test_large_input_and_output_do_not_block_each_other(tmp_path: Path) -> None:
    data = os.urandom(3_000_000)
    done = run(["cat"], cwd=tmp_path, timeout_s=60, stdin=data)
    assert done.stdout == data


def test_input_nobody_reads_is_no_failure(tmp_path: Path) -> None:
    done = run(["true"], cwd=tmp_path, timeout_s=30, stdin=b"x" * 1_000_000)
    assert done.returncode == 0


def test_without_input_a_reader_sees_its_end_at_once(tmp_path: Path) -> None:
    assert run(["cat"], cwd=tmp_path, timeout_s=30).stdout == b""


def test_a_limit_on_output_stops_the_program(tmp_path: Path) -> None:
    done = run(["yes"], cwd=tmp_path, timeout_s=30, max_output_bytes=1000)
    assert (len(done.stdout), done.is_truncated) == (1000, True)


def test_time_limit_kills_the_whole_group(tmp_path: Path) -> None:
    script = f"(sleep 1000; touch {tmp_path}/late) & echo $! > {tmp_path}/pid; wait"
    with pytest.raises(ProgramTimeoutError, match="sh did not answer within"):
        run(["sh", "-c", script], cwd=tmp_path, timeout_s=0.5)
    child = int((tmp_path / "pid").read_text())
    assert any(_is_gone(child) for _ in range(100_000))


def test_a_missing_program_and_a_missing_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(MissingProgramError, match="no-such-program is not installed") as missing:
        run(["no-such-program"], cwd=tmp_path, timeout_s=5)
    assert "PATH" in missing.value.hint
    with pytest.raises(PathError):
        run(["true"], cwd=tmp_path / "gone", timeout_s=5)


def test_the_environment_is_in_the_c_locale_without_what_redirects_git(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("GIT_DIR", "GIT_CONFIG_GLOBAL", "LC_MESSAGES", "RIPGREP_CONFIG_PATH"):
        monkeypatch.setenv(name, "x")
    made = clean_environment({"EXTRA": "1"})
    assert made["LC_ALL"] == "C"
    assert made["EXTRA"] == "1"
    assert made["GIT_CONFIG_GLOBAL"] == "x"
    assert not {"GIT_DIR", "LC_MESSAGES", "RIPGREP_CONFIG_PATH"} & set(made)


def test_records_are_read_while_the_program_runs_and_leaving_kills_it(tmp_path: Path) -> None:
    script = "printf 'one\\0two\\0'; exec sleep 1000"
    with stream(["sh", "-c", script], cwd=tmp_path, timeout_s=60) as running:
        records = running.records()
        assert [next(records), next(records)] == [b"one", b"two"]


def test_a_record_over_many_blocks_and_one_without_its_end_are_whole(tmp_path: Path) -> None:
    script = "import sys; sys.stdout.write('a' * 300_000 + '\\0' + 'b')"
    with stream([sys.executable, "-c", script], cwd=tmp_path, timeout_s=60) as running:
        assert list(running.records()) == [b"a" * 300_000, b"b"]
        assert running.wait() == 0


def test_a_stream_has_a_time_limit_too(tmp_path: Path) -> None:
    with (
        pytest.raises(ProgramTimeoutError),
        stream(["sleep", "1000"], cwd=tmp_path, timeout_s=0.2) as running,
    ):
        list(running)


def _is_gone(process_id: int) -> bool:
    """Return whether a process has ended; being killed takes effect a moment later."""
    try:
        return Path(f"/proc/{process_id}/stat").read_text().split()[2] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the CPU of another process")
def test_a_program_that_never_ends_does_not_outlive_us_for_long(tmp_path: Path) -> None:
    script = (
        "from wherein.external.run import run\n"
        "from pathlib import Path\n"
        "run(['sh', '-c', 'echo $$ > pid; while :; do :; done'], cwd=Path('.'), timeout_s=2)\n"
    )
    ours = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path)
    written = tmp_path / "pid"
    while not written.exists() or not written.read_text().strip():
        time.sleep(0.01)
    ours.kill()
    ours.wait()
    pid = int(written.read_text())
    deadline = time.monotonic() + 120
    while not _is_gone(pid):
        assert time.monotonic() < deadline, "the program still runs"
        time.sleep(0.05)
