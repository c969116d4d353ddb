"""Masks what looks like a secret before a report shows words from a transcript."""

from __future__ import annotations

import re

__all__ = ["mask_secrets"]

_SECRETS = (
    # Keys with a prefix their makers publish so that scanners can find them.
    re.compile(
        r"\b(?:sk|pk|rk)[-_](?:live|test|ant|proj)?[-_]?[A-Za-z0-9_-]{16,}"
        r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}"
        r"|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bAKIA[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}"
        r"|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}"
        r"|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}"
    ),
    re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)", re.DOTALL
    ),
    # name = value, name: value and --name value, where the name says it is secret.
    re.compile(
        r"(?i)(?<=[\w-])?\b[\w-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key)"
        r"\b[\"']?\s*(?:[:=]|\s)\s*[\"']?(?P<value>(?=\S*\d)[^\s\"',;]{8,})"
    ),
    re.compile(r"(?i)\b(?:bearer|basic)\s+(?P<value>[A-Za-z0-9+/_=.-]{16,})"),
    re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:(?P<value>[^\s/@]+)@"),
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
    start, end = found.span("value")
    whole = found.group()
    return whole[: start - found.start()] + _MASK + whole[end - found.start() :]
