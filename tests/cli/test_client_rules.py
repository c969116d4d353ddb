"""Each client's files, read back by the rules of that client's own schema or parser.

The rules are those named in benchmarks/results/clients-2026-12-01.md, written down here anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias, cast

import pytest
from tests.cli.sandbox import Sandbox

from wherein.cli.setup.jsonc import find_member

yaml = pytest.importorskip("yaml")

Fields: TypeAlias = dict[str, object]
_HEAD = re.compile(r"^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n([\s\S]*))?")


def _head(path: Path) -> Fields:
    """Return the YAML head of a Markdown file, whose body must not be empty."""
    match = _HEAD.match(path.read_text())
    assert match is not None
    assert match.group(2).strip()
    return cast("Fields", yaml.safe_load(match.group(1)))


def _member(path: Path, *keys: str) -> Fields:
    found = find_member(path.read_text(), keys)
    assert isinstance(found, dict), path
    return cast("Fields", found)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, str) for item in cast("list[object]", value)
    )


def _only(fields: Fields, names: Iterable[str]) -> bool:
    return not fields.keys() - set(names)


@pytest.mark.parametrize("scope", ["user", "project"])
def test_claude_code_reads_json_without_comments_and_a_list_of_tools(
    sandbox: Sandbox, scope: str
) -> None:
    sandbox.run("install", "claude-code", "--scope", scope)
    home, root = sandbox.home, sandbox.root
    servers = home / ".claude.json" if scope == "user" else root / ".mcp.json"
    folder = (home if scope == "user" else root) / ".claude"

    ours = json.loads(servers.read_text())["mcpServers"]["wherein"]
    agent = _head(folder / "agents" / "wherein-search.md")

    assert _only(ours, ("type", "command", "args", "env", "alwaysLoad"))
    assert (ours["type"], ours["args"], ours["alwaysLoad"]) == ("stdio", ["mcp"], True)
    assert agent["name"] == "wherein-search"
    tools = str(agent["tools"]).split(", ")
    assert set(tools) - {"Read"} == {f"mcp__wherein__{name}" for name in _TOOLS}


_TOOLS = ("search", "similar", "grep", "glob", "read")


def test_gemini_refuses_an_agent_with_unknown_fields_or_a_tool_that_is_no_name(
    sandbox: Sandbox,
) -> None:
    sandbox.run("install", "gemini")
    folder = sandbox.home / ".gemini"

    agent = _head(folder / "agents" / "wherein-search.md")
    ours = json.loads((folder / "settings.json").read_text())["mcpServers"]["wherein"]

    assert _only(agent, ("kind", "name", "description", "tools", "model", "max_turns"))
    assert re.fullmatch(r"[a-z0-9-_]+", str(agent["name"]))
    assert _is_texts(agent["tools"])
    for tool in cast("list[str]", agent["tools"]):
        prefix, server, name = tool.split("_", 2)
        assert (prefix, server) == ("mcp", "wherein")
        assert name in _TOOLS
    assert _only(ours, ("command", "args", "env", "cwd", "timeout", "trust", "includeTools"))


@pytest.mark.parametrize(
    ("client", "variable", "below"),
    [
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("qwen", "QWEN_HOME", "settings.json"),
        ("continue", "CONTINUE_GLOBAL_DIR", "mcpServers/wherein.yaml"),
        ("goose", "GOOSE_PATH_ROOT", "config/config.yaml"),
        ("goose", "APPDATA", "Block/goose/config/config.yaml"),
        ("zed", "APPDATA", "Zed/settings.json"),
    ],
)
def test_a_folder_that_the_clients_own_variable_names_is_used(
    sandbox: Sandbox, tmp_path: Path, client: str, variable: str, below: str
) -> None:
    variables = {**sandbox.variables, variable: str(tmp_path / "own")}
    replace(sandbox, variables=variables).run("install", client)

    assert "wherein" in (tmp_path / "own" / below).read_text()


def test_qwen_loads_the_tools_at_once_and_lists_those_of_the_agent(sandbox: Sandbox) -> None:
    sandbox.run("install", "qwen")
    folder = sandbox.home / ".qwen"

    ours = json.loads((folder / "settings.json").read_text())["mcpServers"]["wherein"]
    agent = _head(folder / "agents" / "wherein-search.md")

    assert ours["alwaysLoadTools"] is True
    assert agent["tools"] == [f"mcp__wherein__{name}" for name in _TOOLS]


_OPENCODE_1 = ("type", "command", "cwd", "environment", "enabled", "codemode", "timeout")
_OPENCODE_2 = ("type", "command", "cwd", "environment", "disabled", "codemode", "timeout")


def _opencode_servers(path: Path) -> dict[str, Fields]:
    """Return the servers as OpenCode 2 joins both forms; every entry must fit its form."""
    servers: dict[str, Fields] = {}
    mcp = _member(path, "mcp")
    native = cast("dict[str, Fields]", mcp.pop("servers", {}))
    for entries, fields in ((cast("dict[str, Fields]", mcp), _OPENCODE_1), (native, _OPENCODE_2)):
        for name, entry in entries.items():
            assert entry["type"] == "local"
            assert _is_texts(entry["command"])
            assert _only(entry, fields)
            assert name not in servers
            servers[name] = entry
    return servers


def test_opencode_keeps_the_tools_on_the_models_list_in_both_forms(sandbox: Sandbox) -> None:
    first = sandbox.home / ".config/opencode/opencode.json"
    second = sandbox.write(
        "opencode.json",
        '{"mcp": {"servers": {"other": {"type": "local", "command": ["o"]}}}, // native\n}\n',
    )
    before = second.read_bytes()
    sandbox.run("install", "opencode")
    sandbox.run("install", "opencode", "--scope", "project")

    assert _opencode_servers(first)["wherein"]["codemode"] is False
    both = _opencode_servers(second)
    assert both.keys() == {"other", "wherein"}
    assert both["wherein"]["codemode"] is False
    agent = _head(sandbox.root / ".opencode/agents/wherein-search.md")
    assert agent["mode"] == "subagent"
    assert agent["permission"] == {"edit": "deny", "bash": "deny"}

    sandbox.run("uninstall", "--scope", "project")
    assert second.read_bytes() == before


def test_an_entry_follows_when_opencodes_file_takes_the_other_form(sandbox: Sandbox) -> None:
    path = sandbox.write("opencode.json", '{\n  "mcp": {}\n}\n')
    sandbox.run("install", "opencode", "--scope", "project")
    other = '"servers": {"other": {"type": "local", "command": ["o"]}},'
    path.write_text(path.read_text().replace('"mcp": {', '"mcp": {\n    ' + other, 1))

    sandbox.run("install", "opencode", "--scope", "project")
    servers = _opencode_servers(path)
    sandbox.run("uninstall", "opencode", "--scope", "project")

    assert servers.keys() == {"other", "wherein"}
    assert "enabled" not in servers["wherein"]
    assert _opencode_servers(path).keys() == {"other"}


def _continue_entry(path: Path) -> Fields:
    """Return the one server of a block, which needs a name and a version as texts."""
    found = yaml.safe_load(path.read_text())
    assert isinstance(found["name"], str)
    assert isinstance(found["version"], str)
    (ours,) = found["mcpServers"]
    assert isinstance(ours["command"], str)
    assert _is_texts(ours["args"])
    return ours


@pytest.mark.parametrize("scope", ["user", "project"])
def test_continue_gets_a_block_and_no_configuration_of_its_own(
    sandbox: Sandbox, scope: str
) -> None:
    folder = (sandbox.home if scope == "user" else sandbox.root) / ".continue"
    sandbox.run("install", "continue", "--scope", scope)

    assert _continue_entry(folder / "mcpServers/wherein.yaml")["name"] == "wherein"
    assert _head(folder / "rules/wherein.md") == {"alwaysApply": True}
    assert not (folder / "config.yaml").exists()
    screen = sandbox.run("doctor", "--json")
    assert any(str(row["name"]).startswith("Continue (") for row in screen.rows())

    (sandbox.home / ".local/state/wherein/installed.json").unlink()
    sandbox.run("uninstall", "--scope", scope)
    assert not (folder / "mcpServers/wherein.yaml").exists()


def test_the_block_goes_when_continue_has_a_configuration(sandbox: Sandbox) -> None:
    folder = sandbox.home / ".continue"
    sandbox.run("install", "continue")
    (folder / "config.yaml").write_text("name: Mine\nversion: 1.0.0\nschema: v1\n")

    sandbox.run("install", "continue")
    moved = yaml.safe_load((folder / "config.yaml").read_text())
    block_is_there = (folder / "mcpServers/wherein.yaml").exists()
    sandbox.run("uninstall", "continue")

    assert [server["name"] for server in moved["mcpServers"]] == ["wherein"]
    assert not block_is_there
    assert (folder / "config.yaml").read_text() == "name: Mine\nversion: 1.0.0\nschema: v1\n"


def test_cursors_file_for_all_projects_names_no_workspace(sandbox: Sandbox) -> None:
    sandbox.run("install", "cursor")
    sandbox.run("install", "cursor", "--scope", "project")

    user = _member(sandbox.home / ".cursor/mcp.json", "mcpServers", "wherein")
    project = _member(sandbox.root / ".cursor/mcp.json", "mcpServers", "wherein")
    agent = _head(sandbox.home / ".cursor/agents/wherein-search.md")

    assert (user["type"], user["args"]) == ("stdio", ["mcp"])
    assert project["args"] == ["mcp", "--root", "${workspaceFolder}"]
    assert agent["readonly"] is True
    rule = _head(sandbox.root / ".cursor/rules/wherein.mdc")
    assert rule["alwaysApply"] is True


def test_vs_code_finds_the_users_agent_and_instructions_where_it_looks(sandbox: Sandbox) -> None:
    sandbox.run("install", "vscode", "copilot-cli")
    copilot = sandbox.home / ".copilot"

    ours = _member(sandbox.home / ".config/Code/User/mcp.json", "servers", "wherein")
    rules = _head(copilot / "instructions/wherein.instructions.md")
    agent = _head(copilot / "agents/wherein-search.agent.md")

    assert _only(ours, ("type", "command", "args", "env", "envFile", "cwd"))
    assert rules == {"applyTo": "**"}
    assert agent["tools"] == ["wherein/*"]
    sandbox.run("uninstall", "vscode")
    assert (copilot / "agents/wherein-search.agent.md").exists()
    sandbox.run("uninstall", "copilot-cli")
    assert not copilot.exists()


def test_zed_has_personal_instructions_and_a_server_of_its_stdio_form(sandbox: Sandbox) -> None:
    sandbox.run("install", "zed")
    folder = sandbox.home / ".config/zed"

    ours = _member(folder / "settings.json", "context_servers", "wherein")

    assert _only(ours, ("enabled", "remote", "command", "args", "env", "timeout"))
    assert isinstance(ours["command"], str)
    assert _is_texts(ours["args"])
    assert ours["env"] == {}
    assert "`search`" in (folder / "AGENTS.md").read_text()


def test_zed_reads_the_first_instruction_file_of_a_project_only(sandbox: Sandbox) -> None:
    sandbox.write("AGENTS.md", "# Rules\n")
    sandbox.run("install", "zed", "codex", "--scope", "project")
    first = (sandbox.root / "AGENTS.md").read_text()
    rules = sandbox.write(".rules", "# for Zed\n")

    sandbox.run("install", "zed", "--scope", "project")
    moved = rules.read_text()
    sandbox.run("uninstall", "codex", "--scope", "project")
    sandbox.run("uninstall", "zed", "--scope", "project")

    assert "wherein:start" in first
    assert "wherein:start" in moved
    assert rules.read_text() == "# for Zed\n"
    assert (sandbox.root / "AGENTS.md").read_text() == "# Rules\n"


def test_one_file_under_two_names_is_not_moved_between_them(sandbox: Sandbox) -> None:
    sandbox.write("AGENTS.md", "# Rules\n")
    (sandbox.root / ".rules").symlink_to("AGENTS.md")
    sandbox.run("install", "zed", "--scope", "project")

    again = sandbox.run("install", "zed", "--scope", "project", "--json")
    sandbox.run("uninstall", "--scope", "project")

    assert {row["action"] for row in again.rows()} == {"unchanged"}
    assert (sandbox.root / ".rules").read_text() == "# Rules\n"


def test_goose_gets_an_extension_of_its_stdio_form(sandbox: Sandbox) -> None:
    sandbox.run("install", "goose")
    path = sandbox.home / ".config/goose/config.yaml"

    ours = yaml.safe_load(path.read_text())["extensions"]["wherein"]

    assert _only(ours, ("enabled", "type", "name", "description", "cmd", "args", "envs", "timeout"))
    assert (ours["enabled"], ours["type"], ours["name"]) == (True, "stdio", "wherein")
    assert isinstance(ours["cmd"], str)
    assert (ours["args"], ours["envs"]) == (["mcp"], {})


def test_windsurf_is_set_up_under_its_new_name_and_where_the_old_one_is(sandbox: Sandbox) -> None:
    new, old = sandbox.home / ".config/devin", sandbox.home / ".codeium/windsurf"
    sandbox.run("install", "windsurf")
    first = [path.exists() for path in (new / "mcp_config.json", old / "mcp_config.json")]
    old.mkdir(parents=True)
    sandbox.run("install", "windsurf")
    sandbox.run("install", "windsurf", "--scope", "project")

    assert first == [True, False]
    for path in (new, old, sandbox.root / ".devin"):
        ours = _member(path / "mcp_config.json", "mcpServers", "wherein")
        assert _only(ours, ("command", "args", "env", "disabled"))
        assert ours["args"] == ["mcp"]
    assert "wherein:start" in (new / "AGENTS.md").read_text()
    assert _head(sandbox.root / ".windsurf/rules/wherein.md") == {"trigger": "always_on"}
    sandbox.run("uninstall")
    assert not new.exists()
    assert not list(old.iterdir())
