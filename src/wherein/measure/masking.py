"""Masks what looks like a secret before a report shows words from a transcript."""

from __future__ import annotations

import re

__all__ = ["mask_secrets"]

_NAME = (
    r"(?i:password|passwd|passphrase|pwd|secret|token|(?:api|access|account|private)[_-]?key)"
    r"\b[\"']?"
)
"""The end of a name that says its value is secret. What comes before it is not matched: a pattern
that began with any number of word characters would take the square of a long line's length."""

_SECRETS = (
    # Keys with a prefix their makers publish so that scanners can find them.
    re.compile(
        r"\b(?:sk|pk|rk)[-_](?:live|test|ant|proj)?[-_]?[A-Za-z0-9_-]{16,}"
        r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}"
        r"|\bxox[abeprs]-[A-Za-z0-9-]{10,}|\bA[KS]IA[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}"
        r"|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}|\bhf_[A-Za-z0-9]{20,}"
        r"|\bya29\.[A-Za-z0-9_-]{20,}|\bwhsec_[A-Za-z0-9+/=]{16,}|\bshp[ap]t_[A-Za-z0-9]{20,}"
        r"|\bdckr_pat_[A-Za-z0-9_-]{16,}|\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
        r"|(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}"
    ),
    re.compile(r"\bhooks\.slack\.com/services/(?P<value>[A-Za-z0-9/_-]{16,})"),
    re.compile(
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----"
        r".*?(?:-----END [A-Z ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----|$)",
        re.DOTALL,
    ),
    # name = value and name: value, where the name says it is secret; quoted ones may hold spaces.
    re.compile(
        rf"{_NAME}\s*[:=]\s*(?:\"(?P<value>[^\"\n]{{6,200}})\""
        rf"|'(?P<other>[^'\n]{{6,200}})')"
    ),
    re.compile(rf"{_NAME}\s*[:=]\s*[\"']?(?P<value>[^\s\"',;]{{6,}})"),
    # --name value, where only a digit tells a password from the next word of a sentence.
    re.compile(rf"{_NAME}\s+[\"']?(?P<value>(?=[^\s\d]*\d)[^\s\"',;]{{6,}})"),
    # Login and password of curl and of addresses.
    re.compile(
        r"\bcurl\b[^\n|;&]{0,400}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,100}:(?P<value>[^\s\"']+)"
    ),
    re.compile(r"(?i)\b(?:bearer|basic)\s+(?P<value>[A-Za-z0-9+/_=.-]{16,})"),
    re.compile(r"://[^\s/:@]{0,200}:(?P<value>[^\s/@]{1,400})@"),
)
_MASK = "[masked]"


def mask_secrets(text: str) -> str:
    """Return ``text`` with keys, tokens, passwords and private keys replaced by ``[masked]``."""
    for pattern in _SECRETS:
        text = pattern.sub(_masked, text)
    return text


def _masked(found: re.Match[str]) -> str:
    if "value" not in found.re.groupindex:
        return _MASK
    start, end = next(found.span(name) for name in found.re.groupindex if found[name] is not None)
    whole = found.group()
    return whole[: start - found.start()] + _MASK + whole[end - found.start() :]
