import json
import os
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wherein.render.json_lines import dump, to_json
from wherein.walk.paths import parse_path

ANY_TEXT = st.text(st.characters(), max_size=40)
"""Surrogates included: names on disk that are not UTF-8 decode to them."""


class Color(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Value:
    path: str
    color: Color = Color.RED
    numbers: tuple[int, ...] = (1, 2)
    names: frozenset[str] = frozenset({"b", "a"})
    more: dict[str, Path] = field(default_factory=dict)
    _hidden: int = 3


def test_values_become_objects_of_their_public_fields() -> None:
    value = Value("a\nb.py", more={"x": Path("/y")})

    assert to_json(value) == {
        "path": "a\\nb.py",
        "color": "red",
        "numbers": [1, 2],
        "names": ["a", "b"],
        "more": {"x": "/y"},
    }


@settings(derandomize=True, max_examples=200)
@given(ANY_TEXT)
def test_any_text_stays_one_line_of_valid_json(text: str) -> None:
    line = dump({"text": text})

    assert len(line.splitlines()) == 1
    line.encode("utf-8")
    assert isinstance(json.loads(line)["text"], str)


@settings(derandomize=True, max_examples=200)
@given(st.binary(max_size=30).map(os.fsdecode))
def test_a_path_can_be_handed_back(path: str) -> None:
    shown = json.loads(dump(to_json(Value(path))))["path"]

    assert parse_path(shown) == path


def test_what_has_no_json_is_refused() -> None:
    with pytest.raises(TypeError):
        to_json(object())
    with pytest.raises(ValueError, match="JSON compliant"):
        dump(float("nan"))
