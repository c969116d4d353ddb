"""Wherein: finds code by name, by meaning, by structure and by history."""

__version__ = "0.1.0"
