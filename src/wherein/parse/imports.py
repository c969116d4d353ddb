"""Which modules a file imports: each import statement's text, read by its language's rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from wherein.parse.spans import Source, Span
from wherein.types import Import

__all__ = ["find_imports"]

Imported = Iterable[tuple[str, tuple[str, ...]]]
"""Module and the names taken from it."""

_MAX_STATEMENT_BYTES = 20_000


def find_imports(source: Source, language: str, statements: Sequence[Span]) -> tuple[Import, ...]:
    """Return the imports by line."""
    read = _READERS.get(language)
    if read is None:
        return ()
    found: dict[Import, None] = {}
    for start, end in sorted(statements):
        text = source.slice((start, min(end, start + _MAX_STATEMENT_BYTES)))
        line = source.line_of(start)
        for module, names in read(text):
            if module:
                found[Import(module, names, line)] = None
    return tuple(found)


_STRING = re.compile(r"""["'`]([^"'`\n]+)["'`]""")
_WORD = re.compile(r"[^\W\d][\w$]*")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_HASH_COMMENT = re.compile(r"#[^\n]*")


def _names(text: str, separator: str = r"\bas\b") -> tuple[str, ...]:
    """Return the names of a list ``a, b as c``: those of the module, not the local ones."""
    names: list[str] = []
    for item in text.split(","):
        original = re.split(separator, item.strip())[0].strip()
        if original:
            names.append(original)
    return tuple(names)


def _python(text: str) -> Imported:
    text = _HASH_COMMENT.sub("", text).replace("\\\n", " ")
    taken = re.match(r"from\s+([\w.]+|\.+\s*[\w.]*)\s*import\s*\(?([^)]*)\)?", text)
    if taken:
        yield "".join(taken.group(1).split()), _names(taken.group(2))
    elif text.startswith("import"):
        for module in _names(text.removeprefix("import")):
            yield module, ()


def _javascript(text: str) -> Imported:
    text = _COMMENT.sub("", text)
    if text.startswith(("require", "import(", "import (")):
        called = re.match(r"""(?:require|import)\s*\(\s*["'`]([^"'`\n]+)["'`]""", text)
        if called:
            yield called.group(1), ()
        return
    module = re.search(r"""(?:\bfrom|^import|\brequire\s*\()\s*["']([^"'\n]+)["']""", text)
    if module is None:
        return
    clause = text[: module.start()]
    names: list[str] = []
    braces = re.search(r"\{([^}]*)\}", clause)
    if braces:
        names += [re.sub(r"^type\s+", "", name) for name in _names(braces.group(1))]
        clause = clause[: braces.start()] + clause[braces.end() :]
    default = re.match(r"import\s+(?:type\s+)?([\w$]+)\s*(?:,|$)", clause.strip())
    if default and default.group(1) != "type":
        names.insert(0, "default")
    elif "*" in clause:
        names.append("*")
    yield module.group(1), tuple(names)


def _go(text: str) -> Imported:
    for module in re.findall(r"""["`]([^"`\n]+)["`]""", _COMMENT.sub("", text)):
        yield module, ()


_READERS: dict[str, Callable[[str], Imported]] = {
    "python": _python,
    "starlark": _python,
    "javascript": _javascript,
    "typescript": _javascript,
    "tsx": _javascript,
    "go": _go,
}
