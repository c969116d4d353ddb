"""Sets agents up and undoes it: shows the difference, writes atomically, restores the bytes."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import cast

from wherein.cli.run import Invocation
from wherein.cli.setup.clients import CLIENTS, Client
from wherein.cli.setup.files import (
    check_writable,
    read_text,
    remove_empty,
    remove_file,
    write_text,
)
from wherein.cli.setup.ledger import Entry, Ledger, ledger_path
from wherein.cli.setup.plan import (
    insertion_between,
    with_target,
    without_insertion,
    without_target,
)
from wherein.cli.setup.targets import Kind, Surroundings, Target
from wherein.errors import UsageError, WhereinError, near_name_hint
from wherein.render.rendered import Rendered, Style

__all__ = ["Change", "InstallResult", "install", "render", "surroundings", "uninstall"]


@dataclass(frozen=True, slots=True)
class Change:
    """One file and what became of it."""

    client: str
    path: str
    action: str
    """``added``, ``changed``, ``removed``, ``unchanged`` or ``failed``."""
    detail: str = ""
    diff: str = ""


@dataclass(frozen=True, slots=True)
class InstallResult:
    """What was written, or with ``--dry-run`` would be."""

    changes: tuple[Change, ...]
    is_dry_run: bool
    notes: tuple[str, ...] = ()

    @property
    def is_failed(self) -> bool:
        """True when a file could not be edited."""
        return any(change.action == "failed" for change in self.changes)


def install(
    invocation: Invocation,
    clients: Sequence[str] = (),
    *,
    scope: str = "user",
    dry_run: bool = False,
    instructions: bool = True,
    all: bool = False,  # noqa: A002 - the option's name
) -> InstallResult:
    """Add the server, a short instruction and a search sub-agent to the agents on this machine.

    Existing files keep their comments, their order and every byte that is not ours; running it
    twice changes nothing; 'wherein uninstall' restores the files.

    Raises:
        UsageError: A client is not known.
    """
    around = surroundings(invocation, scope)
    chosen = CLIENTS if all else _chosen(clients, around)
    ledger = Ledger(ledger_path(invocation.environment, around.home))
    made = ledger.made_folders()
    changes = [
        change
        for client in chosen
        for target in client.targets(around, scope)
        if instructions or not target.is_instruction
        for change in _moved_here(client, target, ledger, dry_run=dry_run)
    ]
    if not dry_run:
        remove_empty(made)
        ledger.keep_folders(made)
        ledger.save()
    notes = () if chosen else ("no agent found here; name one, or use --all",)
    return InstallResult(tuple(changes), dry_run, notes)


def uninstall(
    invocation: Invocation,
    clients: Sequence[str] = (),
    *,
    scope: str = "user",
    dry_run: bool = False,
) -> InstallResult:
    """Take out what install wrote; files that it made are removed, others are as before.

    Raises:
        UsageError: A client is not known.
    """
    around = surroundings(invocation, scope)
    chosen = _named(clients) if clients else CLIENTS
    ledger = Ledger(ledger_path(invocation.environment, around.home))
    found = (
        _uninstall(client, place, ledger, dry_run=dry_run)
        for client in chosen
        for target in client.targets(around, scope)
        for place in (target, *_left_behind(client, target, ledger))
    )
    made = ledger.made_folders()
    changes = tuple(change for change in found if change is not None)
    if not dry_run:
        remove_empty(made)
        ledger.keep_folders(made)
        ledger.save()
    return InstallResult(changes, dry_run)


def render(result: object, style: Style) -> Rendered:
    """Return the text of an `InstallResult`."""
    found = cast("InstallResult", result)
    parts: list[str] = []
    for change in found.changes:
        role = {"failed": "bad", "unchanged": "dim"}.get(change.action, "good")
        line = f"{style.paint(role, change.action)} {change.client}: {change.path}"
        parts.append(line + (f" ({change.detail})" if change.detail else "") + "\n")
        if found.is_dry_run and change.diff:
            parts.append(change.diff + "\n")
    parts.extend(f"{note}\n" for note in found.notes)
    if not parts:
        parts.append("nothing is installed\n")
    return Rendered(tuple(parts))


def surroundings(invocation: Invocation, scope: str) -> Surroundings:
    """Return where the files are, from the environment."""
    environment = invocation.environment
    home = Path(environment.get("HOME") or Path.home())
    config = environment.get("XDG_CONFIG_HOME", "")
    config_folder = Path(config) if config.startswith("/") else home / ".config"
    return Surroundings(
        home=home,
        project=invocation.context.root,
        config=config_folder,
        code=_code_folder(environment, home, config_folder),
        command="wherein" if scope == "project" else _program(),
        environment=environment,
    )


def _code_folder(environment: Mapping[str, str], home: Path, config: Path) -> Path:
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "Code" / "User"
    if environment.get("APPDATA"):
        return Path(environment["APPDATA"]) / "Code" / "User"
    return config / "Code" / "User"


def _program() -> str:
    """Return the full path of this program: clients start with a PATH of their own."""
    beside = Path(sys.executable).with_name("wherein")
    if beside.is_file():
        return str(beside)
    return shutil.which("wherein") or "wherein"


def _chosen(names: Sequence[str], around: Surroundings) -> tuple[Client, ...]:
    if names:
        return _named(names)
    return tuple(client for client in CLIENTS if _is_here(client, around))


def _named(names: Sequence[str]) -> tuple[Client, ...]:
    known = {client.name: client for client in CLIENTS}
    for name in names:
        if name not in known:
            message = f"unknown client {name!r}"
            raise UsageError(message, hint=near_name_hint(name, known, fallback=", ".join(known)))
    return tuple(known[name] for name in dict.fromkeys(names))


def _is_here(client: Client, around: Surroundings) -> bool:
    path = around.environment.get("PATH", "")
    if any(shutil.which(program, path=path) for program in client.programs):
        return True
    return any(_sign(sign, around).exists() for sign in client.signs)


def _sign(sign: str, around: Surroundings) -> Path:
    place, colon, rest = sign.partition(":")
    if not colon:
        return around.home / sign
    return {"config": around.config, "code": around.code}[place] / rest


def _key(target: Target) -> str:
    """Return the file's name in the ledger: the same for all links that lead to it."""
    return os.path.realpath(target.path)


def _moved_here(
    client: Client, target: Target, ledger: Ledger, *, dry_run: bool
) -> Iterator[Change]:
    """Take our part out of where it stood before and put it where the agent looks now."""
    for former in _left_behind(client, target, ledger):
        change = _uninstall(client, former, ledger, dry_run=dry_run)
        if change is not None:
            yield change
    yield _install(client, target, ledger, dry_run=dry_run)


def _left_behind(client: Client, target: Target, ledger: Ledger) -> list[Target]:
    """Return the former places that hold what we wrote for this client."""
    return [former for former in target.former if _holds(client, former, ledger)]


def _holds(client: Client, target: Target, ledger: Ledger) -> bool:
    held = ledger.entries.get(_key(target))
    if held is not None and client.name not in held.clients:
        return False
    if held is None and target.kind == Kind.BLOCK:
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
            ledger.entries[key] = _shared(held, client)
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


def _shared(entry: Entry, client: Client) -> Entry:
    clients = (*entry.clients, client.name)
    return Entry(entry.insertion, clients, entry.was_absent, entry.made_folders)


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
            entry = Entry(held.insertion, others, held.was_absent, held.made_folders)
            ledger.entries[key] = entry
            return None
        after = _undone(before, target, held) if held else without_target(before, target)
    except (WhereinError, OSError, UnicodeDecodeError) as error:
        return _failed(client, target, error)
    if after == before:
        return None
    is_whole = target.kind != Kind.BLOCK and bool(target.text)
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
    detail = f"{error}; {hint}" if hint else str(error)
    return Change(client.name, str(target.path), "failed", detail)


def _diff(name: str, before: str, after: str) -> str:
    lines = unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="")
    return "\n".join(lines)
