"""Every setting, as one frozen value.

Read from defaults, then ``wherein.toml`` or ``[tool.wherein]`` in ``pyproject.toml``, then the
environment, then flags: `cli.configuration` reads those places and hands the values to
`Settings.replace`. Nothing below the faces reads the environment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import cast

from wherein.errors import SettingsError, near_name_hint
from wherein.types import FileKind

__all__ = ["SETTING_HELP", "USER_ONLY", "Settings", "default_home"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The effective values. See `SETTING_HELP` for what each means."""

    home: Path
    ignore: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    max_file_bytes: int = 2_000_000
    chunk_chars: int = 1500
    index_kinds: tuple[str, ...] = ("code", "docs", "config")
    model: str = "bundled"
    reranker: str = ""
    rerank_files: int = 50
    rerank_weight: float = 1.0
    model_timeout_seconds: float = 60.0
    model_requests_per_minute: float = 0.0
    workers: int = 0
    refresh_seconds: float = 10.0
    map_tokens: int = 2000
    focus_boost: float = 20.0
    identifier_boost: float = 10.0
    use_history: bool = True
    use_glossary: bool = True
    use_own_weights: bool = True
    max_tokens: int = 4000
    roots: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.home.is_absolute():
            message = f"home is {str(self.home)!r}, which starts wherever one stands"
            hint = "give WHEREIN_HOME (or the setting home) an absolute path outside repositories"
            raise SettingsError(message, hint=hint)

    def replace(self, **changes: object) -> Settings:
        """Return a copy with ``changes``, each checked.

        Raises:
            SettingsError: A name is unknown or a value has the wrong type or range.
        """
        known = {field.name: field for field in fields(self)}
        checked: dict[str, object] = {}
        for name, value in changes.items():
            if name not in known:
                message = f"unknown setting {name!r}"
                raise SettingsError(message, hint=near_name_hint(name, known))
            checked[name] = _checked(name, value, getattr(self, name))
        for kind in cast("tuple[str, ...]", checked.get("index_kinds", ())):
            if kind not in _KINDS:
                hint = near_name_hint(kind, _KINDS, fallback=SETTING_HELP["index_kinds"])
                raise SettingsError(f"index_kinds cannot hold {kind!r}", hint=hint)
        return replace(self, **checked)  # pyright: ignore[reportArgumentType]


def default_home(environment: Mapping[str, str]) -> Path:
    """Return the folder for indexes: in the user's cache, never in a repository.

    Args:
        environment: The environment, handed in by whoever may read it.
    """
    if environment.get("WHEREIN_HOME"):
        return Path(environment["WHEREIN_HOME"]).expanduser()
    if environment.get("XDG_CACHE_HOME", "").startswith("/"):
        return Path(environment["XDG_CACHE_HOME"]) / "wherein"
    if environment.get("LOCALAPPDATA"):
        return Path(environment["LOCALAPPDATA"]) / "wherein" / "cache"
    if environment.get("HOME"):
        return Path(environment["HOME"]) / ".cache" / "wherein"
    try:
        return Path.home() / ".cache" / "wherein"
    except RuntimeError:  # an account without a home folder
        return Path("/nonexistent/.cache/wherein")


def _checked(name: str, value: object, example: object) -> object:
    """Return ``value`` in the type of ``example``, or raise `SettingsError`."""
    hint = SETTING_HELP[name]
    if isinstance(example, bool):
        if isinstance(value, bool):
            return value
    elif isinstance(example, int | float):
        number = _number(name, value, type(example))
        if number is not None:
            return number
        lowest, highest = _RANGES[name]
        hint = f"{hint}; from {lowest:g} to {highest:g}"
    elif isinstance(example, tuple):
        items = _strings(value)
        if items is not None:
            return items
    elif isinstance(example, Path):
        if isinstance(value, str | Path) and str(value):
            return Path(value).expanduser()
    elif isinstance(value, str):
        return value
    message = f"{name} cannot be {value!r}"
    raise SettingsError(message, hint=hint)


def _number(name: str, value: object, kind: type[int | float]) -> int | float | None:
    """Return ``value`` as a ``kind`` without loss, None where it is out of range or no number."""
    lowest, highest = _RANGES[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    number = kind(value) if lowest <= value <= highest else None
    return number if number == value else None


def _strings(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple):
        return None
    items = cast("Sequence[object]", value)
    texts = tuple(item for item in items if isinstance(item, str))
    return texts if len(texts) == len(items) else None


_DAY_SECONDS = 86_400

_RANGES: Mapping[str, tuple[float, float]] = {
    "max_file_bytes": (1, 1_000_000_000),
    "chunk_chars": (100, 100_000),
    "rerank_files": (0, 60),
    "rerank_weight": (0, 100),
    "model_timeout_seconds": (0.1, _DAY_SECONDS),
    "model_requests_per_minute": (0, 1_000_000),
    "workers": (0, 256),
    "refresh_seconds": (0, _DAY_SECONDS),
    "map_tokens": (0, 1_000_000),
    "focus_boost": (0, 1_000),
    "identifier_boost": (0, 1_000),
    "max_tokens": (100, 1_000_000),
}
"""Lowest and highest value of each number; outside, the setting was surely a slip."""

_KINDS = frozenset(kind.value for kind in FileKind)

SETTING_HELP: Mapping[str, str] = {
    "home": "folder that holds the indexes (environment: WHEREIN_HOME)",
    "ignore": "patterns, in .gitignore's form, of paths that are not searched",
    "deny": "patterns of paths that are never read, indexed or shown, besides the built-in secrets",
    "include": "patterns of ignored paths that are searched all the same",
    "max_file_bytes": "larger files are not parsed; their beginning is indexed by lines",
    "chunk_chars": "size of a chunk, in characters that are not white space",
    "index_kinds": "kinds of files to index: code, docs, config, data",
    "model": "embedding model: bundled, none, a folder, a hub name, or an endpoint's URL",
    "reranker": "reranker of the first files: a folder, a hub name or an endpoint's URL; or none",
    "rerank_files": "files whose best place the reranker reads; at most the 60 that are ranked",
    "rerank_weight": "what the reranker counts beside the ranking; 1 is as much as all the rest",
    "model_timeout_seconds": "how long one request to a model's endpoint may take",
    "model_requests_per_minute": "requests a minute to a model's endpoint at most; 0 is no limit",
    "workers": "processes used for indexing; 0 takes one for each core",
    "refresh_seconds": "after this long a refresh answers with what is covered, and says so",
    "map_tokens": "token budget of the repo map (which is not there yet)",
    "focus_boost": "weight of focus files in the repo map (which is not there yet)",
    "identifier_boost": "weight of mentioned identifiers in the repo map (which is not there yet)",
    "use_history": "whether earlier commits take part in ranking",
    "use_glossary": "whether the glossary in AGENTS.md or CLAUDE.md widens queries",
    "use_own_weights": "whether ranking weights fitted for the repository are used",
    "max_tokens": "token budget of an answer",
    "roots": "further folders, besides the workspace, that tools may read",
}

USER_ONLY = frozenset(
    {
        "home",
        "include",
        "max_file_bytes",
        "model",
        "model_requests_per_minute",
        "model_timeout_seconds",
        "rerank_files",
        "rerank_weight",
        "reranker",
        "roots",
        "workers",
    }
)
"""Settings that a repository's own file may not set: they widen what is read, or name a program,
a place outside the tree, or a service."""
