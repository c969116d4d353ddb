"""Sets agents up and undoes it: which agents, where their files are, and what is shown."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from wherein.cli.run import Invocation
from wherein.cli.setup.changes import Change, put, take_out
from wherein.cli.setup.clients import CLIENTS, Client
from wherein.cli.setup.files import remove_empty
from wherein.cli.setup.ledger import Ledger, ledger_path
from wherein.cli.setup.targets import Surroundings
from wherein.errors import UsageError, near_name_hint
from wherein.render.rendered import Rendered, Style

__all__ = ["InstallResult", "install", "render", "surroundings", "uninstall"]


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
    changes = (
        change
        for client in chosen
        for target in client.targets(around, scope)
        if instructions or not target.is_instruction
        for change in put(client, target, ledger, dry_run=dry_run)
    )
    done = _done(changes, ledger, dry_run=dry_run)
    notes = () if chosen else ("no agent found here; name one, or use --all",)
    return InstallResult(done, dry_run, notes)


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
    changes = (
        change
        for client in chosen
        for target in client.targets(around, scope)
        for change in take_out(client, target, ledger, dry_run=dry_run)
    )
    return InstallResult(_done(changes, ledger, dry_run=dry_run), dry_run)


def _done(changes: Iterable[Change], ledger: Ledger, *, dry_run: bool) -> tuple[Change, ...]:
    """Make the changes one after another, and have the ledger say what there is now."""
    made = ledger.made_folders()
    done = tuple(changes)
    if not dry_run:
        remove_empty(made)
        ledger.keep_folders(made)
        ledger.save()
    return done


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
