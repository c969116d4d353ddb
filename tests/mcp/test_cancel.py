"""A call that nobody waits for any more stops, whatever it waits for itself."""

import threading
from pathlib import Path

import pytest
from tests.mcp.servers import make_state, write_shop

from wherein.external.ripgrep import Ripgrep
from wherein.mcp.answer import answer
from wherein.mcp.state import ServerState
from wherein.store.lock import FileLock
from wherein.tools.context import CancelledError, Progress


def cancelled(state: ServerState, name: str, **arguments: object) -> type[BaseException] | None:
    """Cancel a call once it reports that it waits; return what it ended with."""
    is_cancelled = threading.Event()
    ended: list[type[BaseException]] = []

    def work() -> None:
        try:
            answer(
                state,
                None,
                name,
                arguments,
                on_progress=lambda _step: is_cancelled.set(),
                is_cancelled=is_cancelled.is_set,
            )
        except CancelledError as error:
            ended.append(type(error))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    return ended[0] if ended else None


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("search", {"query": "retry"}), ("similar", {"place": "src/retry.py:1"})],
)
def test_waiting_for_another_process_ends_with_the_call(
    tmp_path: Path, tool: str, arguments: dict[str, object]
) -> None:
    (tmp_path / "shop").mkdir()
    state = make_state(write_shop(tmp_path / "shop"), refresh_seconds=3600.0)
    layout = state.workspace(state.root).layout
    layout.prepare()

    with FileLock(layout.tree_lock):
        assert cancelled(state, tool, **arguments) is CancelledError


def test_waiting_for_another_thread_ends_with_the_call(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    state = make_state(write_shop(tmp_path / "shop"), refresh_seconds=3600.0)
    workspace = state.workspace(state.root)
    is_inside, may_end = threading.Event(), threading.Event()

    def hold(_step: Progress) -> None:
        is_inside.set()
        may_end.wait(60)

    other = threading.Thread(target=workspace.refresh, args=(hold,), daemon=True)
    other.start()
    assert is_inside.wait(60)
    try:
        assert cancelled(state, "search", query="retry") is CancelledError
    finally:
        may_end.set()
        other.join(60)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("grep", {"pattern": "retry", "glob": "*.py"}), ("glob", {"pattern": "**"})],
)
def test_a_slow_listing_ends_with_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, arguments: dict[str, object]
) -> None:
    (tmp_path / "shop").mkdir()
    state = make_state(write_shop(tmp_path / "shop"))
    slow = tmp_path / "rg"
    slow.write_text("#!/bin/sh\nsleep 3600\n")
    slow.chmod(0o755)
    for module in ("wherein.tools.grep", "wherein.tools.glob"):
        monkeypatch.setattr(f"{module}.find_ripgrep", lambda: Ripgrep(str(slow), "a test"))
    thread = threading.Thread(
        target=answer,
        args=(state, None, tool, arguments),
        kwargs={"on_progress": lambda _step: None, "is_cancelled": lambda: True},
        daemon=True,
    )
    thread.start()
    thread.join(60)

    assert not thread.is_alive()
