"""The head of a definition on one line."""

from __future__ import annotations

import re

from wherein.parse.spans import Source, Span

__all__ = ["line_head", "signature"]

_MAX_CHARS = 200
_MAX_BYTES = 600
_MAX_PREFIX_BYTES = 200

# Up to the body or the end of the line, over round and square brackets four deep. The quantifiers
# are possessive, so text that never closes a bracket costs one pass.
_HEAD = re.compile(
    rb"(?:[^({}\[\n;:]++"
    rb"|\((?:[^()]++|\((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+\))*+\)"
    rb"|\[(?:[^\[\]]++|\[[^\[\]]*+\])*+\]"
    rb"|:(?!\s*\n))*+"
)
_OPEN_REST = frozenset(b"([")
_WORDS = re.compile(rb"[\w\s@]*+")
_REST = re.compile(r"[\s:{;,]*(?:\s=|\sdo)?[\s:{;,]*\Z")
_MARKERS = re.compile(
    r"(?:@(?!interface\b)[\w.:]++(?:\([^()]*+\))?\s*+|\[[^\[\]]*+\]\s++|#\[[^\[\]]*+\]\s*+)+"
)
_MARKED = frozenset(
    (
        *("csharp", "dart", "groovy", "java", "javascript", "kotlin", "php", "rust", "scala"),
        *("solidity", "swift", "tsx", "typescript"),
    )
)
"""Languages whose annotations stand inside the definition; a signature begins after them."""


def line_head(source: Source, start: int) -> int:
    """Return the first word of the line when only words (``export default``) stand before."""
    if source.indented_from(start) is not None:
        return start
    line_start = source.line_start(start)
    prefix = source.text[line_start:start]
    if len(prefix) <= _MAX_PREFIX_BYTES and _WORDS.fullmatch(prefix):
        return start - len(prefix.lstrip())
    return start


def signature(source: Source, language: str, start: int, end: int, name: Span) -> str:
    """Return the head on one line: up to the body, or the end of the line once brackets close.

    Args:
        source: The text.
        language: Grammar name.
        start: First byte of the definition, modifiers included and comments not.
        end: Byte after its last.
        name: Its name.
    """
    text = source.text
    if name[1] - start > _MAX_BYTES:
        start = source.line_start(name[0])
    limit = min(end, max(start, name[1]) + _MAX_BYTES)
    match = _HEAD.match(text, name[1], limit)
    stop = match.end() if match else limit
    if stop < limit and text[stop] in _OPEN_REST:
        stop = limit  # a list of parameters too long to close here
    head = " ".join(source.slice(start, stop).split())
    if language in _MARKED and head[:1] in "@[#":
        marked = _MARKERS.match(head)
        if marked is not None and marked.end() < len(head):
            head = head[marked.end() :]
    if head[-1:] in ":{;,=o ":
        head = _REST.sub("", head)
    return head[:_MAX_CHARS]
