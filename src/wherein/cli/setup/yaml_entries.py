"""Puts one entry below a top-level key of a YAML file, touching no other byte.

The grammar says where things stand and the text is cut there; a result that does not read back as
what was there and our entry is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from wherein.errors import UsageError

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["find_yaml_entry", "with_yaml_entry", "without_yaml_entry"]

_HAND = "mend the file by hand, then run install again"
_PAIRS = frozenset({"block_mapping_pair", "flow_pair"})
_LISTS = frozenset({"block_sequence", "flow_sequence"})
_MAPS = frozenset({"block_mapping", "flow_mapping"})
_MAX_DEPTH = 20
"""Of an entry that is compared with ours; ours has two levels."""


@dataclass(frozen=True, slots=True)
class _Section:
    """What stands below the top-level key."""

    pair: Node
    value: Node | None
    """A list or a mapping; None where nothing is written behind the key."""

    @property
    def items(self) -> tuple[Node, ...]:
        return () if self.value is None else _items(self.value)


def find_yaml_entry(text: str, key: str, name: str) -> object:
    """Return the entry ``name`` below ``key``, None when there is none.

    Raises:
        UsageError: The text is no YAML mapping, or holds a single value below the key.
    """
    section = _section(_pairs(text.encode()), key)
    found = [item for item in section.items if _name(item) == name] if section else []
    return _value(_entry(found[-1])) if found else None


def with_yaml_entry(text: str, key: str, name: str, entry: Mapping[str, object]) -> str:
    """Return ``text`` with an entry below the top-level ``key``, a mapping or a list of names.

    An entry with a ``name`` field and no ``type`` goes into a list (``- name: …``), any other into
    a mapping (``name: …``). It becomes the first below the key, which is added when absent. An
    entry that is equal already changes nothing.

    Raises:
        UsageError: The text is no YAML mapping, or the entry cannot be added to it.
    """
    if find_yaml_entry(text, key, name) == dict(entry):
        return text
    bare = without_yaml_entry(text, key, name)
    data = bare.encode()
    newline = "\r\n" if "\r\n" in bare else "\n"
    section = _section(_pairs(data), key)
    if section is None:
        lines = [f"{key}:", *_lines(name, entry, "  ")]
        gap = "" if not bare.strip("\ufeff") or bare.endswith("\n") else newline
        new = bare + gap + newline.join(lines) + newline
    elif section.value is not None and section.value.type.startswith("flow"):
        at = section.value.start_byte + 1
        flow = json.dumps(dict(entry), ensure_ascii=False)
        item = flow if section.value.type in _LISTS else f"{name}: {flow}"
        new = _spliced(data, at, at, item + (", " if section.items else ""))
    else:
        end = data.find(b"\n", section.pair.start_byte)
        at = len(data) if end < 0 else end + 1
        indent = "  " if section.value is None else " " * section.value.start_point[1]
        lines = _lines(name, entry, indent)
        new = _spliced(data, at, at, (newline if end < 0 else "") + newline.join(lines) + newline)
    if find_yaml_entry(new, key, name) != dict(entry) or _others(new, key, name) != _others(
        text, key, name
    ):
        message = f"{name!r} cannot be added below {key!r} in this file"
        raise UsageError(message, hint=_HAND)
    return new


def without_yaml_entry(text: str, key: str, name: str) -> str:
    """Return ``text`` without the entry below ``key``; a key with nothing left goes, too.

    Raises:
        UsageError: The entry cannot be taken out.
    """
    if name not in text:
        return text
    data = text.encode()
    section = _section(_pairs(data), key)
    items = section.items if section else ()
    found = [item for item in items if _name(item) == name]
    if section is None or section.value is None or not found:
        return text
    is_flow = section.value.type.startswith("flow")
    cut = [_flow_span(item) if is_flow else _line_span(data, item) for item in found]
    if not is_flow and len(found) == len(items):
        start = section.pair.start_byte
        cut.append((start, _line_end(data, start)))
    for start, end in sorted(cut, reverse=True):
        data = data[:start] + data[end:]
    new = data.decode()
    if _others(new, key, name) != _others(text, key, name):
        message = f"{name!r} cannot be taken out of {key!r} in this file"
        raise UsageError(message, hint="take it out by hand")
    return new


def _pairs(data: bytes) -> tuple[Node, ...]:
    """Return the pairs of the file's one mapping; none of a blank file."""
    from wherein.parse.grammars import parser

    root = parser("yaml").parse(data).root_node
    documents = [node for node in root.named_children if node.type == "document"]
    if not root.has_error and not documents:
        return ()
    if root.has_error or len(documents) > 1:
        raise _unreadable()
    (content, *more) = [_bare(node) for node in _named(documents[0]) if node.type.endswith("node")]
    if more or content is None or content.type != "block_mapping":
        raise _unreadable()
    return _items(content)


def _unreadable() -> UsageError:
    return UsageError("the file is not one YAML mapping", hint=_HAND)


def _section(pairs: tuple[Node, ...], key: str) -> _Section | None:
    found = [pair for pair in pairs if _name(pair) == key]
    if not found:
        return None
    value = found[-1].child_by_field_name("value")
    if value is None:
        return _Section(found[-1], None)
    bare = _bare(value)
    if bare is None or bare.type not in _LISTS | _MAPS:
        message = f"{key!r} holds no plain list or mapping"
        raise UsageError(message, hint=_HAND)
    return _Section(found[-1], bare)


def _named(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type != "comment"]


def _bare(node: Node) -> Node | None:
    """Return what a node wraps; None where it has an anchor or a tag, which others may refer to."""
    inner = _named(node)
    return inner[0] if len(inner) == 1 else None


def _items(value: Node) -> tuple[Node, ...]:
    return tuple(_named(value))


def _entry(item: Node) -> Node | None:
    """Return the value of a pair or of a list's item."""
    if item.type in _PAIRS:
        return item.child_by_field_name("value")
    return item if item.type == "flow_node" else next(iter(_named(item)), None)


def _name(item: Node) -> object:
    """Return a pair's key, or the ``name`` field of a list's item."""
    if item.type in _PAIRS:
        key = item.child_by_field_name("key")
        return _value(key)
    value = _value(_entry(item))
    return cast("dict[str, object]", value).get("name") if isinstance(value, dict) else None


def _value(node: Node | None, depth: int = 0) -> object:
    """Return what a node says, in the plain forms that are written here."""
    bare = None if node is None else _bare(node)
    if bare is None or depth > _MAX_DEPTH:
        return None if node is None else node.text
    if bare.type in _LISTS:
        return [_value(_entry(item), depth + 1) for item in _items(bare)]
    if bare.type in _MAPS:
        pairs = [item for item in _items(bare) if item.type in _PAIRS]
        return {str(_name(pair)): _value(_entry(pair), depth + 1) for pair in pairs}
    text = (bare.text or b"").decode()
    if bare.type == "single_quote_scalar":
        return text[1:-1].replace("''", "'")
    try:
        return json.loads(text)
    except ValueError:
        return text


def _others(text: str, key: str, name: str) -> list[bytes]:
    """Return the texts of everything but our entry, without the blanks that some nodes end with."""
    pairs = _pairs(text.encode())
    section = _section(pairs, key)
    rest = [pair for pair in pairs if _name(pair) != key]
    rest += [item for item in section.items if _name(item) != name] if section else []
    return [(node.text or b"").rstrip() for node in rest]


def _line_span(data: bytes, item: Node) -> tuple[int, int]:
    start = data.rfind(b"\n", 0, item.start_byte) + 1
    return start, _line_end(data, max(_last_byte(item), item.start_byte))


def _last_byte(item: Node) -> int:
    """Return the last byte of a node that is no blank: some end with the line, some behind it."""
    text = item.text or b""
    return item.start_byte + len(text.rstrip()) - 1


def _line_end(data: bytes, at: int) -> int:
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end + 1


def _flow_span(item: Node) -> tuple[int, int]:
    """Return the bytes of an item in brackets, with one comma beside it."""
    after, before = item.next_sibling, item.prev_sibling
    if after is not None and after.type == ",":
        following = after.next_sibling
        is_near = following is not None and following.start_point[0] == after.start_point[0]
        return item.start_byte, following.start_byte if following and is_near else after.end_byte
    is_comma = before is not None and before.type == ","
    return before.start_byte if before and is_comma else item.start_byte, item.end_byte


def _spliced(data: bytes, start: int, end: int, text: str) -> str:
    return (data[:start] + text.encode() + data[end:]).decode()


def _lines(name: str, entry: Mapping[str, object], indent: str) -> Iterator[str]:
    items = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    if entry.get("name") == name and "type" not in entry:
        yield f"{indent}- {items[0]}"
    else:
        yield f"{indent}{name}:"
        yield f"{indent}  {items[0]}"
    yield from (f"{indent}  {item}" for item in items[1:])
