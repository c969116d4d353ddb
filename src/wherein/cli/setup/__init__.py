"""Writes the server entry, the instructions and the search sub-agent into agents' own files."""
