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
        text = source.slice(start, min(end, start + _MAX_STATEMENT_BYTES))
        line = source.line_of(start)
        for module, names in read(text):
            if module:
                found[Import(module, names, line)] = None
    return tuple(found)


_SLASH_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_HASH_COMMENT = re.compile(r"#[^\n]*")
_QUOTED = re.compile(r"""["'`<]([^"'`<>\n]+)["'`>]""")
_GROUP = re.compile(r"\{([^{}]*)\}")


def _names(text: str, alias: str = r"\s+as\s+") -> tuple[str, ...]:
    """Return the names of a list ``a, b as c``: those of the module, not the local ones."""
    names = (re.split(alias, item.strip())[0].strip() for item in text.split(","))
    return tuple(name for name in names if name)


def _python(text: str) -> Imported:
    text = _HASH_COMMENT.sub("", text).replace("\\\n", " ")
    taken = re.match(r"from\s+([\w.\s]+?)\s+import\s*\(?([^)]*)\)?", text)
    if taken is None:
        taken = re.match(r"from\s*(\.+[\w.]*)\s*import\s*\(?([^)]*)\)?", text)
    if taken:
        yield "".join(taken.group(1).split()), _names(taken.group(2))
    elif text.startswith("import"):
        for module in _names(text.removeprefix("import")):
            yield module, ()


def _javascript(text: str) -> Imported:
    text = _SLASH_COMMENT.sub("", text)
    called = re.match(r"""(?:require|import)\s*\(\s*["'`]([^"'`\n]+)["'`]""", text)
    if called:
        yield called.group(1), ()
        return
    module = re.search(r"""(?:\bfrom|^import|^export|\brequire\s*\()\s*["']([^"'\n]+)["']""", text)
    if module is None:
        return
    clause = text[: module.start()]
    names: list[str] = []
    braces = _GROUP.search(clause)
    if braces:
        names += [re.sub(r"^type\s+", "", name) for name in _names(braces.group(1))]
        clause = clause[: braces.start()] + clause[braces.end() :]
    default = re.match(r"import\s+(?:type\s+)?([\w$]+)\s*(?:,|$)", clause.strip())
    if default and default.group(1) != "type":
        names.insert(0, "default")
    elif "*" in clause:
        names.append("*")
    yield module.group(1), tuple(names)


def _quoted(text: str) -> Imported:
    """Read statements whose modules are the quoted strings in them."""
    for module in _QUOTED.findall(_SLASH_COMMENT.sub("", text)):
        yield module, ()


def _first_quoted(text: str) -> Imported:
    """Read calls such as ``require("a.b")``: the first string is the module."""
    quoted = _QUOTED.search(text)
    if quoted and "\n" not in text[: quoted.start()].strip():
        yield quoted.group(1), ()


def _rust(text: str) -> Imported:
    crate = re.match(r"extern\s+crate\s+(\w+)", text)
    if crate:
        yield crate.group(1), ()
        return
    path = _SLASH_COMMENT.sub("", text).strip().removeprefix("use").strip().rstrip(";")
    grouped: dict[str, list[str]] = {}
    for item in _expand_groups(re.sub(r"\s+", " ", path), "::"):
        module, _, name = item.rpartition("::")
        if name == "self":
            module, _, name = module.rpartition("::")
        grouped.setdefault(module or name, []).extend([name] if module else [])
    for module, names in grouped.items():
        yield module, tuple(names)


def _expand_groups(path: str, separator: str) -> list[str]:
    """Return the paths that ``a::{b, c::{d, e as f}}`` stands for, aliases left out."""
    while (group := _GROUP.search(path)) is not None:
        begin = max(path.rfind(sign, 0, group.start()) for sign in ",{") + 1
        prefix = path[begin : group.start()].strip()
        items = [item.strip() for item in group.group(1).split(",") if item.strip()]
        expanded = ", ".join(prefix + item for item in items)
        path = path[:begin] + expanded + path[group.end() :]
    items = [re.split(r"\s+as\s+|\s*=>\s*", item)[0].strip() for item in path.split(",")]
    return [item.replace(" ", "").rstrip(separator[0]) for item in items if item]


def _jvm(text: str) -> Imported:
    """Read Java's, Kotlin's and Groovy's ``import a.b.C``."""
    path = re.match(r"import\s+(?:static\s+)?([\w.*$\s]+?)(?:\s+as\s+\w+)?\s*;?\s*$", text)
    if path:
        module, _, name = path.group(1).replace(" ", "").rpartition(".")
        yield (module, (name,)) if module else (name, ())


def _scala(text: str) -> Imported:
    for clause in re.split(r",(?![^{]*\})", text.strip().removeprefix("import")):
        module, _, last = clause.strip().partition("{")
        if last:
            names = re.split(r"\s*(?:=>|\bas\b)\s*[\w*]+\s*,?|,|\}", last)
            yield module.rstrip(". "), tuple(name.strip() for name in names if name.strip())
        else:
            path, _, name = module.strip().rpartition(".")
            yield (path, (name,)) if path else (name, ())


def _csharp(text: str) -> Imported:
    path = re.search(r"using\s+(?:static\s+|unsafe\s+)*(?:\w+\s*=\s*)?([\w.:]+)", text)
    if path:
        yield path.group(1), ()


def _php(text: str) -> Imported:
    text = _SLASH_COMMENT.sub("", text).strip()
    if not text.startswith("use"):
        yield from _first_quoted(text)
        return
    path = re.sub(r"^use\s+(?:function\s+|const\s+)?", "", text).rstrip("; ")
    for item in _expand_groups(path.strip(), "\\"):
        module, _, name = item.lstrip("\\").rpartition("\\")
        yield (module, (name,)) if module else (name, ())


def _swift(text: str) -> Imported:
    path = re.search(
        r"import\s+(?:(?:class|struct|enum|protocol|func|var|let|typealias)\s+)?([\w.]+)", text
    )
    if path:
        yield path.group(1), ()


def _bash(text: str) -> Imported:
    path = re.match(r"""(?:source|\.)\s+["']?([^\s"';]+)""", text)
    if path:
        yield path.group(1), ()


def _elixir(text: str) -> Imported:
    path = re.match(
        r"(?:alias|import|require|use)[\s(]+([\w.]+?)\.?(?:\{([^}]*)\}|[^\w.{]|$)", text
    )
    if path:
        yield path.group(1), _names(path.group(2) or "")


def _haskell(text: str) -> Imported:
    path = re.match(
        r"""import\s+(?:safe\s+)?(?:qualified\s+)?(?:"[^"]*"\s+)?([\w.']+)(?:\s+qualified)?"""
        r"""(?:\s+as\s+[\w.]+)?\s*(hiding)?\s*(?:\((.*)\))?""",
        text,
        re.DOTALL,
    )
    if path:
        listed = re.sub(r"\([^()]*\)", "", path.group(3) or "")
        yield path.group(1), () if path.group(2) else _names(listed)


def _dart(text: str) -> Imported:
    module = _QUOTED.search(text)
    if module:
        shown = re.search(r"\bshow\s+([\w\s,]+)", text)
        yield module.group(1), _names(shown.group(1)) if shown else ()


def _solidity(text: str) -> Imported:
    module = re.search(r"""["']([^"'\n]+)["']""", text)
    if module:
        named = _GROUP.search(text)
        yield module.group(1), _names(named.group(1)) if named else ()


def _whole(text: str) -> Imported:
    yield text.strip(), ()


def _ocaml(text: str) -> Imported:
    path = re.match(r"(?:open!?|include)\s+([\w.']+)", text)
    if path:
        yield path.group(1), ()


def _julia(text: str) -> Imported:
    if text.startswith("include"):
        yield from _first_quoted(text)
        return
    body = re.sub(r"^(?:using|import)\s+", "", _HASH_COMMENT.sub("", text).strip())
    module, colon, names = body.partition(":")
    if colon:
        yield module.strip(), _names(names)
        return
    for item in _names(body):
        yield item, ()


def _perl(text: str) -> Imported:
    path = re.match(r"""(?:use|require|no)\s+["']?([A-Za-z_][\w:]*)(.*)""", text, re.DOTALL)
    if path is None:
        return
    module, rest = path.groups()
    listed = re.search(r"qw\W(.*?)[)\]}/>|!]", rest, re.DOTALL)
    names = listed.group(1).split() if listed else re.findall(r"""["']([\w:]+)["']""", rest)
    if module in ("parent", "base"):
        for parent in names:
            yield parent, ()
    elif module not in ("strict", "warnings", "utf8", "constant", "lib", "vars"):
        yield module, tuple(names)


def _r(text: str) -> Imported:
    path = re.match(r"""[\w:]+\s*\(\s*["']?([\w./-]+)["']?""", text)
    if path:
        yield path.group(1), ()


def _lua(text: str) -> Imported:
    path = re.match(r"""\w+\s*\(?\s*["'\[]+([^"'\]\n]+)""", text)
    if path:
        yield path.group(1), ()


def _second_word(text: str) -> Imported:
    """Read ``include path`` and ``use module``: the word after the first."""
    words = re.split(r"[\s(),]+", text.strip())
    if len(words) > 1:
        yield words[1].strip("\"'<>;"), ()


def _clojure(text: str) -> Imported:
    for module in re.findall(r"[\[(]\s*([\w.-]+)", text.partition(" ")[2]):
        yield module, ()


def _erlang(text: str) -> Imported:
    path = re.match(r"""-(?:include|include_lib|import)\s*\(\s*"?([\w./-]+)""", text)
    if path:
        yield path.group(1), ()


_READERS: dict[str, Callable[[str], Imported]] = {
    "bash": _bash,
    "c": _quoted,
    "cpp": _quoted,
    "clojure": _clojure,
    "cmake": _second_word,
    "csharp": _csharp,
    "css": _first_quoted,
    "dart": _dart,
    "elixir": _elixir,
    "erlang": _erlang,
    "fortran": _second_word,
    "go": _quoted,
    "groovy": _jvm,
    "haskell": _haskell,
    "hcl": _whole,
    "java": _jvm,
    "javascript": _javascript,
    "julia": _julia,
    "kotlin": _jvm,
    "lua": _lua,
    "make": _second_word,
    "objc": _quoted,
    "ocaml": _ocaml,
    "perl": _perl,
    "php": _php,
    "php_only": _php,
    "powershell": _second_word,
    "proto": _first_quoted,
    "python": _python,
    "r": _r,
    "ruby": _first_quoted,
    "rust": _rust,
    "scala": _scala,
    "scss": _first_quoted,
    "solidity": _solidity,
    "starlark": _first_quoted,
    "swift": _swift,
    "tsx": _javascript,
    "typescript": _javascript,
    "zig": _first_quoted,
}
