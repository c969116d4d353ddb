"""Answers to text, JSON lines and HTML."""
