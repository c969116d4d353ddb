"""Prints every effective setting and where its value came from."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import cast

from wherein.cli.run import Invocation
from wherein.render.json_lines import dump, to_json
from wherein.render.rendered import Rendered, Style
from wherein.settings import SETTING_HELP, USER_ONLY

__all__ = ["ConfigResult", "EffectiveSetting", "config", "render"]


@dataclass(frozen=True, slots=True)
class EffectiveSetting:
    """One setting as it counts here."""

    name: str
    value: object
    origin: str
    """``default``, a file, an environment variable, or ``--set``."""
    help: str
    is_user_only: bool
    """True when a repository's own file may not set it."""


@dataclass(frozen=True, slots=True)
class ConfigResult:
    """All settings in their order."""

    settings: tuple[EffectiveSetting, ...]
    notes: tuple[str, ...] = ()


def config(invocation: Invocation) -> ConfigResult:
    """Show what counts here and why.

    Places, later ones win: defaults, the user's ~/.config/wherein/wherein.toml, the repository's
    wherein.toml (or [tool.wherein] in pyproject.toml), environment variables WHEREIN_<NAME>, and
    --set NAME=VALUE. A repository's own file cannot set what would widen what is read.
    """
    configuration = invocation.configuration
    return ConfigResult(
        tuple(
            EffectiveSetting(
                name=field.name,
                value=getattr(configuration.settings, field.name),
                origin=configuration.origins[field.name],
                help=SETTING_HELP[field.name],
                is_user_only=field.name in USER_ONLY,
            )
            for field in fields(configuration.settings)
        ),
        configuration.notes,
    )


def render(result: object, style: Style) -> Rendered:
    """Return the text of a `ConfigResult`: one setting a line, in the form of wherein.toml."""
    found = cast("ConfigResult", result)
    return Rendered(
        tuple(
            f"{style.paint('symbol', item.name)} = {_toml(item.value)}"
            f"  {style.paint('dim', f'# {item.origin}')}\n"
            for item in found.settings
        )
    )


def _toml(value: object) -> str:
    return dump(to_json(value))
