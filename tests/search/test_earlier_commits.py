import threading
import time
from pathlib import Path

import pytest
from tests.history.repositories import Step, add_commits, make_repository

from wherein.history.open import HISTORY_FILE, History
from wherein.history.source import open_source
from wherein.history.store import HistoryStore
from wherein.search import earlier_commits
from wherein.search.earlier_commits import EarlierCommits
from wherein.settings import Settings
from wherein.store.lock import FileLock
from wherein.tools.context import CancelledError, Progress, ToolContext
from wherein.tools.history import history as history_tool
from wherein.tools.search import search as search_tool
from wherein.workspace import Workspace

N = 10
NOTE = "earlier commits are still being read"


class StopError(Exception):
    """What a caller ends a reading with."""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, str]:
    """Return a repository of ten commits, which are read three at a time, and its last commit."""
    monkeypatch.setattr("wherein.history.store._STEP", 3)
    monkeypatch.setattr("wherein.history.store._BATCH", 7)
    monkeypatch.setattr("wherein.history.store._ALONE", 1)
    monkeypatch.setattr(earlier_commits, "_MANY", 1)
    steps = [Step(f"refund number {n}", {"charge.py": f"x = {n}\n"}) for n in range(N)]
    return tmp_path / "repo", make_repository(tmp_path / "repo", steps)[-1]


def subjects(history: History, tip: str) -> list[str]:
    view = history.view(["charge.py"], tip)
    assert view is not None
    rows = [row for row in range(view.n_rows) if view.reachable[row]]
    rows.sort(key=lambda row: int(view.order[row]))
    return [line.subject for line in view.lines(rows)]


@pytest.mark.parametrize("stop_at", [3, 6, 7])
def test_what_was_read_before_an_interruption_is_kept(
    tmp_path: Path, repository: tuple[Path, str], stop_at: int
) -> None:
    root, tip = repository
    git = open_source(root)
    assert git is not None

    def stop(n_done: int, n_total: int) -> None:
        assert n_total == N
        if n_done >= stop_at:
            raise StopError

    with pytest.raises(StopError):
        HistoryStore(tmp_path / HISTORY_FILE).update(git, tip, stop)
    told: list[tuple[int, int]] = []
    again = HistoryStore(tmp_path / HISTORY_FILE)
    again.update(git, tip, lambda n_done, n_total: told.append((n_done, n_total)))
    assert told[0] == (0, N - stop_at)
    assert told[-1] == (N - stop_at, N - stop_at)
    assert sum(block.n for block in again.blocks()) == N
    assert subjects(History(git, tmp_path), tip) == [f"refund number {n}" for n in range(N)]


def test_one_process_reads_and_the_others_take_what_it_read(
    tmp_path: Path, repository: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, tip = repository
    git = open_source(root)
    assert git is not None
    path = tmp_path / HISTORY_FILE
    held = FileLock(path.with_suffix(".lock"))
    assert held.acquire(0)
    waited: list[tuple[int, int]] = []

    def tell(n_done: int, n_total: int) -> None:
        waited.append((n_done, n_total))
        if len(waited) == 2:  # the other process reads all, and ends
            monkeypatch.setattr("wherein.history.store._ALONE", N + 1)
            HistoryStore(path).update(git, tip)
            held.release()

    store = HistoryStore(path)
    store.update(git, tip, tell)
    assert set(waited) == {(0, N)}
    assert sum(block.n for block in store.blocks()) == N
    assert subjects(History(git, tmp_path), tip) == [f"refund number {n}" for n in range(N)]


def test_a_search_reads_in_turns_until_it_has_all(
    tmp_path: Path, repository: tuple[Path, str]
) -> None:
    root, tip = repository
    earlier = EarlierCommits(root, tmp_path / "family")
    told: list[Progress] = []
    notes = [earlier.until(tip, time.monotonic(), told.append).notes for _ in range(4)]
    assert [bool(note) for note in notes] == [True, True, True, False]
    assert notes[0] == (f"{NOTE} (3 of 10 read): they do not count in this answer yet",)
    assert (told[1].stage, told[1].files_done, told[1].unit) == ("reading", 3, "commits")
    found = earlier.until(tip, time.monotonic())
    assert [source.name for source in found.sources] == ["history"]


def test_a_search_does_not_wait_for_another_that_reads_long(
    tmp_path: Path, repository: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, tip = repository
    monkeypatch.setattr(earlier_commits, "_PATIENCE_S", 0.01)
    earlier = EarlierCommits(root, tmp_path / "family")
    begun, may_go_on = threading.Event(), threading.Event()

    def slow(_step: Progress) -> None:
        begun.set()
        assert may_go_on.wait(60)

    thread = threading.Thread(target=earlier.read, args=(tip, slow))
    thread.start()
    assert begun.wait(60)
    try:
        meanwhile = earlier.until(tip, time.monotonic() + 60)
    finally:
        may_go_on.set()
        thread.join(60)
    assert meanwhile.sources == ()
    assert NOTE in meanwhile.notes[0]
    assert earlier.until(tip, time.monotonic()).sources


def test_while_another_thread_is_about_to_read_a_search_reads_little(
    tmp_path: Path, repository: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, tip = repository
    monkeypatch.setattr(earlier_commits, "_PATIENCE_S", 0.0)
    earlier = EarlierCommits(root, tmp_path / "family")
    told: list[Progress] = []
    with earlier.read_aside():
        assert earlier.until(tip, time.monotonic() + 60).notes
        earlier.read(tip, told.append)
    assert told[0].files_total == N - 3
    assert earlier.until(tip, time.monotonic()).sources


def test_an_answer_without_the_history_says_so_and_the_next_one_has_it(
    tmp_path: Path, repository: tuple[Path, str]
) -> None:
    root, _ = repository
    settings = Settings(home=tmp_path / "home", model="none")
    with Workspace(root, settings) as workspace:
        workspace.refresh()
    with Workspace(root, settings.replace(refresh_seconds=0)) as workspace:
        answers = [workspace.search("refund charge") for _ in range(4)]
    with_note = [any(NOTE in note for note in answer.notes) for answer in answers]
    assert with_note == [True, True, True, False]
    signals = [
        {name for name in answer.hits[0].signals if name.startswith("h_")} for answer in answers
    ]
    assert [bool(names) for names in signals] == [False, False, False, True]
    add_commits(root, [Step("one more", {"charge.py": "y\n"})], start=N)
    with Workspace(root, settings) as workspace:
        assert not any(NOTE in note for note in workspace.search("refund").notes)


def context(root: Path, home: Path, told: list[Progress], *, is_cancelled: bool) -> ToolContext:
    return ToolContext(
        Settings(home=home, model="none"),
        root,
        on_progress=told.append,
        is_cancelled=lambda: is_cancelled and bool(told),
    )


@pytest.mark.parametrize("tool", ["search", "history"])
def test_the_asker_is_told_and_can_end_the_reading(
    tmp_path: Path, repository: tuple[Path, str], tool: str
) -> None:
    root, _ = repository
    ask = {"search": search_tool, "history": history_tool}[tool]
    told: list[Progress] = []
    with pytest.raises(CancelledError):
        ask(context(root, tmp_path / "home", told, is_cancelled=True), "refund")
    ended = len(told)
    ask(context(root, tmp_path / "home", told, is_cancelled=False), "refund")
    commits = [step for step in told if step.unit == "commits"]
    assert ended < len(told)
    assert commits[-1].files_done == commits[-1].files_total
    assert {step.stage for step in commits} == {"reading"}


def test_indexing_beforehand_reads_the_history_too(
    tmp_path: Path, repository: tuple[Path, str]
) -> None:
    root, _ = repository
    settings = Settings(home=tmp_path / "home", model="none")
    with Workspace(root, settings) as workspace:
        workspace.refresh()
        told: list[Progress] = []
        workspace.read_history(told.append)
        assert told[-1].files_done == N
        told.clear()
        workspace.search("refund", progress=told.append)
        assert [step for step in told if step.unit == "commits"] == []


def test_without_history_nothing_is_read(tmp_path: Path, repository: tuple[Path, str]) -> None:
    root, _ = repository
    settings = Settings(home=tmp_path / "home", model="none", use_history=False)
    with Workspace(root, settings) as workspace:
        workspace.refresh()
        workspace.read_history()
        workspace.search("refund")
        assert not (workspace.layout.family / HISTORY_FILE).exists()
