import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wherein.cli.setup.jsonc import find_member, with_member, without_member
from wherein.cli.setup.plan import insertion_between, without_insertion
from wherein.errors import UsageError

KEYS = ("mcpServers", "wherein")
VALUE = {"command": "wherein", "args": ["mcp"]}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(string.printable, max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=10,
)
OBJECTS = st.dictionaries(st.text(max_size=6) | st.just("mcpServers"), VALUES, max_size=4)


@settings(derandomize=True, max_examples=200)
@given(OBJECTS, st.sampled_from([None, 1, 2, 4, "\t"]), st.booleans())
def test_a_member_can_be_put_in_and_taken_out_again(
    data: dict[str, object], indent: int | str | None, has_crlf: bool
) -> None:
    if "mcpServers" in data and not isinstance(data["mcpServers"], dict):
        data["mcpServers"] = {}
    text = json.dumps(data, indent=indent)
    text = text.replace("\n", "\r\n") if has_crlf else text

    changed = with_member(text, KEYS, VALUE)
    undone = without_insertion(changed, insertion_between(text, changed))

    expected = {**data, "mcpServers": {**data.get("mcpServers", {}), "wherein": VALUE}}
    assert json.loads(changed) == expected
    assert with_member(changed, KEYS, VALUE) == changed
    assert undone == text
    without = json.loads(without_member(changed, KEYS))
    assert "wherein" not in without["mcpServers"]
    assert json.loads(changed.replace("\r\n", "\n")) == expected


@pytest.mark.parametrize(
    "text",
    [
        "// only a comment\n{\n}\n",
        '{ // c\n  "a": 1, /* d */\n}',
        '{"mcpServers": {"x": {}, /* y */ },}',
        '{"a": "}{", "b": ["//", {"c": "/*"}]}',
        '\ufeff{"a": 1}',
        "",
        "  \n",
    ],
)
def test_comments_trailing_commas_and_odd_strings_stay(text: str) -> None:
    changed = with_member(text, KEYS, VALUE)
    insertion = insertion_between(text, changed)

    assert find_member(changed, KEYS) == VALUE
    assert insertion.replaced == ""
    assert without_insertion(changed, insertion) == text


def test_another_value_is_replaced_where_it_stands() -> None:
    text = '{"mcpServers": {"wherein": {"command": "old"}, "z": 1}}'

    changed = with_member(text, KEYS, VALUE)

    assert json.loads(changed) == {"mcpServers": {"wherein": VALUE, "z": 1}}
    assert list(json.loads(changed)["mcpServers"]) == ["wherein", "z"]


@pytest.mark.parametrize("text", ["[]", "{", '{"a" 1}', '{"a": 1} x', "null", '{"a": [1}'])
def test_what_is_no_json_object_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        with_member(text, KEYS, VALUE)


def test_a_key_that_holds_no_object_is_refused() -> None:
    with pytest.raises(UsageError, match="holds no object"):
        with_member('{"mcpServers": []}', KEYS, VALUE)


def test_very_deep_nesting_is_refused_and_not_a_crash() -> None:
    text = '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"

    with pytest.raises(UsageError):
        with_member(text, KEYS, VALUE)
