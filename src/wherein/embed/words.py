"""Which terms of a query the bundled model looks up."""

from __future__ import annotations

from wherein.tokens import MAX_TERM_CHARS, identifier_terms, scan_words

__all__ = ["query_features"]

_JOINED_WORDS = 3
"""Neighbouring words are joined up to this many: ``get or create`` is asked, ``getorcreat`` is the
whole identifier's term."""


def query_features(text: str) -> tuple[list[str], list[str]]:
    """Return the query's terms and its joined neighbours, both in order, with repetition.

    Only words that give one term are joined; a joined term counts only where the vocabulary
    has it as an identifier.
    """
    plain: list[str] = []
    joined: list[str] = []
    run: list[str] = []
    for word in scan_words(text):
        parts = identifier_terms(word)
        plain.extend(parts)
        if len(parts) != 1:
            run.clear()
            continue
        run.append(parts[0])
        for n in range(2, min(_JOINED_WORDS, len(run)) + 1):
            whole = "".join(run[-n:])
            if len(whole) <= MAX_TERM_CHARS:
                joined.append(whole)
    return plain, joined
