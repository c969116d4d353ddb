"""Works out what to write: the texts before and after, exact inverses, nothing on disk."""

from __future__ import annotations

from dataclasses import dataclass

from wherein.cli.setup.jsonc import with_member, without_member
from wherein.cli.setup.marked import is_ours, with_block, without_block
from wherein.cli.setup.tables import with_toml_table, without_toml_table
from wherein.cli.setup.targets import OWN_MARK, Kind, Target
from wherein.cli.setup.yaml_entries import with_yaml_entry, without_yaml_entry
from wherein.errors import UsageError

__all__ = ["Insertion", "insertion_between", "with_target", "without_insertion", "without_target"]


@dataclass(frozen=True, slots=True)
class Insertion:
    """What install put into a file: ``text`` stands where ``replaced`` stood before."""

    at: int
    text: str
    replaced: str


def with_target(text: str, target: Target) -> str:
    """Return the file's text with our part in it.

    Raises:
        UsageError: The file cannot be edited, or a whole file of that name is not ours.
    """
    match target.kind:
        case Kind.JSON:
            return with_member(text, target.keys, dict(target.value))
        case Kind.TOML:
            return with_toml_table(text, target.keys[0], target.keys[1], target.value)
        case Kind.YAML:
            return with_yaml_entry(
                text or target.text, target.keys[0], target.keys[1], target.value
            )
        case Kind.BLOCK:
            return with_block(text, target.text)
        case _:
            if text and not _is_ours(text):
                message = "the file exists and is not ours"
                raise UsageError(message, hint="move it away, or leave that client out")
            return target.text


def without_target(text: str, target: Target) -> str:
    """Return the file's text without our part, found by its form."""
    match target.kind:
        case Kind.JSON:
            return without_member(text, target.keys)
        case Kind.TOML:
            return without_toml_table(text, target.keys[0], target.keys[1])
        case Kind.YAML:
            rest = without_yaml_entry(text, target.keys[0], target.keys[1])
            return "" if target.text and rest == target.text else rest
        case Kind.BLOCK:
            return without_block(text)
        case _:
            return "" if _is_ours(text) else text


def _is_ours(text: str) -> bool:
    return is_ours(text) or OWN_MARK in text


def insertion_between(before: str, after: str) -> Insertion:
    """Return the one change that leads from ``before`` to ``after``."""
    start = 0
    shortest = min(len(before), len(after))
    while start < shortest and before[start] == after[start]:
        start += 1
    end = 0
    while end < shortest - start and before[-1 - end] == after[-1 - end]:
        end += 1
    stop = len(after) - end
    return Insertion(start, after[start:stop], before[start : len(before) - end])


def without_insertion(text: str, insertion: Insertion) -> str | None:
    """Return ``text`` with the insertion undone; None when it does not stand there once."""
    at = insertion.at
    if text[at : at + len(insertion.text)] != insertion.text:
        if text.count(insertion.text) != 1:
            return None
        at = text.index(insertion.text)
    return text[:at] + insertion.replaced + text[at + len(insertion.text) :]
