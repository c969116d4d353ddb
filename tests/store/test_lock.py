import os
import signal
import subprocess  # noqa: TID251 - the lock is between processes
import sys
from pathlib import Path

import pytest

from wherein.store.lock import FileLock

HOLDER = """
import sys
from pathlib import Path
from wherein.store.lock import FileLock
lock = FileLock(Path(sys.argv[1]))
assert lock.acquire(0)
print("held", flush=True)
sys.stdin.read()
"""


def test_one_holder_at_a_time_in_one_process(tmp_path: Path) -> None:
    one, two = FileLock(tmp_path / "l"), FileLock(tmp_path / "l")
    assert one.acquire(0)
    assert not two.acquire(0)
    assert two.is_taken()
    one.release()
    assert not two.is_taken()
    assert two.acquire(0)
    two.release()


def test_shared_holders_keep_an_exclusive_one_out(tmp_path: Path) -> None:
    shared = [FileLock(tmp_path / "l", is_shared=True) for _ in range(3)]
    assert all(lock.acquire(0) for lock in shared)
    alone = FileLock(tmp_path / "l")
    assert not alone.acquire(0.05)
    for lock in shared:
        lock.release()
    assert alone.acquire(0)
    assert not shared[0].acquire(0)
    alone.release()


def test_a_killed_holder_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "l"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    lock = FileLock(path)
    assert not lock.acquire(0)
    os.kill(holder.pid, signal.SIGKILL)
    holder.communicate()
    assert lock.acquire(0)
    lock.release()


def test_a_lock_on_a_file_that_was_removed_is_not_taken_for_one(tmp_path: Path) -> None:
    path = tmp_path / "l"
    old = FileLock(path)
    assert old.acquire(0)
    path.unlink()
    new = FileLock(path)
    assert new.acquire(0)
    third = FileLock(path)
    assert not third.acquire(0)
    old.release()
    assert not third.acquire(0)
    new.release()


def test_a_lock_in_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FileLock(tmp_path / "none" / "l").acquire(0)
