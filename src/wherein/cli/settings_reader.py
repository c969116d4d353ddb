"""Reads the settings of the folder that a server serves, anew when one of their files changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from wherein.cli.configuration import configure, settings_files
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
        self._last: tuple[Path, _Signature, Settings] | None = None

    def __call__(self, root: Path) -> Settings:
        """Return the settings of ``root`` as its files are now.

        Raises:
            SettingsError: A file does not parse, a name is unknown, or a value is invalid.
        """
        signature = tuple(map(_signature, settings_files(root, self._environment)))
        if self._last is None or self._last[:2] != (root, signature):
            settings = configure(root, self._environment, self._flags).settings
            self._last = (root, signature, settings)
        return self._last[2]


def _signature(path: Path) -> tuple[int, int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
