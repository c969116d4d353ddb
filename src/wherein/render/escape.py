"""Shows text from files so that it cannot be taken for ours and moves no cursor."""

from __future__ import annotations

import re

from wherein.walk.paths import escaped, show_path

__all__ = ["MAX_LINE_CHARS", "gutter", "show_line", "show_path"]

MAX_LINE_CHARS = 240
"""A longer line is cut: 99.7 % of the lines people write are shorter, and one minified line would
eat the budget of an answer."""

# As in paths, but a tab and a backslash are ordinary in a line of code.
_HIDDEN = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)


def show_line(line: str, max_chars: int = MAX_LINE_CHARS) -> str:
    """Return one line of a file with hidden characters escaped, cut at ``max_chars``."""
    shown = _HIDDEN.sub(escaped, line.rstrip("\r\n")).rstrip()
    if len(shown) <= max_chars:
        return shown
    return f"{shown[:max_chars]}… [{len(shown) - max_chars} more characters]"


def gutter(number: int, line: str, max_chars: int = MAX_LINE_CHARS) -> str:
    """Return a line of a file behind its number, as every answer shows them."""
    return f"  {number}: {show_line(line, max_chars)}"
