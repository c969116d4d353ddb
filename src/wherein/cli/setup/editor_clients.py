"""The files of agents that live in an editor.

Each function follows the client's published format; its source is named in
benchmarks/results/clients-2026-12-01.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from wherein.cli.setup.agents import agent_markdown, rule_file
from wherein.cli.setup.targets import (
    NAME,
    OWN_MARK,
    TOOL_NAMES,
    Kind,
    Surroundings,
    Target,
    block,
    entry,
    stdio,
    whole_file,
)

__all__ = ["EDITOR_TARGETS"]


def _cursor(around: Surroundings, user: bool) -> list[Target]:
    """Return Cursor's files.

    ``${workspaceFolder}`` is the folder with ``.cursor/mcp.json``: the user's home for the user's
    file, where the server is told the workspace by the environment or as a root.
    """
    folder = (around.home if user else around.project) / ".cursor"
    arguments = ["mcp"] if user else ["mcp", "--root", "${workspaceFolder}"]
    value = {"type": "stdio", "command": around.command, "args": arguments}
    agent = agent_markdown({"model": "inherit", "readonly": "true"})
    targets = [
        entry(folder / "mcp.json", ("mcpServers",), value),
        whole_file(folder / "agents" / "wherein-search.md", agent),
    ]
    if not user:
        text = rule_file({"description": "How to find code here", "alwaysApply": "true"})
        targets.append(whole_file(folder / "rules" / "wherein.mdc", text, is_instruction=True))
    return targets


def _vscode(around: Surroundings, user: bool) -> list[Target]:
    """Return VS Code's files; the user's agents and instructions are beside Copilot CLI's."""
    arguments = ["mcp", "--root", "${workspaceFolder}"]
    value = {"type": "stdio", "command": around.command, "args": arguments}
    agent = agent_markdown({"tools": '["wherein/*"]'})
    if user:
        copilot = around.home / ".copilot"
        rules = copilot / "instructions" / "wherein.instructions.md"
        return [
            entry(around.code / "mcp.json", ("servers",), value),
            whole_file(rules, rule_file({"applyTo": '"**"'}), is_instruction=True),
            whole_file(copilot / "agents" / "wherein-search.agent.md", agent),
        ]
    github = around.project / ".github"
    return [
        entry(around.project / ".vscode" / "mcp.json", ("servers",), value),
        block(github / "copilot-instructions.md"),
        whole_file(github / "agents" / "wherein-search.agent.md", agent),
    ]


def _windsurf(around: Surroundings, user: bool) -> list[Target]:
    """Return Windsurf's files, which is Devin Desktop since June 2026.

    The old folder is written to only where it is; the new one reads the project's rules as before.
    """
    if not user:
        rules = around.project / ".windsurf" / "rules" / "wherein.md"
        return [
            entry(around.project / ".devin" / "mcp_config.json", ("mcpServers",), stdio(around)),
            whole_file(rules, rule_file({"trigger": "always_on"}), is_instruction=True),
        ]
    old = around.home / ".codeium" / "windsurf"
    new = (around.named("APPDATA") or around.config) / "devin"
    targets: list[Target] = []
    if old.is_dir():
        targets.append(entry(old / "mcp_config.json", ("mcpServers",), stdio(around)))
        targets.append(block(old / "memories" / "global_rules.md"))
    if new.is_dir() or not old.is_dir():
        targets.append(entry(new / "mcp_config.json", ("mcpServers",), stdio(around)))
        targets.append(block(new / "AGENTS.md"))
    return targets


_ZED_INSTRUCTIONS = (
    ".rules",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".github/copilot-instructions.md",
    "AGENT.md",
    "AGENTS.md",
)
"""What Zed looks for in a project: it reads the first of these that is there, and no other."""


def _zed(around: Surroundings, user: bool) -> list[Target]:
    value = stdio(around, env={})
    if user:
        roaming = around.named("APPDATA")
        folder = roaming / "Zed" if roaming else around.config / "zed"
        return [
            entry(folder / "settings.json", ("context_servers",), value),
            block(folder / "AGENTS.md"),
        ]
    paths = [around.project / name for name in _ZED_INSTRUCTIONS]
    read = next((path for path in paths if path.is_file()), paths[-1])
    former = tuple(block(path) for path in paths if path != read)
    return [
        entry(around.project / ".zed" / "settings.json", ("context_servers",), value),
        replace(block(read), former=former),
    ]


def _cline(around: Surroundings, user: bool) -> list[Target]:
    """Return Cline's files: since 2026 the editor and the command line share one folder."""
    if not user:
        rules = around.project / ".clinerules" / "wherein.md"
        return [whole_file(rules, rule_file({}), is_instruction=True)]
    folder = around.folder("CLINE_DIR", ".cline")
    data = around.folder("CLINE_DATA_DIR", str(folder / "data"))
    value = stdio(around, disabled=False)
    return [
        entry(data / "settings" / "cline_mcp_settings.json", ("mcpServers",), value),
        whole_file(folder / "rules" / "wherein.md", rule_file({}), is_instruction=True),
    ]


def _roo(around: Surroundings, user: bool) -> list[Target]:
    value = stdio(around, disabled=False)
    if user:
        storage = around.code / "globalStorage" / "rooveterinaryinc.roo-cline" / "settings"
        rules = around.home / ".roo" / "rules" / "wherein.md"
        servers = storage / "mcp_settings.json"
    else:
        servers = around.project / ".roo" / "mcp.json"
        rules = around.project / ".roo" / "rules" / "wherein.md"
    return [
        entry(servers, ("mcpServers",), value),
        whole_file(rules, rule_file({}), is_instruction=True),
    ]


def _continue(around: Surroundings, user: bool) -> list[Target]:
    """Return Continue's files.

    Its ``config.yaml`` is edited where there is one and never made: without a name and a version
    it is refused, and beside an older ``config.json`` it would take that file's place.
    """
    folder = (
        around.folder("CONTINUE_GLOBAL_DIR", ".continue") if user else around.project / ".continue"
    )
    keys, value = ("mcpServers", NAME), {"name": NAME, **stdio(around)}
    head = f"# {NAME}: {OWN_MARK}\nname: {NAME}\nversion: 1.0.0\nschema: v1\n"
    servers = Target(folder / "mcpServers" / "wherein.yaml", Kind.YAML, keys, value, head)
    config = Target(folder / "config.yaml", Kind.YAML, keys, value)
    if user:
        has_config = config.path.is_file() and config.path.stat().st_size > 0
        here, other = (config, servers) if has_config else (servers, config)
        servers = replace(here, former=(other,))
    rules = rule_file({"alwaysApply": "true"})
    return [
        servers,
        whole_file(folder / "rules" / "wherein.md", rules, is_instruction=True),
    ]


def _kiro(around: Surroundings, user: bool) -> list[Target]:
    folder = (around.home if user else around.project) / ".kiro"
    value = stdio(around, disabled=False, autoApprove=list(TOOL_NAMES))
    steering = rule_file({"inclusion": "always"})
    return [
        entry(folder / "settings" / "mcp.json", ("mcpServers",), value),
        whole_file(folder / "steering" / "wherein.md", steering, is_instruction=True),
    ]


def _jetbrains(around: Surroundings, user: bool) -> list[Target]:
    folder = (around.home if user else around.project) / ".junie"
    return [
        entry(folder / "mcp" / "mcp.json", ("mcpServers",), stdio(around)),
        block(folder / "AGENTS.md" if user else around.project / "AGENTS.md"),
    ]


EDITOR_TARGETS: dict[str, Callable[[Surroundings, bool], list[Target]]] = {
    "cursor": _cursor,
    "vscode": _vscode,
    "windsurf": _windsurf,
    "zed": _zed,
    "cline": _cline,
    "roo": _roo,
    "continue": _continue,
    "kiro": _kiro,
    "jetbrains": _jetbrains,
}
"""By name; the flag says whether the user's files are meant, not the project's."""
