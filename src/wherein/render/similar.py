"""Shows places with like code, as search results are shown."""

from wherein.render.search import render

__all__ = ["render"]
