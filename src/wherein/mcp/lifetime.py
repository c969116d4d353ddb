"""Ends the server when its client is gone, and leaves nothing running behind."""

from __future__ import annotations

import os
import signal
import threading
import time

from wherein.mcp.state import ServerState

__all__ = ["end_process", "watch_parent"]

_LOOK_EVERY_S = 1.0
"""How soon a vanished client is noticed when standard input stays open (it was inherited)."""

_GRACE_S = 2.0
"""How long running calls may take to notice that the server ends; then the process goes."""

_ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
"""What clients send to a server they are done with; some begin with an interrupt."""


def watch_parent(state: ServerState) -> None:
    """Start a thread that ends the process once its parent is another one."""
    parent = os.getppid()

    def look() -> None:
        while not state.stopping.wait(_LOOK_EVERY_S):
            if os.getppid() != parent:
                end_process(state, 0)

    threading.Thread(target=look, name="wherein-parent", daemon=True).start()
    for number in _ENDING:
        signal.signal(number, lambda _number, _frame: _on_signal(state))


def _on_signal(state: ServerState) -> None:
    threading.Thread(target=end_process, args=(state, 0), daemon=True).start()


def end_process(state: ServerState, code: int) -> None:
    """End the process: children first, then without waiting for threads that read or index.

    The store needs no farewell: every write is published by one rename or one transaction, so
    ending here is as safe as a power cut is.
    """
    state.stopping.set()
    deadline = time.monotonic() + _GRACE_S
    thread = state.indexing.thread
    while thread is not None and thread.is_alive() and time.monotonic() < deadline:
        thread.join(0.05)
    if state.watch is not None:
        state.watch.close()
    _kill_children()
    os._exit(code)


def _kill_children() -> None:
    """Kill what our own children started: each runs in a process group of its own."""
    for child in _children(os.getpid()):
        for kill in (os.killpg, os.kill):
            try:
                kill(child, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue


def _children(parent: int) -> list[int]:
    """Return the ids of our direct children, where the system lists them."""
    found: list[int] = []
    tasks = f"/proc/{parent}/task"
    try:
        for task in os.listdir(tasks):  # noqa: PTH208 - /proc names are plain
            with open(f"{tasks}/{task}/children", encoding="ascii") as listed:  # noqa: PTH123
                found.extend(int(word) for word in listed.read().split())
    except OSError:
        return found
    return found
