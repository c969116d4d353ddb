import inspect
import json
from pathlib import Path

import jsonschema
import pytest
from tests.cli.sandbox import Sandbox

from wherein.cli.commands import OWN_COMMANDS, command_names, commands
from wherein.cli.help import command_help
from wherein.cli.reference import pages
from wherein.errors import UsageError
from wherein.mcp.listing import list_entries
from wherein.tools.registry import Face, ParameterType, load, read_arguments, tools

ROOT = Path(__file__).parents[2]
TOOLS = {tool.name: tool for tool in commands()}


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_tool_and_its_function_have_the_same_arguments(name: str) -> None:
    tool = TOOLS[name]
    taken = dict(list(inspect.signature(load(tool.function)).parameters.items())[1:])

    assert taken.keys() == {item.name for item in tool.parameters} - {"max_tokens"}
    for item in tool.parameters:
        if item.name in taken and not item.is_required:
            assert taken[item.name].default == item.default, item.name


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_tool_explains_itself(name: str) -> None:
    tool = TOOLS[name]

    assert inspect.getdoc(load(tool.function))
    assert len(tool.summary) <= 200
    assert "\n" not in tool.summary
    assert all(item.help for item in tool.parameters)


def test_names_and_aliases_do_not_clash() -> None:
    for tool in TOOLS.values():
        names = [name for item in tool.parameters for name in (item.name, *item.aliases)]
        flags = [flag for item in tool.parameters for flag in (*item.flags, *item.off_flags)]
        assert len(names) == len(set(names)), tool.name
        assert len(flags) == len(set(flags)), tool.name


def test_the_three_faces_offer_the_same_tools_and_arguments() -> None:
    cli = (ROOT / "docs/reference/cli.md").read_text("utf-8")
    mcp = (ROOT / "docs/reference/mcp.md").read_text("utf-8")
    entries = {str(entry["name"]): entry for entry in list_entries()}

    assert set(entries) == {tool.name for tool in tools(Face.MCP)}
    assert [name for name in command_names() if f"## wherein {name}\n" not in cli] == []
    for name, entry in entries.items():
        schema = entry["inputSchema"]
        assert isinstance(schema, dict)
        for argument in schema["properties"]:
            assert f"| `{argument}`" in mcp, (name, argument)
            if Face.CLI in TOOLS[name].parameter(argument).faces:
                assert argument in {item.name for item in TOOLS[name].for_face(Face.CLI)}


@pytest.mark.parametrize("name", sorted(pages()))
def test_generated_pages_are_up_to_date(name: str) -> None:
    assert (ROOT / name).read_text("utf-8") == pages()[name], "run python -m wherein.cli.reference"


def test_every_signal_that_a_score_can_be_explained_by_is_in_the_reference() -> None:
    weights = json.loads((ROOT / "src/wherein/search/data/weights.json").read_text("utf-8"))
    page = (ROOT / "docs/reference/signals.md").read_text("utf-8")

    names = {name for kind in weights["sets"].values() for name in kind["weights"]}

    assert len(names) > 60
    assert (
        sorted(name for name in {*names, "glossary", "reranker"} if f"| `{name}` |" not in page)
        == []
    )


def test_every_command_has_help(sandbox: Sandbox) -> None:
    overview = sandbox.run("--help").stdout

    for tool in TOOLS.values():
        assert f"  {tool.name.replace('_', '-')}" in overview
        assert command_help(tool).startswith(f"usage: wherein {tool.name.replace('_', '-')}")
    assert sandbox.run("search", "--help").stdout == command_help(TOOLS["search"])
    assert {tool.name for tool in OWN_COMMANDS} <= set(TOOLS)


@pytest.mark.parametrize(
    "words",
    [
        ("search", "retry"),
        ("similar", "src/retry.py:4"),
        ("status",),
        ("index",),
        ("clear",),
        ("grep", "retry"),
        ("grep", "retry", "--output", "content"),
        ("glob", "**/*.py"),
        ("read", "src/retry.py:1-3"),
        ("config",),
    ],
    ids=" ".join,
)
def test_json_lines_follow_the_shipped_schema(shop: Sandbox, words: tuple[str, ...]) -> None:
    import wherein

    folder = Path(wherein.__file__).parent / "schemas"
    schema = json.loads((folder / f"{words[0]}.json").read_text("utf-8"))

    rows = shop.run(*words, "--json").rows()

    assert rows
    for row in rows:
        jsonschema.validate(row, schema)


def test_arguments_are_read_into_their_types() -> None:
    grep = TOOLS["grep"]

    read = read_arguments(grep, {"pattern": "x", "path": "src", "limit": "5", "fixed": "true"})

    assert read["pattern"] == ("x",)
    assert read["path"] == ("src",)
    assert (read["limit"], read["fixed"], read["case"]) == (5, True, "sensitive")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "search needs the argument 'query'"),
        ({"query": 7}, "search: query cannot be 7"),
        ({"query": "x", "limit": 0}, "search: limit cannot be 0"),
        ({"query": "x", "limit": True}, "search: limit cannot be True"),
        ({"query": "x", "limit": float("nan")}, "search: limit cannot be nan"),
        ({"query": "x", "content": "cod"}, "search: content cannot be 'cod'"),
        ({"query": "x", "lang": ["a", 3]}, "search: lang cannot be ['a', 3]"),
        ({"query": "x" * 300_000}, "search: query has 300000 characters"),
    ],
)
def test_a_wrong_argument_is_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_arguments(TOOLS["search"], arguments)

    assert caught.value.message == message
    assert caught.value.hint


def test_no_help_shows_an_empty_default() -> None:
    for tool in TOOLS.values():
        assert "(default: )" not in command_help(tool), tool.name


@pytest.mark.parametrize(
    ("tool", "arguments", "hint"),
    [
        ("similar", {"path": "a.py:3"}, "place is where the code is"),
        ("similar", {"pathh": "a.py:3"}, "place is where the code is"),
        ("similar", {"file_pth": "a.py:3"}, "did you mean 'place'?"),
        ("similar", {"place": "a.py:3", "pathh": "src"}, "did you mean 'path'?"),
        ("search", {"qurey": "x"}, "did you mean 'query'?"),
        ("search", {"query": "x", "zzz": 1}, "its arguments are query, "),
    ],
)
def test_a_hint_names_the_argument_that_is_missing_first(
    tool: str, arguments: dict[str, object], hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        read_arguments(TOOLS[tool], arguments)

    assert caught.value.hint.startswith(hint)


def test_lists_are_the_only_repeated_options() -> None:
    for tool in TOOLS.values():
        positional = [item for item in tool.for_face(Face.CLI) if item.is_positional]
        many = [
            item for item in positional if item.type is ParameterType.TEXTS and not item.takes_one
        ]
        assert len(many) <= 1, tool.name
        assert not many or positional[-1] is many[0], tool.name


def test_a_list_written_as_a_json_text_is_that_list_and_a_pattern_stays_a_pattern() -> None:
    found = {tool.name: tool for tool in tools()}
    assert read_arguments(found["read"], {"target": '["a.py:1", "b c.py"]'})["target"] == (
        "a.py:1",
        "b c.py",
    )
    for odd in ('["unclosed', '["a", 1]"]', "[id]/page.tsx", '["a"'):
        assert read_arguments(found["read"], {"target": odd})["target"] == (odd,)
    assert read_arguments(found["grep"], {"pattern": '["a"]'})["pattern"] == ('["a"]',)


def test_a_choice_that_is_not_there_is_answered_with_all_that_are() -> None:
    found = {tool.name: tool for tool in tools()}
    with pytest.raises(UsageError) as caught:
        read_arguments(found["grep"], {"pattern": "x", "case": "insensitive"})
    assert caught.value.hint == "it is one of sensitive, ignore, smart"
    with pytest.raises(UsageError) as caught:
        read_arguments(found["grep"], {"pattern": "x", "output": "Content"})
    assert caught.value.hint == "did you mean 'content'?"


@pytest.mark.parametrize(
    ("raw", "output"),
    [
        ({}, None),
        ({"-n": True}, "content"),
        ({"-n": False}, None),
        ({"-c": "true"}, "count"),
        ({"output_mode": "files_with_matches"}, "files"),
        ({"output_mode": "files_with_matches", "-n": True}, "files"),
        ({"-n": True, "output": "count"}, "count"),
    ],
)
def test_what_other_greps_are_asked_with_is_understood(
    raw: dict[str, object], output: str | None
) -> None:
    found = {tool.name: tool for tool in tools()}
    assert read_arguments(found["grep"], {"pattern": "x", **raw})["output"] == output
