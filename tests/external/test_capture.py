"""Output is read at the end, from files in memory or through pipes, within the same limits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from wherein.errors import MissingProgramError
from wherein.external import capture as module
from wherein.external.capture import Limits, capture


@pytest.fixture(params=[True, False], ids=["memory", "pipes"], autouse=True)
def _both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param and not hasattr(os, "memfd_create"):
        pytest.skip("no files in memory here")
    monkeypatch.setattr(module, "_has_memory_files", lambda: request.param)


def test_output_complaints_and_exit_code_come_back(tmp_path: Path) -> None:
    script = ["sh", "-c", "echo out; echo err >&2; exit 3"]
    done = capture(script, cwd=tmp_path, limits=Limits(30))
    assert (done.returncode, done.stdout, done.stderr) == (3, b"out\n", b"err\n")
    assert (done.is_truncated, done.is_timed_out, done.is_report_full) == (False, False, False)


def test_a_limit_on_output_stops_the_program(tmp_path: Path) -> None:
    done = capture(["yes"], cwd=tmp_path, limits=Limits(30, output_bytes=1000))
    assert (len(done.stdout), done.is_truncated) == (1000, True)
    quick = capture(["head", "-c5000", "/dev/zero"], cwd=tmp_path, limits=Limits(30, 1000))
    assert (len(quick.stdout), quick.is_truncated) == (1000, True)
    exact = capture(["head", "-c1000", "/dev/zero"], cwd=tmp_path, limits=Limits(30, 1000))
    assert (len(exact.stdout), exact.is_truncated) == (1000, False)


def test_more_complaints_than_wanted_are_dropped_or_stop_the_program(tmp_path: Path) -> None:
    script = ["sh", "-c", "head -c5000 /dev/zero >&2"]
    kept = capture(script, cwd=tmp_path, limits=Limits(30, stderr_bytes=1000))
    assert (kept.returncode, len(kept.stderr), kept.is_report_full) == (0, 1000, False)
    stopping = Limits(30, stderr_bytes=1000, stops_at_stderr=True)
    ended = capture(script, cwd=tmp_path, limits=stopping)
    assert (len(ended.stderr), ended.is_report_full) == (1000, True)
    limits = Limits(2, stderr_bytes=1000, stops_at_stderr=True)
    endless = capture(["sh", "-c", "yes >&2"], cwd=tmp_path, limits=limits)
    assert (len(endless.stderr), endless.is_report_full) == (1000, True)


def test_what_was_written_before_the_time_limit_or_a_cancelling_is_kept(tmp_path: Path) -> None:
    script = ["sh", "-c", "echo out; exec sleep 1000"]
    late = capture(script, cwd=tmp_path, limits=Limits(0.5))
    assert (late.stdout, late.is_timed_out) == (b"out\n", True)
    asked: list[bool] = []

    def is_cancelled() -> bool:
        asked.append(True)
        return len(asked) > 5

    done = capture(script, cwd=tmp_path, limits=Limits(60, is_cancelled=is_cancelled))
    assert (done.stdout, done.is_timed_out) == (b"out\n", True)


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingProgramError, match="no-such-program is not installed"):
        capture(["no-such-program"], cwd=tmp_path, limits=Limits(5))
