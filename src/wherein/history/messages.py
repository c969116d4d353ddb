"""Turns a commit message into searchable text, and says what kind of commit it announces."""

from __future__ import annotations

import re
from enum import IntFlag

__all__ = ["CommitFlag", "clean_body", "clean_subject", "commit_flags", "split_message"]


class CommitFlag(IntFlag):
    """What a message, its author and its parents say of a commit."""

    NONE = 0
    MERGE = 1
    REVERT = 2
    RELEASE = 4
    BOT = 8
    TRIVIAL = 16
    """Typos, formatting, lint: the files it touches were at hand, not meant."""
    DOCS = 32
    BOUNDARY = 64
    """A shallow clone was cut here, or its parents were exchanged: what it changed is unknown."""


# Trailers, tool noise and what mail or other version control systems left behind.
_NOISE_LINE = re.compile(
    r"^(?:[A-Z][A-Za-z]*(?:-[A-Za-z]+)+: .*|git-svn-id:.*|--HG--.*|branch : .*|extra : .*|"
    r"\(cherry[ -]picked from commit .*|(?:Closes|Fixes|Resolves|Refs|See)?:? ?#?\d+\.?|---+|"
    r"Change-Id:.*|\[skip ci\].*|\[ci skip\].*)$",
    re.IGNORECASE,
)
_URL = re.compile(r"https?://\S+")
_HASH = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b")
_ISSUE = re.compile(
    r"\(?(?:\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|ref[s]?|see|gh|issue|pr|bug)[ :-]*)?#\d+\)?",
    re.IGNORECASE,
)
_LEADING = (
    re.compile(r"^\[[\w .\-/#]{1,24}\]\s*"),  # [1.8.x], [svn r12], [Bugfix]
    re.compile(
        r"^(?:Fixed|Refs|Closed|Fix|Closes|Resolves|Reverted)(?:,? *#\d+)+(?:,? *and)? *--? *"
    ),
    re.compile(  # conventional commits keep their scope: it often names the module
        r"^(?:feat|fix|chore|docs?|refactor|perf|tests?|build|ci|style|deps|bugfix|hotfix)"
        r"(?:\((?P<scope>[^)]{1,40})\))?!?:\s+",
        re.IGNORECASE,
    ),
)
_MERGED = re.compile(r"^(?:merged? |automatic merge|Merge:)", re.IGNORECASE)
_REVERT = re.compile(r"^(?:this reverts commit|revert(?:ed|s)?\b|back(?:ed)? out\b)", re.IGNORECASE)
_REVERT_BODY = re.compile(r"^This reverts commit [0-9a-f]{7,40}", re.MULTILINE)
_RELEASE = re.compile(
    r"^(?:(?:chore|build)(?:\(.*?\))?: ?)?"
    r"(?:(?:prepar\w+|cut|bump\w*|up|updat\w+|start|begin|back to|set|tag\w*|publish\w*)\b"
    r"[^:]{0,30}?)?"
    r"\b(?:release[sd]?|versions?|v?\d+\.\d+(?:\.\d+)*(?:[-.]?(?:a|b|rc|dev|beta|alpha)\.?\d*)?)"
    r"[\s:v.\d\-\w]{0,24}$",
    re.IGNORECASE,
)
_DEPENDENCY = re.compile(
    r"^(?:(?:chore|build|fix|ci)(?:\(deps.*?\))?: ?)?\[?(?:pre-commit|deps?)\b|"
    r"^(?:\w+\(deps.*?\): ?)?bump (?:the )?\S+ (?:.{0,40}?\b)?from \S+ to \S+|"
    r"^(?:update|upgrade|pin) dependenc",
    re.IGNORECASE,
)
_TRIVIAL = re.compile(
    r"\b(?:typos?|misspell\w*|spelling|whitespace|white space|trailing spaces?|indentation|indent|"
    r"reformat\w*|formatting|flake8|flakes|isort|pep-?8|pyflakes|lint\w*|prettier|rustfmt|gofmt|"
    r"clang-format|cosmetics?|copyright|license headers?|pyupgrade|autopep8)\b|"
    r"^(?:black|ruff|eslint|style|format)\b",
    re.IGNORECASE,
)
_DOCS = re.compile(
    r"^(?:docs?|documentation|readme|changelog|changes|news|authors|contributors)\b|"
    r"\b(?:changelog|readme|docstrings?|release notes|documentation|news entry|what'?s new)\b",
    re.IGNORECASE,
)
_BOT = re.compile(
    r"\[bot\]|\bbot$|^(?:dependabot|renovate|greenkeeper|pyup|pre-commit|github-actions|semantic-release|"
    r"snyk|mergify|bors|imgbot|allcontributors|weblate|transifex|crowdin|travis|codecov)\b",
    re.IGNORECASE,
)


def split_message(message: str) -> tuple[str, str]:
    """Return the subject line and the body of ``message``, both without surrounding space."""
    subject, _, body = message.replace("\r\n", "\n").strip().partition("\n")
    return subject.strip(), body.strip()


def clean_subject(subject: str) -> str:
    """Return what a subject line says in words: no ticket numbers, tags, hashes or addresses.

    The scope of a conventional commit is kept as a word of its own.
    """
    text = subject if _LEADING[1].match(subject) else _without_tickets(subject)
    for pattern in _LEADING:
        found = pattern.match(text.lstrip())
        if found is not None:
            scope = found.groupdict().get("scope")
            text = (f"{scope}: " if scope else "") + text.lstrip()[found.end() :]
    text = _HASH.sub(" ", _without_tickets(text))
    return " ".join(text.split()).strip(" .,;:-")


def _without_tickets(text: str) -> str:
    """Return ``text`` without addresses and ticket numbers; most texts have neither."""
    if "://" in text:
        text = _URL.sub(" ", text)
    return _ISSUE.sub(" ", text) if "#" in text else text


def clean_body(body: str) -> str:
    """Return the prose of a message body: no trailers, addresses, hashes or ticket numbers."""
    kept = [line for line in body.splitlines() if not _NOISE_LINE.match(line.strip())]
    return _HASH.sub(" ", _without_tickets("\n".join(kept))).strip()


def commit_flags(subject: str, body: str, author: str, email: str, n_parents: int) -> CommitFlag:
    """Return what kind of commit this is, from its words, author and number of parents."""
    flags = CommitFlag.NONE
    if n_parents > 1 or _MERGED.match(subject):
        flags |= CommitFlag.MERGE
    if _REVERT.match(subject) or _REVERT_BODY.search(body):
        flags |= CommitFlag.REVERT
    if _RELEASE.match(subject) or _DEPENDENCY.match(subject):
        flags |= CommitFlag.RELEASE
    if _BOT.search(author) or "[bot]" in email:
        flags |= CommitFlag.BOT
    if _TRIVIAL.search(subject):
        flags |= CommitFlag.TRIVIAL
    if _DOCS.search(subject):
        flags |= CommitFlag.DOCS
    return flags
