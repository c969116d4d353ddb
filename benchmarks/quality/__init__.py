"""Ranking quality on labelled queries and on replayed commits."""
