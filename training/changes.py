"""Reads changelogs: which definition an entry names, and what it says of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MOST_MENTIONS = 3
"""An entry that names more is a list; it describes none of them."""
_MOST_WORDS = 60

_BULLET = re.compile(r"^[ \t]*(?:[-*+•]|\d+[.)])[ \t]+")
_BREAK = re.compile(r"^[ \t]*(?:#+[ \t]|\.\.[ \t]|[=\-~^*]{3,}[ \t]*$|$)")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)")

_DOTTED = r"[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*[!?]?"
_MENTION = re.compile(
    # `name`, `Class.method`, `name(arguments)`, :func:`~module.name`
    rf"(?:(?<=\s)|(?<=^)|(?<=[(\[])):?(?:\w+:)*(?P<tick>``?)[~@.#]?(?P<ticked>{_DOTTED})"
    rf"(?P<call>\([^`]{{0,80}}\))?(?P=tick)|"
    # name(), Class.method() and Class.method without marks
    rf"(?<![\w`./])(?P<called>{_DOTTED})\(\)|"
    r"(?<![\w`./])(?P<method>[A-Z][A-Za-z\d]+(?:\.|::|#)[a-z_]\w{2,})(?![\w`(/])"
)
# A plain word in marks may be a parameter or an option; a name that looks like one of code is not.
_TELLING = re.compile(r"[a-z\d][A-Z]|^[A-Z][a-z]{3}|\w_\w")
_NOISE = (
    # Commits, issues and people, which close most entries.
    (re.compile(r"\(?\[`?[#!]?[\w./-]*`?\]\(https?:[^)]*\)\)?"), " "),
    (re.compile(r"!?\[([^\]]*)\]\([^)]*\)|\[([^\]]*)\]\[[^\]]*\]|<?https?://[^\s>)]+>?"), r"\1\2 "),
    (re.compile(r":(?:issue|pr|pull|gh|ghissue|bug|user|commit):`[^`]*`"), " "),
    (re.compile(r"\b(?:by|thanks(?: to)?|via|from|see|in|PR|GH|issue|fixes|closes)?[ \t]*"
                r"(?:(?<!\w)@[\w-]+|\(?(?:\w+/\w+)?[#!]\d+\)?)!?", re.IGNORECASE), " "),
    (re.compile(r"\b[0-9a-f]{7,40}\b|\bv?\d+\.\d+(?:\.\d+)*\b"), " "),
    (re.compile(r":\w+:`~?|[`*]+|\(\s*[,;]?\s*\)|\[\s*\]"), " "),
)  # fmt: skip


@dataclass(frozen=True)
class Change:
    """An entry of a changelog that names a definition.

    ``owner`` is the name before the definition's own (a class or a module), or empty.
    """

    entry: str
    owner: str
    name: str

    def query(self, *, masked: bool) -> str:
        """Return the entry as a query, when ``masked`` without the name."""
        text = self.entry
        if masked:
            text = re.sub(rf"(?<![\w$]){re.escape(self.name)}(?![\w$])(\(\))?", " ", text)
        for pattern, instead in _NOISE:
            text = pattern.sub(instead, text)
        text = re.sub(r"\s+([,.;:)])", r"\1", " ".join(text.split()[:_MOST_WORDS]))
        return text.strip(" .,:;-–—")

    def may_mean(self, enclosing: tuple[str, ...]) -> bool:
        """Whether a definition of the name inside ``enclosing`` may be the one that is named.

        A definition that is in nothing may be any owner's: the owner can be a module, and some
        languages write a type's methods outside of it.
        """
        if not self.owner or not enclosing:
            return True
        return re.split(r"\W", enclosing[-1])[0] == self.owner or self.owner[:1].islower()


def changes(text: str) -> Iterator[Change]:
    """Yield each definition that an entry of a changelog seems to name, newest first."""
    for entry in _entries(text):
        found = {mention: None for match in _MENTION.finditer(entry) if (mention := _parts(match))}
        if len(found) <= MOST_MENTIONS:
            for owner, name in found:
                yield Change(entry, owner, name)


def _parts(match: re.Match[str]) -> tuple[str, str] | None:
    """Return owner and name of a mention, or nothing when it may be no definition."""
    whole = match["ticked"] or match["called"] or match["method"]
    *above, name = re.split(r"\.|::|#", whole)
    is_called = bool(match["call"] or match["called"])
    if len(name) < 3 or not (above or is_called or _TELLING.search(name)):
        return None
    return (above[-1] if above else ""), name


def _entries(text: str) -> Iterator[str]:
    """Yield the bullets and paragraphs of a document, each on one line, without its code."""
    lines: list[str] = []
    in_code = False
    for line in [*text.splitlines(), ""]:
        if _FENCE.match(line):
            in_code = not in_code
        bullet = _BULLET.match(line)
        if (bullet or _BREAK.match(line) or in_code) and lines:
            yield " ".join(lines)
            lines = []
        if not in_code and not _FENCE.match(line) and (bullet or not _BREAK.match(line)):
            lines.append(line[bullet.end() if bullet else 0 :].strip())
