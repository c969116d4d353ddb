import os
from pathlib import Path
from threading import Event, Thread

import pytest

from wherein.errors import ExternalError
from wherein.external import workers
from wherein.external.workers import Worker
from wherein.indexing import pool as pool_module
from wherein.indexing.jobs import FAILED, GONE, Job, Outcome
from wherein.indexing.pool import Pool
from wherein.settings import Settings
from wherein.store.record_format import decode_record
from wherein.walk.blob import blob_id

ROOT = Path(__file__).parents[2]
CAN_FORK = workers.can_fork


@pytest.fixture(autouse=True, params=[True, False], ids=["forks", "interpreters"])
def _workers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param and not workers.can_fork():
        pytest.skip("this process has threads, or the system does not say")
    monkeypatch.setattr(workers, "can_fork", lambda: request.param)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def run(root: Path, texts: dict[str, str], module: str, size: int = 2) -> dict[str, Outcome]:
    for name, text in texts.items():
        (root / name).write_text(text)
    names = [*texts, "absent.py"]
    jobs = [Job(number, name.encode(), "python") for number, name in enumerate(names)]
    with Pool(root, Settings(home=root / "home"), size, module) as pool:
        return {names[outcome.number]: outcome for outcome in pool.run(jobs)}


def test_every_file_comes_back_as_a_record(tmp_path: Path) -> None:
    texts = {f"f{number}.py": f"def fn_{number}():\n    pass\n" for number in range(30)}
    found = run(tmp_path, texts, "wherein.indexing.worker")
    assert found.pop("absent.py").reason == GONE
    for name, outcome in found.items():
        record = decode_record(outcome.core)
        assert outcome.reason == ""
        assert outcome.blob_id == record.blob_id == blob_id(texts[name].encode())
        assert [item.name for item in record.definitions] == [f"fn_{name[1:-3]}"]
        assert outcome.file_stat.size == len(texts[name])


@pytest.mark.parametrize("size", [1, 3])
def test_a_crash_or_endless_loop_costs_one_file(tmp_path: Path, size: int) -> None:
    texts = {f"f{number}.py": f"x = {number}\n" for number in range(20)}
    texts |= {
        "crash.py": "# crash here",
        "another.py": "# crash here too",
        "loop.py": "# never end",
        "raises.py": "# raise here",
        "memory.py": "# out of memory",
    }
    found = run(tmp_path, texts, "tests.indexing.fragile_worker", size)
    died = {name for name, outcome in found.items() if outcome.reason == FAILED}
    assert died == {"crash.py", "another.py", "loop.py"}
    skipped = {
        name for name, item in found.items() if item.core and decode_record(item.core).skip_reason
    }
    assert skipped == {"raises.py", "memory.py"}
    assert len(found) == 26


@pytest.mark.parametrize("size", [1, 2])
def test_workers_give_way_to_new_ones_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    hired: list[str] = []

    class Counted(Worker):
        def __init__(self, module: str) -> None:
            hired.append(module)
            super().__init__(module)

    monkeypatch.setattr(pool_module, "Worker", Counted)
    monkeypatch.setattr(pool_module, "_RETIREMENT_BYTES", 100)
    texts = {f"f{number}.py": f"def fn_{number}():\n    pass\n" for number in range(60)}
    found = run(tmp_path, texts, "wherein.indexing.worker", size)
    assert found.pop("absent.py").reason == GONE
    assert {name: outcome.blob_id for name, outcome in found.items()} == {
        name: blob_id(text.encode()) for name, text in texts.items()
    }
    assert len(hired) > size


def test_workers_that_cannot_start_are_an_error_not_a_tree_of_failed_files(tmp_path: Path) -> None:
    with pytest.raises(ExternalError):
        run(tmp_path, {"a.py": "x = 1\n"}, "tests.indexing.broken_worker")


def test_a_worker_holds_nothing_open_that_is_its_parents(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    reading, writing = os.pipe()
    with Pool(tmp_path, Settings(home=tmp_path / "home"), 1) as pool:
        outcomes = pool.run([Job(0, b"a.py", "python")])
        assert next(outcomes).blob_id == blob_id(b"x = 1\n")
        os.close(writing)  # the worker still lives: the pipe ends only if it has no copy
        os.set_blocking(reading, False)
        assert os.read(reading, 1) == b""
    os.close(reading)


def test_threads_are_never_forked() -> None:
    done = Event()
    other = Thread(target=done.wait)
    other.start()
    try:
        assert not CAN_FORK()
    finally:
        done.set()
        other.join()
