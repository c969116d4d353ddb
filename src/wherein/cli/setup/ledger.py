"""Remembers what install wrote, so that uninstall can restore every byte."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from wherein.cli.setup.plan import Insertion

__all__ = ["Entry", "Ledger", "ledger_path"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One file that install changed."""

    insertion: Insertion
    clients: tuple[str, ...]
    """Who needs it; the last one that goes takes it along."""
    was_absent: bool
    made_folders: tuple[str, ...]
    """Folders made for it, outermost first."""


def ledger_path(environment: Mapping[str, str], home: Path) -> Path:
    """Return where the ledger is kept: with the user's state, not in the cache."""
    state = environment.get("XDG_STATE_HOME", "")
    base = Path(state) if state.startswith("/") else home / ".local" / "state"
    return base / "wherein" / "installed.json"


class Ledger:
    """File path to entry, read once and written as a whole."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.entries: dict[str, Entry] = _read(path)

    def save(self) -> None:
        """Write the ledger; remove it when nothing is installed."""
        if not self.entries:
            self._path.unlink(missing_ok=True)
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        body = {name: asdict(entry) for name, entry in sorted(self.entries.items())}
        temporary = self._path.with_suffix(".tmp")
        temporary.write_text(json.dumps(body, indent=1, ensure_ascii=True) + "\n", "utf-8")
        temporary.chmod(0o600)
        temporary.replace(self._path)


def _read(path: Path) -> dict[str, Entry]:
    """Return the entries; a ledger that is lost or damaged costs exactness, not the command."""
    try:
        body = cast("dict[str, dict[str, object]]", json.loads(path.read_text("utf-8")))
        return {name: _entry(raw) for name, raw in body.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _entry(raw: dict[str, object]) -> Entry:
    insertion = cast("dict[str, object]", raw["insertion"])
    return Entry(
        Insertion(
            cast("int", insertion["at"]),
            str(insertion["text"]),
            str(insertion["replaced"]),
        ),
        tuple(cast("list[str]", raw["clients"])),
        bool(raw["was_absent"]),
        tuple(cast("list[str]", raw["made_folders"])),
    )
