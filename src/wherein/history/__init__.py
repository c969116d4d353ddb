"""Commits as evidence."""
