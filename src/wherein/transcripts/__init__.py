"""Coding agents' session files as typed values."""
