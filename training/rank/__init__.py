"""Fits the ranking weights that ship in `search/data/weights.json`."""
