import json
import tomllib
from pathlib import Path
from typing import cast

import pytest
from tests.cli.sandbox import Sandbox

from wherein.cli.setup.clients import CLIENTS

CLAUDE = """{
  "numStartups": 12,
  "mcpServers": {
    "other": { "command": "other", "args": [] }
  },
  "projects": {"/x": {"allowedTools": []}}
}
"""
VSCODE = """// servers of the team
{
\t"servers": {
\t\t/* keep this one */
\t\t"other": {"type": "stdio", "command": "other"}, // why
\t},
\t"inputs": [],
}
"""
ZED = '{\r\n  // theme\r\n  "theme": "One Dark",\r\n  "context_servers": {}\r\n}\r\n'
CODEX = 'model = "gpt-5"  # the usual\n\n[mcp_servers.other]\ncommand = "other"\nargs = []\n'
GOOSE = (
    "# my settings\nGOOSE_PROVIDER: anthropic\nextensions:\n  developer:\n    enabled: true\n"
    "    type: builtin\nGOOSE_MODEL: x\n"
)
CONTINUE = (
    "name: Mine\nversion: 1.0.0\nschema: v1\nmcpServers:\n  - name: other\n    command: other\n"
    "models: []\n"
)
AGENTS = "# Rules\n\nUse tabs.\n"
OPENCODE = '{"$schema": "https://opencode.ai/config.json", "mcp": {"other": {"type": "local"}}}'
EXISTING = {
    ".claude.json": CLAUDE,
    ".claude/CLAUDE.md": "no line end",
    ".codex/config.toml": CODEX,
    ".codex/AGENTS.md": AGENTS,
    ".config/Code/User/mcp.json": VSCODE,
    ".config/zed/settings.json": ZED,
    ".config/goose/config.yaml": GOOSE,
    ".continue/config.yaml": CONTINUE,
    ".config/opencode/opencode.json": OPENCODE,
    ".gemini/settings.json": "",
    ".qwen/settings.json": "{}",
    ".cursor/mcp.json": '{\n    "mcpServers": {\n    }\n}',
    ".config/amp/settings.json": '{"amp.url": "https://ampcode.com"}\n',
}


def _above(path: Path) -> set[str]:
    return {"/".join(path.parts[at : at + 2]) for at in range(len(path.parts))}


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not {".local/state", ".cache/semble"} & _above(path)
    }


@pytest.fixture
def agents(sandbox: Sandbox) -> Sandbox:
    """A home in which agents have files of their own."""
    for name, text in EXISTING.items():
        path = sandbox.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return sandbox


def test_uninstall_restores_every_byte_and_file(agents: Sandbox) -> None:
    before = tree(agents.home)

    installed = agents.run("install", "--all")
    changed = tree(agents.home)
    removed = agents.run("uninstall")

    assert installed.exit_code == removed.exit_code == 0
    assert changed != before
    assert tree(agents.home) == before


def test_uninstall_restores_a_project_too(agents: Sandbox) -> None:
    agents.write("AGENTS.md", AGENTS)
    agents.write(".vscode/mcp.json", VSCODE)
    agents.write(".mcp.json", CLAUDE)
    before = tree(agents.root)

    agents.run("install", "--all", "--scope", "project")
    changed = tree(agents.root)
    agents.run("uninstall", "--scope", "project")

    assert changed.keys() > before.keys()
    assert tree(agents.root) == before


def test_running_it_twice_changes_nothing(agents: Sandbox) -> None:
    agents.run("install", "--all")
    once = tree(agents.home)

    again = agents.run("install", "--all", "--json")

    assert tree(agents.home) == once
    assert {row["action"] for row in again.rows()} == {"unchanged"}


def test_a_dry_run_shows_the_difference_and_writes_nothing(agents: Sandbox) -> None:
    before = tree(agents.home)

    screen = agents.run("install", "codex", "--dry-run")

    assert "+[mcp_servers.wherein]" in screen.stdout
    assert tree(agents.home) == before
    assert not (agents.home / ".local").exists()


def test_only_our_lines_are_added(agents: Sandbox) -> None:
    agents.run("install", "--all")
    after = tree(agents.home)

    for name, text in EXISTING.items():
        if text.count("\n") > 2:
            rest = iter(after[name].decode().splitlines())
            assert all(line in rest for line in text.splitlines() if not line.endswith("{}"))
    vscode = after[".config/Code/User/mcp.json"].decode()
    assert "/* keep this one */" in vscode
    assert "// why" in vscode
    assert b"\r\n" in after[".config/zed/settings.json"]
    assert b"\n" not in after[".config/zed/settings.json"].replace(b"\r\n", b"")


def test_an_edit_made_meanwhile_is_kept_by_uninstall(agents: Sandbox) -> None:
    agents.run("install", "claude-code", "codex")
    claude = agents.home / ".claude.json"
    claude.write_text(claude.read_text().replace('"numStartups": 12', '"numStartups": 13'))
    codex = agents.home / ".codex/config.toml"
    codex.write_text("# new first line\n" + codex.read_text() + "\n[tui]\nnotifications = true\n")

    agents.run("uninstall")

    assert claude.read_text() == CLAUDE.replace("12", "13")
    left = codex.read_text()
    assert tomllib.loads(left) == {**tomllib.loads(CODEX), "tui": {"notifications": True}}
    assert left.startswith("# new first line\n")


def test_without_the_ledger_uninstall_still_takes_out_our_part(agents: Sandbox) -> None:
    agents.run("install", "--all")
    (agents.home / ".local/state/wherein/installed.json").unlink()

    agents.run("uninstall")

    after = tree(agents.home)
    assert not any(b"wherein" in data for data in after.values())
    assert json.loads(after[".claude.json"]) == json.loads(CLAUDE)
    assert tomllib.loads(after[".codex/config.toml"].decode()) == tomllib.loads(CODEX)


def test_each_client_reads_its_entry_by_its_own_rules(agents: Sandbox) -> None:
    agents.run("install", "--all")
    home = agents.home

    def member(name: str, *keys: str) -> dict[str, object]:
        from wherein.cli.setup.jsonc import find_member

        found = find_member((home / name).read_text(), keys)
        assert isinstance(found, dict), name
        return cast("dict[str, object]", found)

    claude = json.loads((home / ".claude.json").read_text())["mcpServers"]
    assert claude["wherein"]["type"] == "stdio"
    assert claude["wherein"]["alwaysLoad"] is True
    assert claude["other"] == {"command": "other", "args": []}
    codex = tomllib.loads((home / ".codex/config.toml").read_text())["mcp_servers"]
    assert codex["wherein"]["args"] == ["mcp"]
    assert codex["other"]["command"] == "other"
    assert member(".config/Code/User/mcp.json", "servers", "wherein")["type"] == "stdio"
    assert member(".copilot/mcp-config.json", "mcpServers", "wherein")["tools"] == ["*"]
    opencode = member(".config/opencode/opencode.json", "mcp", "wherein")
    assert opencode["type"] == "local"
    assert isinstance(opencode["command"], list)
    assert opencode["command"][1:] == ["mcp"]
    assert member(".config/zed/settings.json", "context_servers", "wherein")["args"] == ["mcp"]
    assert member(".config/amp/settings.json", "amp.mcpServers", "wherein")["args"] == ["mcp"]
    for name in (".cursor/mcp.json", ".gemini/settings.json", ".qwen/settings.json"):
        assert member(name, "mcpServers", "wherein")["command"]
    for name in (".config/devin/mcp_config.json", ".kiro/settings/mcp.json"):
        assert member(name, "mcpServers", "wherein")["command"]
    assert member(".junie/mcp/mcp.json", "mcpServers", "wherein")["command"]


def test_the_yaml_files_parse_to_what_was_there_and_our_entry(agents: Sandbox) -> None:
    yaml = pytest.importorskip("yaml")
    agents.run("install", "goose", "continue")

    goose = yaml.safe_load((agents.home / ".config/goose/config.yaml").read_text())
    mine = yaml.safe_load((agents.home / ".continue/config.yaml").read_text())

    ours = goose["extensions"].pop("wherein")
    assert (ours["type"], ours["args"], ours["enabled"]) == ("stdio", ["mcp"], True)
    assert goose == yaml.safe_load(GOOSE)
    assert [server["name"] for server in mine["mcpServers"]] == ["wherein", "other"]
    assert mine["models"] == []


def test_the_sub_agent_and_the_instruction_are_there(agents: Sandbox) -> None:
    agents.run("install", "claude-code", "codex")

    agent = (agents.home / ".claude/agents/wherein-search.md").read_text()
    block = (agents.home / ".claude/CLAUDE.md").read_text()
    codex = tomllib.loads((agents.home / ".codex/agents/wherein-search.toml").read_text())

    assert agent.startswith("---\nname: wherein-search\ndescription: ")
    assert "Edit" not in agent.split("---")[1]
    assert "Bash" not in agent.split("---")[1]
    assert block.startswith("no line end\n")
    assert "<!-- wherein:start -->" in block
    assert codex["sandbox_mode"] == "read-only"
    assert codex["developer_instructions"]


def test_instructions_can_be_left_out(agents: Sandbox) -> None:
    agents.run("install", "codex", "--no-instructions")

    assert (agents.home / ".codex/AGENTS.md").read_text() == AGENTS


def test_only_the_agents_on_this_machine_are_set_up(sandbox: Sandbox) -> None:
    (sandbox.home / ".kiro").mkdir()

    rows = sandbox.run("install", "--json", PATH="/usr/bin:/bin").rows()

    assert {row["client"] for row in rows} == {"kiro"}


def test_an_unknown_client_names_the_near_one(sandbox: Sandbox) -> None:
    screen = sandbox.run("install", "cursr")

    assert screen.exit_code == 2
    assert "did you mean 'cursor'?" in screen.stderr


def test_a_file_that_does_not_parse_is_left_alone_and_named(agents: Sandbox) -> None:
    path = agents.home / ".cursor/mcp.json"
    path.write_text('{"mcpServers": {')

    screen = agents.run("install", "cursor", "zed")

    assert screen.exit_code == 2
    assert path.read_text() == '{"mcpServers": {'
    assert f"failed cursor: {path}" in screen.stdout
    assert "changed zed:" in screen.stdout


def test_a_file_of_that_name_that_is_not_ours_is_left_alone(agents: Sandbox) -> None:
    path = agents.home / ".claude/agents/wherein-search.md"
    path.parent.mkdir(parents=True)
    path.write_text("my own agent\n")

    screen = agents.run("install", "claude-code")

    assert path.read_text() == "my own agent\n"
    assert "not ours" in screen.stdout


def test_a_linked_file_is_changed_behind_its_link(agents: Sandbox) -> None:
    real = agents.home / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}")
    real.chmod(0o600)
    link = agents.home / ".kiro" / "settings" / "mcp.json"
    link.parent.mkdir(parents=True)
    link.symlink_to(real)

    agents.run("install", "kiro")

    assert link.is_symlink()
    assert "wherein" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o600


def test_a_shared_file_keeps_the_block_until_its_last_client_goes(agents: Sandbox) -> None:
    agents.write("AGENTS.md", AGENTS)
    agents.run("install", "codex", "amp", "--scope", "project")

    agents.run("uninstall", "codex", "--scope", "project")
    still = (agents.root / "AGENTS.md").read_text()
    agents.run("uninstall", "amp", "--scope", "project")

    assert "wherein:start" in still
    assert (agents.root / "AGENTS.md").read_text() == AGENTS


def test_every_named_client_is_known() -> None:
    assert {client.name for client in CLIENTS} == {
        "claude-code",
        "codex",
        "cursor",
        "gemini",
        "vscode",
        "copilot-cli",
        "opencode",
        "windsurf",
        "zed",
        "cline",
        "roo",
        "continue",
        "kiro",
        "amp",
        "qwen",
        "goose",
        "jetbrains",
    }


def test_doctor_starts_the_server_with_each_clients_own_command(agents: Sandbox) -> None:
    agents.run("install", "codex", "opencode")
    broken = agents.home / ".kiro/settings/mcp.json"
    broken.parent.mkdir(parents=True)
    broken.write_text('{"mcpServers": {"wherein": {"command": "/gone/wherein", "args": ["mcp"]}}}')

    screen = agents.run("doctor", "--json")

    checks = {str(row["name"]).split(" (")[0]: row for row in screen.rows()}
    assert screen.exit_code == 2
    assert checks["server"]["status"] == "ok"
    assert checks["Codex CLI"]["status"] == "ok"
    assert checks["OpenCode"]["status"] == "ok"
    assert checks["Kiro"]["status"] == "failed"
    assert "/gone/wherein" in str(checks["Kiro"]["detail"])


def test_doctor_names_a_server_that_prints_other_things_and_one_that_prints_for_ever(
    agents: Sandbox,
) -> None:
    answers = [{"jsonrpc": "2.0", "id": 2, "result": {"tools": [{"name": "search"}]}}]
    lines = [
        "Welcome!",
        "[]",
        "5",
        "null",
        json.dumps({"result": {"tools": 1}}),
        json.dumps(*answers),
    ]
    chatty = agents.home / "chatty"
    chatty.write_text("#!/bin/sh\n" + "".join(f"echo '{line}'\n" for line in lines))
    chatty.chmod(0o755)
    endless = agents.home / "endless"
    endless.write_text("#!/bin/sh\nexec yes\n")
    endless.chmod(0o755)
    cursor = agents.home / ".cursor/mcp.json"
    cursor.write_text(
        json.dumps({"mcpServers": {"wherein": {"command": str(chatty), "args": None}}})
    )
    goose = agents.home / ".config/goose/config.yaml"
    goose.write_text(f"extensions:\n  wherein:\n    type: stdio\n    cmd: {endless}\n")
    (agents.home / ".continue/config.yaml").write_text(
        "mcpServers:\n  - name: wherein\n    command: /gone/w\n"
    )

    checks = {str(row["name"]).split(" (")[0]: row for row in agents.run("doctor", "--json").rows()}

    assert checks["Cursor"]["status"] == "warning"
    assert "Welcome!" in str(checks["Cursor"]["detail"])
    assert checks["Goose"]["status"] == "failed"
    assert checks["Continue"]["status"] == "failed"
    assert "/gone/w" in str(checks["Continue"]["detail"])


@pytest.mark.parametrize(
    "text", ["mcp_servers = 3", "a = " + "[" * 9999, "[mcp_servers]\nwherein = 1"]
)
def test_doctor_survives_a_file_of_another_form(agents: Sandbox, text: str) -> None:
    (agents.home / ".codex/config.toml").write_text(text)
    (agents.home / ".claude.json").write_text('{"mcpServers": {"wherein": {"command": null}}}')

    assert agents.run("doctor", "--json").exit_code == 0


def test_the_files_that_cline_and_amp_read_today_are_written(agents: Sandbox) -> None:
    (agents.home / ".config/amp/settings.json").rename(agents.home / ".config/amp/settings.jsonc")

    agents.run("install", "cline", "amp")

    cline = json.loads((agents.home / ".cline/data/settings/cline_mcp_settings.json").read_text())
    assert cline["mcpServers"]["wherein"]["args"] == ["mcp"]
    assert (agents.home / ".cline/rules/wherein.md").exists()
    assert "wherein" in (agents.home / ".config/amp/settings.jsonc").read_text()
    assert not (agents.home / ".config/amp/settings.json").exists()


def test_a_damaged_ledger_costs_exactness_and_not_the_command(agents: Sandbox) -> None:
    ledger = agents.home / ".local/state/wherein/installed.json"
    for text in ("[]", "[" * 100_000, '{"/x": {"insertion": 1}}'):
        ledger.parent.mkdir(parents=True, exist_ok=True)
        ledger.write_text(text)

        assert agents.run("install", "kiro").exit_code == 0


def test_a_file_under_two_names_keeps_the_block_until_its_last_client_goes(
    sandbox: Sandbox,
) -> None:
    (sandbox.root / "AGENTS.md").write_text(AGENTS)
    (sandbox.root / "CLAUDE.md").symlink_to("AGENTS.md")
    sandbox.run("install", "claude-code", "codex", "--scope", "project")

    sandbox.run("uninstall", "codex", "--scope", "project")
    kept = (sandbox.root / "AGENTS.md").read_text()
    sandbox.run("uninstall", "--scope", "project")

    assert kept.count("<!-- wherein:start -->") == 1
    assert (sandbox.root / "AGENTS.md").read_text() == AGENTS
    assert (sandbox.root / "CLAUDE.md").is_symlink()


def test_a_link_that_led_nowhere_leads_nowhere_again(sandbox: Sandbox) -> None:
    dotfiles = sandbox.home / "dotfiles"
    dotfiles.mkdir()
    (sandbox.home / ".kiro/settings").mkdir(parents=True)
    link = sandbox.home / ".kiro/settings/mcp.json"
    link.symlink_to(dotfiles / "mcp.json")

    sandbox.run("install", "kiro")
    written = (dotfiles / "mcp.json").read_text()
    sandbox.run("uninstall")

    assert "wherein" in written
    assert link.is_symlink()
    assert list(dotfiles.iterdir()) == []


def test_a_read_only_file_is_left_alone_and_named(agents: Sandbox) -> None:
    path = agents.home / ".cursor/mcp.json"
    before = path.read_bytes()
    path.chmod(0o444)

    screen = agents.run("install", "cursor", "--dry-run")
    installed = agents.run("install", "cursor")

    assert installed.exit_code == screen.exit_code == 2
    said = f"failed cursor: {path} (the file is read-only; make it writable first: chmod u+w "
    assert said in installed.stdout
    assert said in screen.stdout
    assert path.read_bytes() == before

    path.chmod(0o644)
    agents.run("install", "cursor")
    path.chmod(0o400)
    removed = agents.run("uninstall", "cursor")
    assert removed.exit_code == 2
    assert said in removed.stdout
    path.chmod(0o600)
    assert agents.run("uninstall", "cursor").exit_code == 0
    assert path.read_bytes() == before
    assert path.stat().st_mode & 0o777 == 0o600


def test_windows_line_ends_and_a_mark_at_the_start_stay(sandbox: Sandbox) -> None:
    bom, home = "\ufeff", sandbox.home
    texts = {
        ".cursor/mcp.json": bom
        + '{ // all\r\n  "mcpServers": { // mine\r\n    "o": {},\r\n  },\r\n}',
        ".codex/config.toml": bom + 'model = "x" # y\r\n\r\n[mcp_servers.o]\r\ncommand = "o"\r\n',
        ".config/goose/config.yaml": bom + "# mine\r\nextensions:\r\n  o:\r\n    enabled: true\r\n",
        ".codex/AGENTS.md": bom + "# Rules\r\n",
    }
    for name, text in texts.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(text.encode())

    installed = sandbox.run("install", "cursor", "codex", "goose")
    after = {name: (home / name).read_bytes().decode() for name in texts}
    sandbox.run("uninstall")

    assert installed.exit_code == 0
    for name, text in after.items():
        assert text.startswith(bom)
        assert "wherein" in text
        bare = text.replace("\r\n", "")
        assert "\n" not in bare, name
        assert "\r" not in bare, name
        assert (home / name).read_bytes().decode() == texts[name]


def test_a_file_that_cannot_be_read_or_written_is_named_once_with_the_reason(
    agents: Sandbox,
) -> None:
    utf_16 = agents.home / ".cursor/mcp.json"
    utf_16.write_text("{}", "utf-16")
    folder = agents.home / ".kiro/settings/mcp.json"
    folder.mkdir(parents=True)
    closed = agents.home / ".gemini"
    closed.chmod(0o555)

    screen = agents.run_as_anyone("install", "cursor", "kiro", "gemini")
    closed.chmod(0o755)

    assert screen.exit_code == 2
    reasons = {
        utf_16: "the file is no UTF-8 text; save it as UTF-8 first",
        folder: "is a directory",
        closed / "settings.json": "permission denied",
    }
    for path, reason in reasons.items():
        assert f"{path} ({reason})\n" in screen.stdout
