"""The files that belong to an agent, and what goes into each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from wherein.cli.setup.agents import INSTRUCTION
from wherein.cli.setup.jsonc import find_member
from wherein.errors import WhereinError

__all__ = [
    "NAME",
    "OWN_MARK",
    "TOOL_NAMES",
    "Kind",
    "Surroundings",
    "Target",
    "block",
    "commented",
    "entry",
    "has_object",
    "stdio",
    "whole_file",
]

NAME = "wherein"
"""What the server is called in every agent's file."""

OWN_MARK = "made by `wherein install`"
"""Stands in the files of other forms than Markdown that are ours as a whole."""

TOOL_NAMES = ("search", "similar", "grep", "glob", "read")
"""The tools that the search sub-agent may use."""


class Kind(StrEnum):
    """How a target's text is edited."""

    JSON = "json"
    TOML = "toml"
    YAML = "yaml"
    BLOCK = "block"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where the user's and the project's files are, and how the server is started."""

    home: Path
    project: Path
    config: Path
    """``~/.config`` or what XDG_CONFIG_HOME says."""
    code: Path
    """Folder of VS Code's user settings."""
    command: str
    """Program to start: a full path in the user's files, a bare name in the project's."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    def folder(self, variable: str, default: str) -> Path:
        """Return the folder a client's own variable names, else ``default`` below home."""
        return self.named(variable) or self.home / default

    def named(self, variable: str) -> Path | None:
        """Return the folder a variable names, None without one; relative ones do not count."""
        value = Path(self.environment.get(variable, ""))
        return value if value.is_absolute() else None


@dataclass(frozen=True, slots=True)
class Target:
    """One file and what belongs in it."""

    path: Path
    kind: Kind
    keys: tuple[str, ...] = ()
    """Where the entry stands in the file."""
    value: Mapping[str, object] = field(default_factory=dict[str, object])
    text: str = ""
    """Body of the block, the whole file, or what a new YAML file begins with."""
    is_instruction: bool = False
    former: tuple[Target, ...] = ()
    """Where it stood when the agent's files were others: it is taken out there."""


def stdio(around: Surroundings, **more: object) -> dict[str, object]:
    """Return the fields that nearly all agents call the same."""
    return {"command": around.command, "args": ["mcp"], **more}


def entry(path: Path, keys: Sequence[str], value: Mapping[str, object]) -> Target:
    """Return the server's entry below ``keys`` of a JSON file."""
    return Target(path, Kind.JSON, (*keys, NAME), value)


def block(path: Path) -> Target:
    """Return the instruction between markers in a file of the user's."""
    return Target(path, Kind.BLOCK, text=INSTRUCTION, is_instruction=True)


def whole_file(path: Path, text: str, *, is_instruction: bool = False) -> Target:
    """Return a file that is ours as a whole."""
    return Target(path, Kind.FILE, text=text, is_instruction=is_instruction)


def commented(path: Path) -> Path:
    """Return the file with comments in it (``.jsonc``) where the user has that one."""
    other = path.with_suffix(".jsonc")
    return other if other.exists() else path


def has_object(path: Path, keys: Sequence[str]) -> bool:
    """Return whether a JSON file holds an object there; False for a file that does not parse."""
    try:
        return isinstance(find_member(path.read_text("utf-8-sig"), keys), dict)
    except (OSError, ValueError, WhereinError):
        return False
