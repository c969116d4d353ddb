"""Puts our part into an agent's files, or takes it out, and remembers it in the ledger."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import unified_diff

from wherein.cli.setup.clients import Client
from wherein.cli.setup.files import check_writable, read_text, remove_file, write_text
from wherein.cli.setup.ledger import Entry, Ledger
from wherein.cli.setup.plan import (
    insertion_between,
    with_target,
    without_insertion,
    without_target,
)
from wherein.cli.setup.targets import Kind, Target
from wherein.errors import WhereinError

__all__ = ["Change", "put", "take_out"]


@dataclass(frozen=True, slots=True)
class Change:
    """One file and what became of it."""

    client: str
    path: str
    action: str
    """``added``, ``changed``, ``removed``, ``unchanged`` or ``failed``."""
    detail: str = ""
    diff: str = ""


def put(client: Client, target: Target, ledger: Ledger, *, dry_run: bool) -> Iterator[Change]:
    """Yield what became of a target: our part is put where the agent looks now, and only there."""
    for former in _left_behind(client, target, ledger):
        change = _uninstall(client, former, ledger, dry_run=dry_run)
        if change is not None:
            yield change
    yield _install(client, target, ledger, dry_run=dry_run)


def take_out(client: Client, target: Target, ledger: Ledger, *, dry_run: bool) -> Iterator[Change]:
    """Yield what became of a target and its former places when our part goes."""
    for place in (target, *_left_behind(client, target, ledger)):
        change = _uninstall(client, place, ledger, dry_run=dry_run)
        if change is not None:
            yield change


def _left_behind(client: Client, target: Target, ledger: Ledger) -> list[Target]:
    """Return the former places that hold what we wrote for this client."""
    return [
        former
        for former in target.former
        if (_key(former), former.keys) != (_key(target), target.keys)
        and _holds(client, former, ledger)
    ]


def _holds(client: Client, target: Target, ledger: Ledger) -> bool:
    held = ledger.entries.get(_key(target))
    if held is not None and client.name not in held.clients:
        return False
    if held is None and target.kind is Kind.BLOCK:
        return False  # another client's, or a colleague's
    try:
        text = read_text(target.path) or ""
        return without_target(text, target) != text
    except (WhereinError, OSError, UnicodeDecodeError):
        return False


def _install(client: Client, target: Target, ledger: Ledger, *, dry_run: bool) -> Change:
    try:
        before = read_text(target.path)
        after = with_target(before or "", target)
    except (WhereinError, OSError, UnicodeDecodeError) as error:
        return _failed(client, target, error)
    key, shown = _key(target), str(target.path)
    held = ledger.entries.get(key)
    if after == before:
        if held is not None and client.name not in held.clients:
            ledger.entries[key] = replace(held, clients=(*held.clients, client.name))
        return Change(client.name, shown, "unchanged")
    action = "added" if before is None else "changed"
    change = Change(client.name, shown, action, diff=_diff(shown, before or "", after))
    try:
        check_writable(target.path)
        if dry_run:
            return change
        original = _undone(before or "", target, held)
        made = write_text(target.path, after)
    except (WhereinError, OSError) as error:
        return _failed(client, target, error)
    ledger.entries[key] = Entry(
        insertion_between(original, after),
        tuple(dict.fromkeys((*(held.clients if held else ()), client.name))),
        held.was_absent if held else before is None,
        held.made_folders if held else made,
    )
    return change


def _undone(text: str, target: Target, held: Entry | None) -> str:
    """Return the text without an earlier version of our part."""
    if held is not None:
        exact = without_insertion(text, held.insertion)
        if exact is not None:
            return exact
        return without_target(text, target)
    return text


def _uninstall(client: Client, target: Target, ledger: Ledger, *, dry_run: bool) -> Change | None:
    key, shown = _key(target), str(target.path)
    held = ledger.entries.get(key)
    try:
        before = read_text(target.path)
        if before is None:
            ledger.entries.pop(key, None)
            return None
        if held is not None and set(held.clients) - {client.name}:
            others = tuple(name for name in held.clients if name != client.name)
            ledger.entries[key] = replace(held, clients=others)
            return None
        after = _undone(before, target, held) if held else without_target(before, target)
    except (WhereinError, OSError, UnicodeDecodeError) as error:
        return _failed(client, target, error)
    if after == before:
        return None
    is_whole = target.kind is not Kind.BLOCK and bool(target.text)
    is_gone = not after.strip() and (held.was_absent if held else is_whole)
    action = "removed" if is_gone else "changed"
    change = Change(client.name, shown, action, diff=_diff(shown, before, after))
    try:
        check_writable(target.path)
        if dry_run:
            return change
        if is_gone:
            remove_file(target.path)
        else:
            write_text(target.path, after)
    except (WhereinError, OSError) as error:
        return _failed(client, target, error)
    ledger.entries.pop(key, None)
    return change


def _failed(client: Client, target: Target, error: Exception) -> Change:
    hint = getattr(error, "hint", "")
    detail = f"{_reason(error)}; {hint}" if hint else _reason(error)
    return Change(client.name, str(target.path), "failed", detail)


def _reason(error: Exception) -> str:
    """Return what is wrong; the file is named beside it, a temporary one is nobody's business."""
    if isinstance(error, UnicodeDecodeError):
        return "the file is no UTF-8 text; save it as UTF-8 first"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error)


def _key(target: Target) -> str:
    """Return the file's name in the ledger: the same for all links that lead to it."""
    return os.path.realpath(target.path)


def _diff(name: str, before: str, after: str) -> str:
    lines = unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="")
    return "\n".join(lines)
