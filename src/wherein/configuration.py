"""Where the effective settings come from: defaults, files, environment, flags, in that order."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import cast

from wherein.errors import SettingsError, near_name_hint
from wherein.settings import SETTING_HELP, USER_ONLY, Settings, default_home
from wherein.settings_patterns import patterns_below

__all__ = [
    "Configuration",
    "configure",
    "default_home",
    "find_root",
    "settings_files",
    "user_config_path",
]

_ENVIRONMENT_PREFIX = "WHEREIN_"
_LIST_SEPARATOR = ","
_ADDING = frozenset({"deny", "ignore"})
"""Lists that a repository's own file adds to: it may not take away what the user denies."""

_MAX_FILE_BYTES = 1_000_000
"""A settings file is a page long; a larger one is not read, so that it cannot fill the memory."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """The effective settings and, by name, where each value came from."""

    settings: Settings
    origins: Mapping[str, str]
    notes: tuple[str, ...] = ()
    """What was left out and why (a repository's file may not set everything)."""


def user_config_path(environment: Mapping[str, str]) -> Path:
    """Return the path of the user's own settings file."""
    if environment.get("XDG_CONFIG_HOME", "").startswith("/"):
        return Path(environment["XDG_CONFIG_HOME"]) / "wherein" / "wherein.toml"
    return _user_folder(environment) / ".config" / "wherein" / "wherein.toml"


def _user_folder(environment: Mapping[str, str]) -> Path:
    if environment.get("HOME"):
        return Path(environment["HOME"])
    try:
        return Path.home()
    except RuntimeError:
        return Path("/nonexistent")


def find_root(folder: Path) -> Path:
    """Return the real path of the nearest folder above that holds ``.git``, else ``folder``."""
    real = folder.resolve()
    for candidate in (real, *real.parents):
        if (candidate / ".git").exists():
            return candidate
    return real


def _settings_folder(root: Path) -> Path:
    """Return the folder whose file counts in ``root``: itself, or the repository around it."""
    return root if (root / "wherein.toml").is_file() else find_root(root)


def settings_files(root: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the files that the settings of ``root`` may stand in, whether they exist or not."""
    folder = _settings_folder(root)
    return user_config_path(environment), folder / "wherein.toml", folder / "pyproject.toml"


def configure(
    root: Path,
    environment: Mapping[str, str],
    flags: Sequence[str] = (),
) -> Configuration:
    """Return the effective settings for the workspace at ``root``.

    Args:
        root: Folder whose ``wherein.toml`` or ``pyproject.toml`` counts; where it has none, that of
            the repository around it, whose patterns then act as they do from there.
        environment: Environment variables.
        flags: ``NAME=VALUE`` of the command line.

    Raises:
        SettingsError: A file does not parse, a name is unknown, or a value is invalid; the message
            names the place.
    """
    builder = _Builder(Settings(home=default_home(environment)))
    user_file = user_config_path(environment)
    builder.take_file(user_file, _read_table(user_file), is_users=True)
    folder = _settings_folder(root)
    below = root.resolve().relative_to(folder.resolve()).parts
    for path, table in _repository_tables(folder):
        builder.take_file(path, _acting_below(table, below), is_users=False)
    builder.take_environment(environment)
    builder.take_flags(flags)
    return builder.finish()


def _acting_below(table: Mapping[str, object], folder: Sequence[str]) -> Mapping[str, object]:
    """Return the table with its patterns as they act in a folder inside the repository."""
    changed = dict(table)
    for name in _ADDING & table.keys():
        listed = table[name]
        if folder and isinstance(listed, list):
            patterns = cast("list[object]", listed)
            if all(isinstance(pattern, str) for pattern in patterns):
                changed[name] = list(patterns_below(cast("list[str]", patterns), folder))
    return changed


def _repository_tables(root: Path) -> list[tuple[Path, Mapping[str, object]]]:
    """Return the repository's own settings: ``wherein.toml`` wins over ``pyproject.toml``."""
    own = root / "wherein.toml"
    if own.is_file():
        return [(own, _read_table(own))]
    project = root / "pyproject.toml"
    tool = _read_table(project, is_ours=False).get("tool")
    table = cast("Mapping[str, object]", tool).get("wherein") if isinstance(tool, dict) else None
    if isinstance(table, dict):
        return [(project, cast("Mapping[str, object]", table))]
    return []


def _read_table(path: Path, *, is_ours: bool = True) -> Mapping[str, object]:
    """Return the TOML of ``path``; nothing when there is no such regular file.

    A ``pyproject.toml`` that does not parse is somebody else's fault and has no say; our own is
    an error.
    """
    try:
        if not path.is_file() or path.stat().st_size > _MAX_FILE_BYTES:
            return {}
        return tomllib.loads(path.read_text("utf-8-sig"))
    except OSError:
        return {}
    except (ValueError, RecursionError) as error:  # too deep, too many digits
        if not is_ours:
            return {}
        message = f"{str(path)!r} does not parse: {error}"
        raise SettingsError(message, hint="mend the file or move it away") from error


class _Builder:
    """Takes values from one place after the other; a later one wins."""

    def __init__(self, defaults: Settings) -> None:
        self._settings = defaults
        self._origins: dict[str, str] = {field.name: "default" for field in fields(defaults)}
        self._notes: list[str] = []

    def take_file(self, path: Path, table: Mapping[str, object], *, is_users: bool) -> None:
        for key, value in table.items():
            name = key.replace("-", "_")
            if not is_users and name in USER_ONLY:
                self._notes.append(
                    f"{path.name} may not set {name!r}: only the user's own settings can"
                )
                continue
            if not is_users and name in _ADDING and isinstance(value, list):
                held = cast("tuple[str, ...]", getattr(self._settings, name))
                self._take(name, [*held, *cast("list[object]", value)], str(path))
                continue
            self._take(name, value, str(path))

    def take_environment(self, environment: Mapping[str, str]) -> None:
        for variable in sorted(environment):
            name = variable.removeprefix(_ENVIRONMENT_PREFIX).lower()
            if name == "home" and not environment[variable]:
                continue  # as if it were not set, which is how clients' tables say so
            if variable.startswith(_ENVIRONMENT_PREFIX) and name in SETTING_HELP:
                self._take_text(name, environment[variable], variable)

    def take_flags(self, flags: Sequence[str]) -> None:
        for flag in flags:
            name, equals, value = flag.partition("=")
            if not equals:
                message = f"--set {flag!r} has no value"
                raise SettingsError(message, hint="write --set NAME=VALUE")
            self._take_text(name.strip().replace("-", "_"), value, f"--set {name}")

    def _take_text(self, name: str, text: str, origin: str) -> None:
        self._take(name, _parse(text, getattr(self._settings, name, None)), origin)

    def _take(self, name: str, value: object, origin: str) -> None:
        if name not in SETTING_HELP:
            message = f"unknown setting {name!r} in {origin}"
            hint = near_name_hint(name, SETTING_HELP, fallback="see: wherein config")
            raise SettingsError(message, hint=hint)
        try:
            self._settings = self._settings.replace(**{name: value})
        except SettingsError as error:
            message = f"{error.message} (from {origin})"
            raise SettingsError(message, hint=error.hint) from error
        self._origins[name] = origin

    def finish(self) -> Configuration:
        return Configuration(self._settings, self._origins, tuple(self._notes))


def _parse(text: str, example: object) -> object:
    """Return ``text`` in the type of ``example`` where it can be read so, else as it is."""
    if isinstance(example, bool):
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    if isinstance(example, tuple):
        return _parse_list(text)
    if isinstance(example, int | float):
        try:
            return int(text) if isinstance(example, int) else float(text)
        except ValueError:
            return text
    return text


def _parse_list(text: str) -> tuple[object, ...]:
    """Return the items of ``a, b`` or of a list as ``wherein config`` prints it: ``["a", "b"]``."""
    if text.startswith("["):
        try:
            return tuple(cast("list[object]", tomllib.loads(f"list = {text}")["list"]))
        except (ValueError, RecursionError):
            pass  # a glob: [a-z]*.py
    return tuple(item.strip() for item in text.split(_LIST_SEPARATOR) if item.strip())
