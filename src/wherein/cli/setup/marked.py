"""Puts a block between markers into a text file, and takes it out again."""

from __future__ import annotations

import re

__all__ = ["END", "START", "is_ours", "with_block", "without_block"]

START = "<!-- wherein:start -->"
END = "<!-- wherein:end -->"

_BLOCK = re.compile(rf"(?:\r?\n)?{re.escape(START)}.*?{re.escape(END)}(?:\r?\n)?", re.DOTALL)


def with_block(text: str, body: str) -> str:
    """Return ``text`` with the block at its end, or replaced where it stands."""
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join([START, *body.splitlines(), END, ""])
    found = re.search(rf"{re.escape(START)}.*?{re.escape(END)}(?:\r?\n)?", text, re.DOTALL)
    if found is not None:
        return text[: found.start()] + block + text[found.end() :]
    if not text:
        return block
    gap = newline if text.endswith("\n") else newline * 2
    return text + gap + block


def without_block(text: str) -> str:
    """Return ``text`` without the block and the blank line before it."""
    return _BLOCK.sub("", text)


def is_ours(text: str) -> bool:
    """Return True for a file that we made as a whole."""
    return START in text
