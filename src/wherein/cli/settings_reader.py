"""Reads the settings of the folders that are asked about, anew when one of their files changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from wherein.configuration import configure, settings_files
from wherein.settings import Settings

__all__ = ["SettingsReader"]

_Signature = tuple[tuple[int, int, int, int] | None, ...]


class SettingsReader:
    """Returns the effective settings of a folder; asking again costs a look at three files.

    Args:
        environment: Environment variables.
        flags: ``NAME=VALUE`` of the command line.
    """

    def __init__(self, environment: Mapping[str, str], flags: Sequence[str] = ()) -> None:
        self._environment = environment
        self._flags = tuple(flags)
        self._known: dict[Path, tuple[_Signature, Settings]] = {}

    def __call__(self, root: Path) -> Settings:
        """Return the settings of ``root`` as its files are now.

        A folder inside a repository that has no file of its own has the repository's.

        Raises:
            SettingsError: A file does not parse, a name is unknown, or a value is invalid.
        """
        signature = tuple(map(_signature, settings_files(root, self._environment)))
        known = self._known.get(root)
        if known is None or known[0] != signature:
            settings = configure(root, self._environment, self._flags).settings
            known = self._known[root] = (signature, settings)
        return known[1]


def _signature(path: Path) -> tuple[int, int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
