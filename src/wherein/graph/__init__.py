"""Definitions and references as edges."""
