"""Brings the store up to date with the files."""
