"""The files of agents that run in a terminal.

Each function follows the client's published format; its source is named in
benchmarks/results/clients-2026-12-01.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from wherein.cli.setup.agents import agent_markdown, agent_toml
from wherein.cli.setup.targets import (
    NAME,
    TOOL_NAMES,
    Kind,
    Surroundings,
    Target,
    block,
    commented,
    entry,
    has_object,
    stdio,
    whole_file,
)

__all__ = ["TERMINAL_TARGETS"]

_STARTUP_SECONDS = 30


def _claude_code(around: Surroundings, user: bool) -> list[Target]:
    folder = around.folder("CLAUDE_CONFIG_DIR", ".claude") if user else around.project / ".claude"
    value = {"type": "stdio", **stdio(around), "alwaysLoad": True}
    if not user:
        servers = around.project / ".mcp.json"
    elif around.environment.get("CLAUDE_CONFIG_DIR"):
        servers = folder / ".claude.json"
    else:
        servers = around.home / ".claude.json"
    tools = ", ".join([*(f"mcp__{NAME}__{name}" for name in TOOL_NAMES), "Read"])
    agent = agent_markdown({"tools": tools, "model": "haiku"})
    return [
        entry(servers, ("mcpServers",), value),
        block((folder if user else around.project) / "CLAUDE.md"),
        whole_file(folder / "agents" / "wherein-search.md", agent),
    ]


def _codex(around: Surroundings, user: bool) -> list[Target]:
    folder = around.folder("CODEX_HOME", ".codex") if user else around.project / ".codex"
    value = stdio(around, startup_timeout_sec=_STARTUP_SECONDS)
    return [
        Target(folder / "config.toml", Kind.TOML, ("mcp_servers", NAME), value),
        block((folder if user else around.project) / "AGENTS.md"),
        whole_file(folder / "agents" / "wherein-search.toml", agent_toml()),
    ]


def _gemini(around: Surroundings, user: bool) -> list[Target]:
    home = around.named("GEMINI_CLI_HOME") or around.home
    folder = (home if user else around.project) / ".gemini"
    tools = "".join(f"\n  - mcp_{NAME}_{name}" for name in TOOL_NAMES)
    return [
        entry(folder / "settings.json", ("mcpServers",), stdio(around)),
        block((folder if user else around.project) / "GEMINI.md"),
        whole_file(folder / "agents" / "wherein-search.md", agent_markdown({"tools": tools})),
    ]


def _qwen(around: Surroundings, user: bool) -> list[Target]:
    """Return Qwen Code's files; tools of a server are deferred there unless it says otherwise."""
    folder = around.folder("QWEN_HOME", ".qwen") if user else around.project / ".qwen"
    tools = "".join(f"\n  - mcp__{NAME}__{name}" for name in TOOL_NAMES)
    return [
        entry(folder / "settings.json", ("mcpServers",), stdio(around, alwaysLoadTools=True)),
        block((folder if user else around.project) / "QWEN.md"),
        whole_file(folder / "agents" / "wherein-search.md", agent_markdown({"tools": tools})),
    ]


def _copilot_cli(around: Surroundings, user: bool) -> list[Target]:
    value = {"type": "local", **stdio(around), "tools": ["*"]}
    agent = agent_markdown({"tools": '["wherein/*"]'})
    if user:
        folder = around.folder("COPILOT_HOME", ".copilot")
        return [
            entry(folder / "mcp-config.json", ("mcpServers",), value),
            block(folder / "copilot-instructions.md"),
            whole_file(folder / "agents" / "wherein-search.agent.md", agent),
        ]
    return [
        entry(around.project / ".github" / "mcp.json", ("mcpServers",), value),
        block(around.project / "AGENTS.md"),
        whole_file(around.project / ".github" / "agents" / "wherein-search.agent.md", agent),
    ]


def _opencode(around: Surroundings, user: bool) -> list[Target]:
    """Return OpenCode's files.

    Version 1 has servers directly below ``mcp``, and version 2 reads them there, too; a file with
    ``mcp.servers`` is version 2's own form. ``codemode`` set to false keeps the tools on the
    model's list. Version 2 reads version 1's sub-agents.
    """
    base = around.config / "opencode" if user else around.project
    folder = base if user else base / ".opencode"
    servers = commented(base / "opencode.json")
    start = {"type": "local", "command": [around.command, "mcp"]}
    first = entry(servers, ("mcp",), {**start, "enabled": True, "codemode": False})
    second = entry(servers, ("mcp", "servers"), {**start, "codemode": False})
    here, other = (second, first) if has_object(servers, ("mcp", "servers")) else (first, second)
    head = {"mode": "subagent", "permission": "\n  edit: deny\n  bash: deny"}
    return [
        replace(here, former=(other,)),
        block(base / "AGENTS.md"),
        whole_file(folder / "agents" / "wherein-search.md", agent_markdown(head, with_name=False)),
    ]


def _amp(around: Surroundings, user: bool) -> list[Target]:
    folder = around.config / "amp" if user else around.project / ".amp"
    settings = commented(folder / "settings.json")
    target = entry(settings, ("amp.mcpServers",), stdio(around))
    return [target, block((folder if user else around.project) / "AGENTS.md")]


def _goose(around: Surroundings, user: bool) -> list[Target]:
    if not user:
        return [block(around.project / ".goosehints")]
    value: dict[str, object] = {
        "enabled": True,
        "type": "stdio",
        "name": NAME,
        "description": "Finds code by meaning, name and exact text",
        "cmd": around.command,
        "args": ["mcp"],
        "envs": {},
        "timeout": 300,
    }
    root, roaming = around.named("GOOSE_PATH_ROOT"), around.named("APPDATA")
    if root is not None:
        folder = root / "config"
    elif roaming is not None:
        folder = roaming / "Block" / "goose" / "config"
    else:
        folder = around.config / "goose"
    return [
        Target(folder / "config.yaml", Kind.YAML, ("extensions", NAME), value),
        block(folder / ".goosehints"),
    ]


TERMINAL_TARGETS: dict[str, Callable[[Surroundings, bool], list[Target]]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini": _gemini,
    "qwen": _qwen,
    "copilot-cli": _copilot_cli,
    "opencode": _opencode,
    "amp": _amp,
    "goose": _goose,
}
"""By name; the flag says whether the user's files are meant, not the project's."""
