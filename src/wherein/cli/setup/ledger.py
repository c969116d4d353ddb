"""Remembers what install wrote, so that uninstall can restore every byte."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import cast

from wherein.cli.setup.files import remove_empty
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

    def made_folders(self) -> tuple[str, ...]:
        """Return every folder that was made, outermost first."""
        made = {name for entry in self.entries.values() for name in entry.made_folders}
        return tuple(sorted(made, key=lambda name: (len(name), name)))

    def keep_folders(self, made: Iterable[str]) -> None:
        """Give folders that entries made which are gone to the entries still below them."""
        still_named = self.made_folders()
        left = [name for name in made if name not in still_named and Path(name).is_dir()]
        for path, entry in self.entries.items():
            above = [name for name in left if Path(path).is_relative_to(name)]
            if above:
                folders = (*above, *entry.made_folders)
                self.entries[path] = replace(entry, made_folders=folders)

    def save(self) -> None:
        """Write the ledger; remove it when nothing is installed."""
        if not self.entries:
            self._path.unlink(missing_ok=True)
            remove_empty([str(self._path.parent)])
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
