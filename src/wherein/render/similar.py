"""Shows places with like code, as search results are shown."""

from wherein.render.search import render, slim, trim

__all__ = ["render", "slim", "trim"]
