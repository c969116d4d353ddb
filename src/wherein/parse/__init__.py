"""Bytes to definitions, references and imports."""
