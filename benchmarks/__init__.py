"""Benchmarks: quality and speed, each beside its rivals, with dated results."""
