"""Shows what was removed."""

from __future__ import annotations

from typing import cast

from wherein.render.escape import show_path
from wherein.render.rendered import Rendered, Style
from wherein.render.status import show_bytes
from wherein.tools.status import ClearResult

__all__ = ["render"]


def render(result: object, style: Style) -> Rendered:
    """Return the text of a `ClearResult`."""
    found = cast("ClearResult", result)
    names = ", ".join(style.paint("path", show_path(name)) for name in found.roots)
    if not found.n_bytes:
        return Rendered((f"no {found.what} of {names} to remove\n",))
    return Rendered((f"removed the {found.what} of {names} ({show_bytes(found.n_bytes)})\n",))
