import threading
from pathlib import Path

import anyio
import pytest
from mcp.client import Client
from mcp_types import CallToolResult
from tests.history.repositories import Step, make_repository
from tests.mcp.servers import make_state

from wherein.history import store
from wherein.mcp.server import build_server
from wherein.search import earlier_commits

NOTE = "earlier commits are still being read"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository whose commits are read three at a time, which counts as many."""
    monkeypatch.setattr(store, "_STEP", 3)
    monkeypatch.setattr(earlier_commits, "_MANY", 1)
    monkeypatch.setattr(earlier_commits, "_PATIENCE_S", 0.01)
    monkeypatch.setattr("wherein.mcp.server._PROGRESS_EVERY_S", 0.0)
    steps = [Step(f"refund number {n}", {"charge.py": f"x = {n}\n"}) for n in range(10)]
    make_repository(tmp_path / "repo", steps)
    return tmp_path / "repo"


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert content.type == "text"
    return content.text


def test_the_server_answers_without_the_history_while_it_is_read_and_says_so(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = make_state(root, model="none")
    may_go_on = threading.Event()
    read = store.read_commits

    def slow(*arguments: object) -> object:
        if threading.current_thread().name == "wherein-indexing":
            assert may_go_on.wait(60)
        return read(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "read_commits", slow)

    async def talk() -> tuple[str, str]:
        async with Client(build_server(state), raise_exceptions=True) as client:
            meanwhile = await client.call_tool("search", {"query": "refund charge"})
            may_go_on.set()
            thread = state.indexing.thread
            assert thread is not None
            await anyio.to_thread.run_sync(thread.join, 60)
            after = await client.call_tool("search", {"query": "refund charge"})
            return text_of(meanwhile), text_of(after)

    try:
        meanwhile, after = anyio.run(talk)
    finally:
        may_go_on.set()
    assert "charge.py" in meanwhile
    assert NOTE in meanwhile
    assert "charge.py" in after
    assert NOTE not in after
    assert state.indexing.error == ""


def test_a_client_that_asks_for_history_is_told_how_far_the_reading_is(root: Path) -> None:
    state = make_state(root, model="none")
    state.indexing.thread = threading.Thread()  # nothing is read in the background
    told: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        await anyio.lowlevel.checkpoint()
        told.append((progress, total, message))

    async def talk() -> CallToolResult:
        async with Client(build_server(state), raise_exceptions=True) as client:
            return await client.call_tool("history", {"query": "refund"}, progress_callback=note)

    assert "refund number 9" in text_of(anyio.run(talk))
    assert (3, 10, "reading commits") in told
