"""Finds documented definitions, code blocks and error texts in source files, by syntax."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from semble_grammars import get_language
from tree_sitter import Node, Parser, Query, QueryCursor

MAX_PASSAGE_BYTES = 2400
"""A chunk holds 1,500 characters besides white space, which is about this much source."""

FUNCTIONS = {
    "python": "function_definition class_definition",
    "javascript": "function_declaration generator_function_declaration method_definition "
    "class_declaration variable_declarator assignment_expression pair",
    "go": "function_declaration method_declaration type_declaration",
    "rust": "function_item struct_item enum_item trait_item macro_definition",
    "java": "method_declaration constructor_declaration class_declaration interface_declaration "
    "enum_declaration",
    "kotlin": "function_declaration class_declaration object_declaration",
    "swift": "function_declaration class_declaration protocol_declaration init_declaration",
    "c": "function_definition",
    "cpp": "function_definition class_specifier",
    "csharp": "method_declaration constructor_declaration class_declaration "
    "interface_declaration property_declaration struct_declaration",
    "ruby": "method singleton_method class module",
    "php": "function_definition method_declaration class_declaration interface_declaration",
    "scala": "function_definition class_definition object_definition trait_definition",
    "lua": "function_declaration assignment_statement",
    "haskell": "function data_type",
    "elixir": "call",
    "perl": "function_definition",
    "bash": "function_definition",
}
FUNCTIONS["typescript"] = FUNCTIONS["tsx"] = (
    FUNCTIONS["javascript"] + " interface_declaration abstract_class_declaration enum_declaration"
)
COMMENTS = {
    "rust": "line_comment block_comment",
    "java": "line_comment block_comment",
    "kotlin": "line_comment block_comment",
    "swift": "comment multiline_comment",
    "scala": "comment block_comment",
    "haskell": "comment haddock",
    "perl": "comments",
}
_COMMENT_TYPES = {"comment", "line_comment", "block_comment", "multiline_comment", "haddock"} | {
    "comments"
}
_SKIPPED_SIBLINGS = {"attribute_item", "decorator", "signature", "annotation", "attribute_list"}
_WRAPPERS = {
    "export_statement", "decorated_definition", "template_declaration", "lexical_declaration",
    "variable_declaration", "expression_statement", "ambient_declaration", "body_statement_first",
}  # fmt: skip
_VALUE_FUNCTIONS = {"arrow_function", "function_expression", "function", "function_definition"}
_NAMED_VALUES = {
    "variable_declarator": "value", "assignment_expression": "right", "pair": "value",
}  # fmt: skip
_CONTAINERS = re.compile(
    r"class|interface|struct|trait|impl_item|module|object_|protocol|namespace|enum"
)


@dataclass
class Passage:
    """A definition as text, with its documentation apart."""

    language: str
    name: str
    text: str
    signature: str
    enclosing: tuple[str, ...]
    comments: str
    documentation: str
    is_test: bool
    calls: frozenset[str] = field(default_factory=frozenset)


@cache
def _tools(language: str) -> tuple[Parser, Query]:
    grammar = get_language(language)
    nodes = FUNCTIONS[language].split()
    comments = COMMENTS.get(language, "comment").split()
    source = "\n".join([f"({node}) @definition" for node in nodes])
    source += "\n" + "\n".join(f"({node}) @comment" for node in comments)
    return Parser(grammar), Query(grammar, source)


def passages(path: str, data: bytes, language: str) -> Iterator[Passage]:
    """Yield the definitions of one file."""
    parser, query = _tools(language)
    tree = parser.parse(data)
    captures = QueryCursor(query).captures(tree.root_node)
    comments = sorted((c.start_byte, c.end_byte) for c in captures.get("comment", ()))
    starts = [start for start, _ in comments]
    in_tests = bool(re.search(r"(^|/)(tests?|specs?|__tests__)/|[._]test\.|[._]spec\.|^test_|"
                              r"/test_|Tests?\.(java|cs|kt|swift)$", path))  # fmt: skip
    # Captures come in no certain order; what is chosen at random later must not hang on it.
    for node in sorted(captures.get("definition", ()), key=lambda node: node.byte_range):
        name = _name(node, language)
        if not name or node.end_byte - node.start_byte < 30:
            continue
        outer = _outer(node)
        documentation, inner = _documentation(node, outer, data, language)
        end = min(outer.end_byte, outer.start_byte + MAX_PASSAGE_BYTES)
        raw = data[outer.start_byte : end]
        if inner is not None:
            raw = data[outer.start_byte : min(inner[0], end)] + data[min(inner[1], end) : end]
        first, last = bisect_left(starts, outer.start_byte), bisect_left(starts, end)
        remarks = b" ".join(data[a:b] for a, b in comments[first:last])
        text = raw.decode("utf-8", "replace")
        yield Passage(
            language, name, text, _signature(node, data), _enclosing(outer),
            remarks.decode("utf-8", "replace"), documentation,
            in_tests or name.lower().startswith("test"),
        )  # fmt: skip


def _name(node: Node, language: str) -> str:
    if language == "elixir":
        return _elixir_name(node)
    value_field = _NAMED_VALUES.get(node.type)
    if value_field is not None:
        value = node.child_by_field_name(value_field)
        if value is None or value.type not in _VALUE_FUNCTIONS:
            return ""
        named = node.child_by_field_name("name" if node.type == "variable_declarator" else (
            "left" if node.type == "assignment_expression" else "key"))  # fmt: skip
        return _last_identifier(named)
    if node.type == "assignment_statement" and b"function" not in (node.text or b"")[:120]:
        return ""
    if node.type == "type_declaration":
        node = node.named_children[0] if node.named_children else node
    if language in {"c", "cpp"} and node.type == "function_definition":
        return _declarator_name(node)
    return _last_identifier(node.child_by_field_name("name"))


def _last_identifier(node: Node | None) -> str:
    if node is None or node.text is None:
        return ""
    found = re.findall(rb"[\w$]+[!?]?", node.text[-120:])
    return found[-1].decode("utf-8", "replace") if found else ""


def _declarator_name(node: Node) -> str:
    declarator = node.child_by_field_name("declarator")
    for _ in range(8):
        if declarator is None:
            return ""
        if declarator.type == "function_declarator":
            return _last_identifier(declarator.child_by_field_name("declarator"))
        inner = declarator.child_by_field_name("declarator")
        declarator = inner or (declarator.named_children[-1] if declarator.named_children else None)
    return ""


def _elixir_name(node: Node) -> str:
    found = re.match(rb"defp?\s+([\w?!]+)|defmodule\s+([\w.]+)", (node.text or b"")[:200])
    return (found.group(1) or found.group(2)).decode() if found else ""


def _outer(node: Node) -> Node:
    outer = node
    while outer.parent is not None and outer.parent.type in _WRAPPERS:
        outer = outer.parent
    return outer


def _documentation(
    node: Node, outer: Node, data: bytes, language: str
) -> tuple[str, tuple[int, int] | None]:
    """Return the documentation, and its bytes when it lies inside the definition."""
    if language == "python":
        body = node.child_by_field_name("body")
        first = body.named_children[0] if body is not None and body.named_children else None
        if first is not None and first.type == "expression_statement" and first.named_children:
            first = first.named_children[0]
        if first is not None and first.type == "string":
            return data[first.start_byte : first.end_byte].decode("utf-8", "replace"), (
                first.start_byte, first.end_byte)  # fmt: skip
        return "", None
    found: list[str] = []
    below = outer
    previous = outer.prev_named_sibling or (
        outer.parent.prev_named_sibling
        if outer.parent is not None and outer.parent.type in {"declarations", "body_statement"}
        else None
    )
    while previous is not None:
        if previous.type == "unary_operator" and language == "elixir":
            if (previous.text or b"").startswith((b"@doc", b"@moduledoc")):
                return (previous.text or b"").decode("utf-8", "replace"), None
        elif previous.type in _COMMENT_TYPES:
            text = previous.text or b""
            # A blank line parts a comment from what follows, unless it is a documentation block.
            if below.start_point[0] - previous.end_point[0] > 1 + text.startswith(b"/**"):
                break
            found.append(text.decode("utf-8", "replace"))
        elif previous.type not in _SKIPPED_SIBLINGS:
            break
        below, previous = previous, previous.prev_named_sibling
    return "\n".join(reversed(found)), None


def _signature(node: Node, data: bytes) -> str:
    body = node.child_by_field_name("body")
    end = min(body.start_byte if body is not None else node.end_byte, node.start_byte + 300)
    head = data[node.start_byte : end].decode("utf-8", "replace")
    return "\n".join(head.splitlines()[:4])


def _enclosing(node: Node) -> tuple[str, ...]:
    names: list[str] = []
    above = node.parent
    while above is not None:
        if _CONTAINERS.search(above.type):
            named = above.child_by_field_name("name") or above.child_by_field_name("type")
            if named is not None and named.text is not None and len(named.text) < 80:
                names.append(named.text.decode("utf-8", "replace"))
        above = above.parent
    return tuple(reversed(names))


_RAISING = re.compile(
    r"(?:raise|throw|panic!?|errors\.New|Errorf|bail!|Err\(|error\(|fatal\w*\(|die\()"
    r"[^\"'\n]{0,60}(?:\"([^\"\n]{12,160})\"|'([^'\n]{12,160})')"
)
_PLACEHOLDER = re.compile(r"%[-+#\d.]*[a-zA-Z]|\{[^{}]*\}|\$\{?[\w.]+\}?|\\[nt\"']")


def error_text(text: str) -> str:
    """Return the first message the code raises, without its placeholders, or nothing."""
    found = _RAISING.search(text)
    if not found:
        return ""
    message = _PLACEHOLDER.sub(" ", found.group(1) or found.group(2))
    return message if len(re.findall(r"[A-Za-z]{2,}", message)) >= 3 else ""


_MARKERS = re.compile(
    r"^[ \t]*(?:/\*\*?!?|\*/|\*(?!\*)|///?!?|//!|#+!?|--+\s?\||--+|;+|\"\"\"|r?'''|"
    r"\{-\||-\})[ \t]?|"
    r"\*/[ \t]*$",
    re.MULTILINE,
)
_TAGS = re.compile(
    r"^[ \t]*(?:[@\\](?:param|returns?|throws|exception|see|since|author|type|private|public|api|"
    r"example|deprecated|internal|template|tparam|typeparam|property|default|memberof|override|link"
    r"|var|access|static|class|method|module|function|name|ingroup|retval|note|code)\b"
    r"|:(?:param|type|returns?|rtype|raises|arg)|"
    r"(?:Args|Arguments|Parameters|Params|Returns?|Raises|Yields|Examples?|Notes?|See Also|"
    r"Attributes|Usage|References|Throws|Since|Safety|Panics|Errors|Options)\s*:?[ \t]*$|"
    r"(?:Args|Arguments|Parameters|Returns|Raises|Yields|Example|Usage)\s*:|#+ |>>>|\.\. |```|"
    r"[-=~]{4,})",
    re.MULTILINE | re.IGNORECASE,
)
_BRIEF = re.compile(r"^[ \t]*[@\\](?:brief|short|details|summary|desc(?:ription)?|doc|moduledoc)\b")
_MARKUP = re.compile(
    r"</?(?:summary|p|code|pre|c|remarks|em|b|i|tt|para|li|ul|a|br|strong)\b[^>]*>|"
    r"\{@(?:link|code|linkplain|inheritDoc|literal)\s*([^}]*)\}|:\w+:`~?([^`]*)`|"
    r"<see(?:also)? c?href?=\"(?:\w:)?([^\"]*)\"\s*/>|\[`?([^\]`]+)`?\](?:\([^)]*\))?|[`]+"
)
GENERATED = re.compile(
    rb"generated by|do not edit|auto-?generated|@generated|machine generated", re.IGNORECASE
)
_UNWANTED = re.compile(
    r"copyright|licen[sc]e|all rights reserved|inheritdoc|auto-?generated|do not edit|eslint|"
    r"noinspection|noqa|pylint|clang-format|TODO|FIXME|XXX|non-javadoc|@suppress",
    re.IGNORECASE,
)


def split_documentation(raw: str, name: str) -> tuple[str, str]:
    """Return what a documentation comment says first, as a query, and the rest.

    A leading ``name`` (``Len returns the length``) is taken off: it would make the pair trivial.
    The query is the first paragraph without markup, at most 60 words; both are empty when the
    comment is a licence, a note to a tool, code that was commented out, or says nothing.
    """
    text = re.sub(r"^\s*@(?:module)?doc\s+~?[sS]?\"\"\"|^[rRbBuUfF]{0,2}(\"\"\"|'''|\"|')|"
                  r"(\"\"\"|'''|\"|')\s*$", "", raw.strip())  # fmt: skip
    text = _MARKERS.sub("", text)
    text = _MARKUP.sub(lambda m: " " + next((g for g in m.groups() if g), "") + " ", text)
    lines = [_BRIEF.sub("", line) for line in text.splitlines()]
    text = "\n".join(lines).strip()
    tag = _TAGS.search(text)
    prose = text[: tag.start()] if tag else text
    rest = text[tag.start() :] if tag else ""
    paragraphs = [" ".join(p.split()) for p in re.split(r"\n\s*\n", prose) if p.strip()]
    if not paragraphs or _UNWANTED.search(text[:400]):
        return "", ""
    first = paragraphs[0]
    sentence = re.match(r".{30,}?[.!?](?=\s+[A-Z])", first)
    query = sentence.group(0) if sentence and len(first) > 240 else first
    rest = " ".join([first[len(query) :], *paragraphs[1:], rest])
    query = query.removeprefix(f"{name} ") if name else query
    return (query, rest[:1200]) if is_prose(query) else ("", "")


def is_prose(text: str) -> bool:
    """Whether a text reads as words, not as code, and is no longer than a paragraph."""
    words = re.findall(r"[^\W\d_]{2,}", text)
    odd = len(re.findall(r"[;{}=<>|&$\\]", text))
    return 3 <= len(words) <= 70 and odd <= len(words) / 4 and len(text) < 700


_HEADING = re.compile(r"^(?:#{1,5} +(.+?)#*|([^\n]{3,80})\n[=\-~^\"']{3,})[ \t]*$", re.MULTILINE)
_FENCE = re.compile(
    r"```[ \t]*(\w*)[^\n]*\n(.*?)\n[ \t]*```|"
    r"(?:\.\. code-block:: *(\w+)|::)[ \t]*\n(?:[ \t]+:[^\n]*\n)*\n((?:[ \t]+[^\n]*\n|\n)+)",
    re.DOTALL,
)


def code_blocks(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield (heading and paragraph before it, code, language) for each block of a document."""
    headings = [(m.start(), (m.group(1) or m.group(2)).strip()) for m in _HEADING.finditer(text)]
    places = [start for start, _ in headings]
    for block in _FENCE.finditer(text):
        code = block.group(2) or block.group(4) or ""
        if not 40 <= len(code) <= 3000:
            continue
        at = bisect_left(places, block.start()) - 1
        heading = headings[at][1] if at >= 0 else ""
        since = max(places[at] if at >= 0 else 0, block.start() - 800)
        before = [p for p in re.split(r"\n\s*\n", text[since : block.start()]) if p.strip()]
        paragraph = " ".join(before[-1].split()) if before else ""
        paragraph = _MARKUP.sub(
            lambda m: " " + next((g for g in m.groups() if g), "") + " ", paragraph
        )
        query = f"{heading}. {paragraph}" if heading not in paragraph else paragraph
        if is_prose(query):
            yield query, code, block.group(1) or block.group(3) or ""
