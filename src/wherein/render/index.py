"""Shows what indexing left, as the status is shown."""

from wherein.render.status import render

__all__ = ["render"]
