"""Turns paths into one printable line and back, and keeps them inside their root."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from wherein.errors import PathError

__all__ = ["escaped", "inside", "parse_path", "show_path"]

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
_CODES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}
# Control characters, surrogates (bytes that are not UTF-8), line separators, and the invisible
# characters that reorder or hide text on a terminal.
_ESCAPED = re.compile(
    "[\x00-\x1f\x7f-\x9f\\\\\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
_ESCAPE = re.compile(r"\\(?:([nrt\\])|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")
_FIRST_LOW_BYTE, _LAST_LOW_BYTE = 0xDC80, 0xDCFF


def show_path(path: str) -> str:
    r"""Return ``path`` on one line, with nothing in it that moves a cursor.

    A byte that is not UTF-8 becomes ``\xff``, other hidden characters ``\n`` or ``\u202e``, a
    backslash ``\\``; `parse_path` gives back the path.
    """
    return _ESCAPED.sub(_escape, path)


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    named = _NAMED.get(character)
    if named is not None:
        return named
    # Not ``\xff``, as in text: in a path that is a byte which is not UTF-8.
    return f"\\u{ord(character):04x}" if "\x7f" < character < "\u0100" else escaped(match)


def escaped(match: re.Match[str]) -> str:
    r"""Return one character as an escape; a byte that is not UTF-8 as ``\xff``."""
    code = ord(match.group())
    if _FIRST_LOW_BYTE <= code <= _LAST_LOW_BYTE:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def parse_path(shown: str) -> str:
    """Return the path that `show_path` shows as ``shown``; other text passes unchanged."""
    return _ESCAPE.sub(_unescape, shown) if "\\" in shown else shown


def _unescape(match: re.Match[str]) -> str:
    named, byte, short, long = match.groups()
    if named:
        return _CODES[named]
    if byte:
        code = int(byte, 16)
        return chr(code if code < 0x80 else code + 0xDC00)
    code = int(short or long, 16)
    return chr(code) if code <= 0x10FFFF else match.group()


def inside(root: Path, path: str | Path) -> Path:
    """Return the real, absolute path of ``path`` (relative to ``root``, or absolute).

    Raises:
        PathError: It does not exist, leaves the root, or is a link that leads out.
    """
    text = os.fspath(path)
    if "\0" in text:
        message = f"a path cannot hold a NUL: {text!r}"
        raise PathError(message)
    real_root = root.resolve()
    joined = real_root / text
    lexical = Path(os.path.normpath(joined))
    if not (lexical.is_relative_to(real_root) or lexical.is_relative_to(root)):
        message = f"{show_path(text)!r} is outside {str(root)!r}"
        raise PathError(
            message, hint="only files under the root are read; open that folder instead"
        )
    try:
        real = Path(os.path.realpath(joined, strict=True))
    except (FileNotFoundError, NotADirectoryError):
        raise PathError(_absent(joined, text), hint="give a path relative to the root") from None
    except OSError as error:  # a loop of links, a name that is too long, no permission
        message = f"{show_path(text)!r} cannot be opened: {error.strerror}"
        raise PathError(message) from None
    if not real.is_relative_to(real_root):
        message = f"{show_path(text)!r} is a link that leaves the root"
        raise PathError(message, hint="link leaves the root; open the folder it leads to instead")
    return real


def _absent(path: Path, text: str) -> str:
    try:
        is_link = stat.S_ISLNK(path.lstat().st_mode)
    except OSError:
        is_link = False
    return f"{show_path(text)!r} is a broken link" if is_link else f"no file {show_path(text)!r}"
