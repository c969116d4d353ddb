"""Measures searchers on the user's own repository and sessions."""
