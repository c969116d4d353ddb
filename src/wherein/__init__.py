"""Wherein: finds code by name, by meaning, by structure and by history."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wherein.embed.departure import ModelAccess
    from wherein.errors import WhereinError
    from wherein.search.filters import Filters
    from wherein.settings import Settings
    from wherein.types import Answer, Evidence, Hit, Span
    from wherein.workspace import Workspace

__all__ = [
    "Answer",
    "Evidence",
    "Filters",
    "Hit",
    "ModelAccess",
    "Settings",
    "Span",
    "WhereinError",
    "Workspace",
]

__version__ = "0.1.0"

_HOMES = {
    "Answer": "wherein.types",
    "Evidence": "wherein.types",
    "Filters": "wherein.search.filters",
    "Hit": "wherein.types",
    "ModelAccess": "wherein.embed.departure",
    "Settings": "wherein.settings",
    "Span": "wherein.types",
    "WhereinError": "wherein.errors",
    "Workspace": "wherein.workspace",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for: the command line needs few of them."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
