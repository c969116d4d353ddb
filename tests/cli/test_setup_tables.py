"""Files of agents in TOML and YAML, in the forms that people write them."""

import tomllib
from typing import Any

import pytest

from wherein.cli.setup.jsonc import with_member
from wherein.cli.setup.plan import insertion_between, without_insertion
from wherein.cli.setup.tables import with_toml_table, without_toml_table
from wherein.cli.setup.yaml_entries import find_yaml_entry, with_yaml_entry, without_yaml_entry
from wherein.errors import UsageError

SERVER: dict[str, object] = {"name": "wherein", "command": "/opt/my tools/wherein", "args": ["mcp"]}
EXTENSION: dict[str, object] = {
    "type": "stdio",
    "name": "wherein",
    "cmd": "wherein",
    "args": ["mcp"],
    "envs": {},
}
OLD_SERVER = "  - name: wherein\n    command: old\n    args:\n      - x\n"
OTHER = "  - name: other\n    command: y\n"

LISTS = {
    "blank": "",
    "comment only": "# mine\n",
    "no key": "a: 1",
    "others": f"a: 1 # c\nmcpServers:\n{OTHER}b: 2\n",
    "no line end": f"mcpServers:\n{OTHER}".rstrip("\n"),
    "nothing below": "a: 1\nmcpServers:",
    "carriage returns": f"a: 1\nmcpServers:\n{OTHER}b: 2\n".replace("\n", "\r\n"),
    "mark of byte order": f"\ufeffmcpServers:\n{OTHER}",
    "empty brackets": "mcpServers: []\nb: 1\n",
    "brackets": "mcpServers: [{name: other, command: y}] # c\nb: 1\n",
    "brackets on lines": "mcpServers: [\n  {name: other, command: y},\n  ]\nb: 1\n",
    "quoted key": f'"mcpServers":\n{OTHER}b: 2\n',
    "blank before colon": f"mcpServers :\n{OTHER}b: 2\n",
    "no indent": "mcpServers:\n- name: other\n  command: y\nb: 2\n",
    "comment above the first": f"mcpServers: # servers\n  # first\n{OTHER}b: 2\n",
    "key in a text": f"text: |\n  mcpServers:\n    - name: wherein\nmcpServers:\n{OTHER}",
    "key inside another": "x:\n  mcpServers:\n    - name: other\n      command: y\n",
    "our name inside another": f"mcpServers:\n{OTHER}    env:\n      wherein:\n        a: 1\n",
    "start of document": f"---\na: 1\nmcpServers:\n{OTHER}",
}
HELD = {
    "first": f"mcpServers:\n{OLD_SERVER}{OTHER}b: 2\n",
    "last": f"mcpServers:\n{OTHER}{OLD_SERVER}\n# about b\nb: 2\n",
    "alone": f"mcpServers:\n{OLD_SERVER}b: 2\n",
    "with a comment": f"mcpServers:\n  - name: wherein # mine\n    command: old\n{OTHER}",
    "name second": f"mcpServers:\n  - command: old\n    name: 'wherein'\n{OTHER}",
    "in braces": f"mcpServers:\n{OTHER}  - {{name: wherein, command: old}}\nb: 1\n",
    "in brackets": "mcpServers: [{name: wherein, command: old}, {name: other}]\n",
    "last in brackets": "mcpServers: [{name: other}, {name: wherein, command: old}]\n",
}


def load(text: str) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(text) or {}


def without_ours(text: str) -> dict[str, Any]:
    found = load(text)
    items: list[dict[str, Any]] = found.pop("mcpServers", None) or []
    rest = [item for item in items if item["name"] != "wherein"]
    return {**found, "mcpServers": rest} if rest else found


@pytest.mark.parametrize("text", (LISTS | HELD).values(), ids=(LISTS | HELD).keys())
def test_a_yaml_list_gets_our_entry_once_and_keeps_all_others(text: str) -> None:
    changed = with_yaml_entry(text, "mcpServers", "wherein", SERVER)

    named = [item for item in load(changed)["mcpServers"] if item["name"] == "wherein"]
    assert named == [SERVER]
    assert find_yaml_entry(changed, "mcpServers", "wherein") == SERVER
    assert without_ours(changed) == without_ours(text)
    assert with_yaml_entry(changed, "mcpServers", "wherein", SERVER) == changed
    assert without_insertion(changed, insertion_between(text, changed)) == text


@pytest.mark.parametrize("text", (LISTS | HELD).values(), ids=(LISTS | HELD).keys())
def test_our_yaml_entry_is_taken_out_by_its_form(text: str) -> None:
    changed = with_yaml_entry(text, "mcpServers", "wherein", SERVER)

    bare = without_yaml_entry(changed, "mcpServers", "wherein")

    assert find_yaml_entry(bare, "mcpServers", "wherein") is None
    assert without_ours(bare) == without_ours(text)


@pytest.mark.parametrize(
    "text",
    [
        "extensions:\n  other:\n    wherein:\n      a: 1\nb: 2\n",
        "extensions: {other: {cmd: y}}\nb: 2\n",
        "extensions:\n  other: {cmd: y}\n  wherein: {cmd: old}\nb: 2\n",
        "extensions:\n  wherein:\n    cmd: old\n\n    args:\n      - x\n  other:\n    cmd: y\n",
        "extensions:\n    'wherein': # mine\n        cmd: old\n    other:\n        cmd: y\n",
    ],
)
def test_a_yaml_mapping_gets_our_entry_and_keeps_all_others(text: str) -> None:
    changed = with_yaml_entry(text, "extensions", "wherein", EXTENSION)

    before, after = load(text), load(changed)
    assert after["extensions"].pop("wherein") == EXTENSION
    before["extensions"].pop("wherein", None)
    assert after == before
    assert with_yaml_entry(changed, "extensions", "wherein", EXTENSION) == changed
    assert without_insertion(changed, insertion_between(text, changed)) == text


@pytest.mark.parametrize(
    "text",
    [
        "a: [1\n",
        "- a\n",
        '{"a": 1}\n',
        "a: 1\n---\nb: 1\n",
        "mcpServers: hello\n",
        "mcpServers:\n\to: 1\n",
        "mcpServers: &all\n  - name: other\nb: *all\n",
        "mcpServers:\n  other:\n    command: y\n",
    ],
)
def test_a_yaml_file_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        with_yaml_entry(text, "mcpServers", "wherein", SERVER)


def test_very_deep_yaml_is_no_crash() -> None:
    text = "mcpServers:\n  - name: wherein\n    x: " + "[" * 3000 + "]" * 3000 + "\n"

    changed = with_yaml_entry(text, "mcpServers", "wherein", SERVER)

    assert find_yaml_entry(changed, "mcpServers", "wherein") == SERVER


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 100_000 + "]" * 100_000 + "\n",
        "a = " + "{b=" * 1000 + "1" + "}" * 1000 + "\n",
        "a = " + "9" * 10_000 + "\n",
        "mcp_servers = 3\n",
        "mcp_servers = { other = { command = 'y' } }\n",
        'x = """\n[mcp_servers.wherein]\nq = 1\n"""\n',
    ],
)
def test_a_toml_file_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        with_toml_table(text, "mcp_servers", "wherein", {"command": "wherein"})


def test_a_very_deep_toml_name_is_no_crash() -> None:
    text = "[" + ".".join(["a"] * 5000) + "]\nb = 1\n"
    try:
        changed = with_toml_table(text, "mcp_servers", "wherein", {"command": "wherein"})
    except UsageError:  # up to Python 3.12 such a file cannot be read
        return
    assert changed.startswith(text)
    assert tomllib.loads(changed)["mcp_servers"] == {"wherein": {"command": "wherein"}}


def test_a_toml_table_is_taken_out_only_where_nothing_else_goes_with_it() -> None:
    plain = (
        '[mcp_servers.wherein]\ncommand = "w"\n[mcp_servers.wherein.env]\nA = "1"\n\n[b]\nc = 1\n'
    )
    quoted = 'x = """\n[mcp_servers.wherein]\nq = 1\n"""\n'

    assert tomllib.loads(without_toml_table(plain, "mcp_servers", "wherein")) == {"b": {"c": 1}}
    with pytest.raises(UsageError):
        without_toml_table(quoted, "mcp_servers", "wherein")


def test_a_number_of_too_many_digits_in_our_own_entry_is_replaced() -> None:
    text = '{"mcpServers": {"wherein": ' + "9" * 10_000 + "}}"

    assert with_member(text, ("mcpServers", "wherein"), {}) == '{"mcpServers": {"wherein": {}}}'
