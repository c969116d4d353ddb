"""Finds the folder to serve when a client starts the server somewhere else.

Editors start servers in the user's home or in their own folder. The home is no workspace: indexing
it would read everything the user has. Of a folder outside any repository nobody knows. What the
client says then decides, and nothing is indexed before it has.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext

__all__ = ["ask_client", "in_repository", "is_workspace", "named_by_environment"]

_VARIABLES = ("CLAUDE_PROJECT_DIR", "WORKSPACE_FOLDER_PATHS", "VSCODE_CWD")
"""Where clients name the workspace; the second may hold several folders."""

_WAIT_S = 10.0
"""Seconds for the client to say its roots: some declare them and never answer."""


def is_workspace(folder: Path, environment: Mapping[str, str]) -> bool:
    """Return False for the root of the file system, the user's home, and folders above it."""
    if (folder / ".git").exists():
        return True
    home = Path(environment.get("HOME") or os.devnull)
    return not home.resolve().is_relative_to(folder)


def in_repository(folder: Path) -> bool:
    """Return whether the folder is, or lies in, a repository: somebody's work, surely."""
    return any((place / ".git").exists() for place in (folder, *folder.parents))


def named_by_environment(environment: Mapping[str, str]) -> Path | None:
    """Return the workspace that the client names in the environment, if it is one."""
    for variable in _VARIABLES:
        for name in environment.get(variable, "").replace(",", os.pathsep).split(os.pathsep):
            folder = _folder(name)
            if folder is not None and is_workspace(folder, environment):
                return folder
    return None


async def ask_client(
    context: ServerRequestContext[Any], environment: Mapping[str, str]
) -> Path | None:
    """Return the first workspace among the roots a client declares, None when it has none to say.

    Roots are deprecated since 2026-07-28 and still all that some clients have. One that does not
    answer in time, or names what is no folder (``vscode-remote:``), has none to say.
    """
    from mcp.shared.exceptions import MCPError
    from mcp_types import ListRootsRequest, ListRootsResult

    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return None
    try:
        listed = await context.session.send_request(
            ListRootsRequest(), ListRootsResult, request_read_timeout_seconds=_WAIT_S
        )
    except (MCPError, RuntimeError, ValueError):
        return None
    return first_workspace([str(root.uri) for root in listed.roots], environment)


def first_workspace(addresses: Sequence[str], environment: Mapping[str, str]) -> Path | None:
    """Return the first of some ``file://`` addresses that is a workspace."""
    for address in addresses:
        parts = urlsplit(address)
        folder = _folder(unquote(parts.path)) if parts.scheme == "file" else None
        if folder is not None and is_workspace(folder, environment):
            return folder
    return None


def _folder(name: str) -> Path | None:
    path = Path(name.strip())
    try:
        return path.resolve() if name.strip() and path.is_absolute() and path.is_dir() else None
    except OSError:
        return None
