"""The agents that can be set up: where their files are and what goes into them.

Each entry follows the client's published format (November 2026).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wherein.cli.setup.agents import agent_markdown, agent_toml, rule_file

__all__ = ["CLIENTS", "Client", "Kind", "Surroundings", "Target"]

_NAME = "wherein"
_STARTUP_SECONDS = 30


class Kind:
    """How a target's text is edited."""

    JSON = "json"
    TOML = "toml"
    YAML = "yaml"
    BLOCK = "block"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where the user's and the project's files are, and how the server is started."""

    home: Path
    project: Path
    config: Path
    """``~/.config`` or what XDG_CONFIG_HOME says."""
    code: Path
    """Folder of VS Code's user settings."""
    command: str
    """Program to start: a full path in the user's files, a bare name in the project's."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    def folder(self, variable: str, default: str) -> Path:
        """Return the folder a client's own variable names, else ``default`` below home."""
        value = self.environment.get(variable, "")
        return Path(value) if value.startswith("/") else self.home / default


@dataclass(frozen=True, slots=True)
class Target:
    """One file and what belongs in it."""

    path: Path
    kind: str
    keys: tuple[str, ...] = ()
    """Where the entry stands in the file."""
    value: Mapping[str, object] = field(default_factory=dict[str, object])
    text: str = ""
    """Body of the block, or the whole file."""
    is_instruction: bool = False


@dataclass(frozen=True, slots=True)
class Client:
    """One agent."""

    name: str
    title: str
    signs: tuple[str, ...]
    """Paths below home (``config:`` below the config folder, ``code:`` VS Code's) that show it."""
    programs: tuple[str, ...] = ()

    def targets(self, around: Surroundings, scope: str) -> tuple[Target, ...]:
        """Return the files to write for ``user`` or ``project`` scope."""
        return tuple(_TARGETS[self.name](around, scope == "user"))


def _stdio(around: Surroundings, **more: object) -> dict[str, object]:
    return {"command": around.command, "args": ["mcp"], **more}


def _json(path: Path, keys: Sequence[str], value: Mapping[str, object]) -> Target:
    return Target(path, Kind.JSON, (*keys, _NAME), value)


def _block(path: Path) -> Target:
    from wherein.cli.setup.agents import INSTRUCTION

    return Target(path, Kind.BLOCK, text=INSTRUCTION, is_instruction=True)


def _file(path: Path, text: str, *, is_instruction: bool = False) -> Target:
    return Target(path, Kind.FILE, text=text, is_instruction=is_instruction)


def _claude_code(around: Surroundings, user: bool) -> list[Target]:
    folder = around.folder("CLAUDE_CONFIG_DIR", ".claude") if user else around.project / ".claude"
    value = {"type": "stdio", **_stdio(around), "alwaysLoad": True}
    if not user:
        servers = around.project / ".mcp.json"
    elif around.environment.get("CLAUDE_CONFIG_DIR"):
        servers = folder / ".claude.json"
    else:
        servers = around.home / ".claude.json"
    tools = "mcp__wherein__search, mcp__wherein__similar, mcp__wherein__grep, mcp__wherein__glob, "
    agent = agent_markdown({"tools": f"{tools}mcp__wherein__read, Read", "model": "haiku"})
    return [
        _json(servers, ("mcpServers",), value),
        _block((folder if user else around.project) / "CLAUDE.md"),
        _file(folder / "agents" / "wherein-search.md", agent),
    ]


def _codex(around: Surroundings, user: bool) -> list[Target]:
    folder = around.folder("CODEX_HOME", ".codex") if user else around.project / ".codex"
    value = _stdio(around, startup_timeout_sec=_STARTUP_SECONDS)
    return [
        Target(folder / "config.toml", Kind.TOML, ("mcp_servers", _NAME), value),
        _block((folder if user else around.project) / "AGENTS.md"),
        _file(folder / "agents" / "wherein-search.toml", agent_toml()),
    ]


def _cursor(around: Surroundings, user: bool) -> list[Target]:
    folder = (around.home if user else around.project) / ".cursor"
    value = {"type": "stdio", **_stdio(around)}
    value["args"] = ["mcp", "--root", "${workspaceFolder}"]
    agent = agent_markdown({"model": "inherit", "readonly": "true"})
    targets = [
        _json(folder / "mcp.json", ("mcpServers",), value),
        _file(folder / "agents" / "wherein-search.md", agent),
    ]
    if not user:
        text = rule_file({"description": "How to find code here", "alwaysApply": "true"})
        targets.append(_file(folder / "rules" / "wherein.mdc", text, is_instruction=True))
    return targets


def _gemini(around: Surroundings, user: bool) -> list[Target]:
    folder = (around.home if user else around.project) / ".gemini"
    names = ("search", "similar", "grep", "glob", "read")
    tools = "".join(f"\n  - mcp_wherein_{name}" for name in names)
    return [
        _json(folder / "settings.json", ("mcpServers",), _stdio(around)),
        _block((folder if user else around.project) / "GEMINI.md"),
        _file(folder / "agents" / "wherein-search.md", agent_markdown({"tools": tools})),
    ]


def _qwen(around: Surroundings, user: bool) -> list[Target]:
    folder = (around.home if user else around.project) / ".qwen"
    names = ("search", "similar", "grep", "glob", "read")
    tools = "".join(f"\n  - mcp__wherein__{name}" for name in names)
    return [
        _json(folder / "settings.json", ("mcpServers",), _stdio(around)),
        _block((folder if user else around.project) / "QWEN.md"),
        _file(folder / "agents" / "wherein-search.md", agent_markdown({"tools": tools})),
    ]


def _vscode(around: Surroundings, user: bool) -> list[Target]:
    value = {"type": "stdio", **_stdio(around)}
    value["args"] = ["mcp", "--root", "${workspaceFolder}"]
    if user:
        return [_json(around.code / "mcp.json", ("servers",), value)]
    github = around.project / ".github"
    agent = agent_markdown({"tools": '["wherein/*"]'})
    return [
        _json(around.project / ".vscode" / "mcp.json", ("servers",), value),
        _block(github / "copilot-instructions.md"),
        _file(github / "agents" / "wherein-search.agent.md", agent),
    ]


def _copilot_cli(around: Surroundings, user: bool) -> list[Target]:
    value = {"type": "local", **_stdio(around), "tools": ["*"]}
    agent = agent_markdown({"tools": '["wherein/*"]'})
    if user:
        folder = around.folder("COPILOT_HOME", ".copilot")
        return [
            _json(folder / "mcp-config.json", ("mcpServers",), value),
            _block(folder / "copilot-instructions.md"),
            _file(folder / "agents" / "wherein-search.agent.md", agent),
        ]
    return [
        _json(around.project / ".github" / "mcp.json", ("mcpServers",), value),
        _block(around.project / "AGENTS.md"),
        _file(around.project / ".github" / "agents" / "wherein-search.agent.md", agent),
    ]


def _opencode(around: Surroundings, user: bool) -> list[Target]:
    base = around.config / "opencode" if user else around.project
    folder = base if user else base / ".opencode"
    value = {"type": "local", "command": [around.command, "mcp"], "enabled": True}
    servers = _commented(base / "opencode.json")
    head = {"mode": "subagent", "permission": "\n  edit: deny\n  bash: deny"}
    return [
        _json(servers, ("mcp",), value),
        _block(base / "AGENTS.md"),
        _file(folder / "agents" / "wherein-search.md", agent_markdown(head, with_name=False)),
    ]


def _windsurf(around: Surroundings, user: bool) -> list[Target]:
    folder = around.home / ".codeium" / "windsurf"
    if user:
        return [
            _json(folder / "mcp_config.json", ("mcpServers",), _stdio(around)),
            _block(folder / "memories" / "global_rules.md"),
        ]
    text = rule_file({"trigger": "always_on"})
    rules = around.project / ".windsurf" / "rules" / "wherein.md"
    return [_file(rules, text, is_instruction=True)]


def _zed(around: Surroundings, user: bool) -> list[Target]:
    settings = around.config / "zed" if user else around.project / ".zed"
    target = _json(settings / "settings.json", ("context_servers",), _stdio(around, env={}))
    return [target] if user else [target, _block(around.project / "AGENTS.md")]


def _cline(around: Surroundings, user: bool) -> list[Target]:
    """Return Cline's files: since 2026 the editor and the command line share one folder."""
    if not user:
        rules = around.project / ".clinerules" / "wherein.md"
        return [_file(rules, rule_file({}), is_instruction=True)]
    folder = around.folder("CLINE_DIR", ".cline")
    data = around.folder("CLINE_DATA_DIR", str(folder / "data"))
    value = _stdio(around, disabled=False)
    return [
        _json(data / "settings" / "cline_mcp_settings.json", ("mcpServers",), value),
        _file(folder / "rules" / "wherein.md", rule_file({}), is_instruction=True),
    ]


def _roo(around: Surroundings, user: bool) -> list[Target]:
    value = _stdio(around, disabled=False)
    if user:
        storage = around.code / "globalStorage" / "rooveterinaryinc.roo-cline" / "settings"
        rules = around.home / ".roo" / "rules" / "wherein.md"
        servers = storage / "mcp_settings.json"
    else:
        servers = around.project / ".roo" / "mcp.json"
        rules = around.project / ".roo" / "rules" / "wherein.md"
    return [
        _json(servers, ("mcpServers",), value),
        _file(rules, rule_file({}), is_instruction=True),
    ]


def _continue(around: Surroundings, user: bool) -> list[Target]:
    folder = (around.home if user else around.project) / ".continue"
    entry = {"name": _NAME, **_stdio(around)}
    rules = _file(folder / "rules" / "wherein.md", rule_file({"alwaysApply": "true"}))
    if user:
        servers = Target(folder / "config.yaml", Kind.YAML, ("mcpServers", _NAME), entry)
    else:
        head = f"# {_NAME}: made by `wherein install`\nname: {_NAME}\nversion: 1.0.0\nschema: v1\n"
        items = (
            f'mcpServers:\n  - name: {_NAME}\n    command: {around.command}\n    args: ["mcp"]\n'
        )
        servers = _file(folder / "mcpServers" / "wherein.yaml", head + items)
    return [servers, Target(rules.path, Kind.FILE, text=rules.text, is_instruction=True)]


def _kiro(around: Surroundings, user: bool) -> list[Target]:
    folder = (around.home if user else around.project) / ".kiro"
    value = _stdio(
        around, disabled=False, autoApprove=["search", "similar", "grep", "glob", "read"]
    )
    steering = rule_file({"inclusion": "always"})
    return [
        _json(folder / "settings" / "mcp.json", ("mcpServers",), value),
        _file(folder / "steering" / "wherein.md", steering, is_instruction=True),
    ]


def _amp(around: Surroundings, user: bool) -> list[Target]:
    folder = around.config / "amp" if user else around.project / ".amp"
    settings = _commented(folder / "settings.json")
    target = _json(settings, ("amp.mcpServers",), _stdio(around))
    return [target, _block((folder if user else around.project) / "AGENTS.md")]


def _commented(path: Path) -> Path:
    """Return the file with comments in it (``.jsonc``) where the user has that one."""
    other = path.with_suffix(".jsonc")
    return other if other.exists() else path


def _goose(around: Surroundings, user: bool) -> list[Target]:
    if not user:
        return [_block(around.project / ".goosehints")]
    entry: dict[str, object] = {
        "enabled": True,
        "type": "stdio",
        "name": _NAME,
        "description": "Finds code by meaning, name and exact text",
        "cmd": around.command,
        "args": ["mcp"],
        "envs": {},
        "timeout": 300,
    }
    folder = around.config / "goose"
    return [
        Target(folder / "config.yaml", Kind.YAML, ("extensions", _NAME), entry),
        _block(folder / ".goosehints"),
    ]


def _jetbrains(around: Surroundings, user: bool) -> list[Target]:
    folder = (around.home if user else around.project) / ".junie"
    return [
        _json(folder / "mcp" / "mcp.json", ("mcpServers",), _stdio(around)),
        _block(folder / "AGENTS.md" if user else around.project / "AGENTS.md"),
    ]


_TARGETS = {
    "claude-code": _claude_code,
    "codex": _codex,
    "cursor": _cursor,
    "gemini": _gemini,
    "vscode": _vscode,
    "copilot-cli": _copilot_cli,
    "opencode": _opencode,
    "windsurf": _windsurf,
    "zed": _zed,
    "cline": _cline,
    "roo": _roo,
    "continue": _continue,
    "kiro": _kiro,
    "amp": _amp,
    "qwen": _qwen,
    "goose": _goose,
    "jetbrains": _jetbrains,
}

CLIENTS: tuple[Client, ...] = (
    Client("claude-code", "Claude Code", (".claude", ".claude.json"), ("claude",)),
    Client("codex", "Codex CLI", (".codex",), ("codex",)),
    Client("cursor", "Cursor", (".cursor",), ("cursor", "cursor-agent")),
    Client("gemini", "Gemini CLI", (".gemini",), ("gemini",)),
    Client("vscode", "VS Code (Copilot)", ("code:",), ("code",)),
    Client("copilot-cli", "Copilot CLI", (".copilot",), ("copilot",)),
    Client("opencode", "OpenCode", ("config:opencode",), ("opencode",)),
    Client("windsurf", "Windsurf", (".codeium/windsurf",), ("windsurf",)),
    Client("zed", "Zed", ("config:zed",), ("zed", "zeditor")),
    Client("cline", "Cline", (".cline", "code:globalStorage/saoudrizwan.claude-dev"), ("cline",)),
    Client("roo", "Roo Code", ("code:globalStorage/rooveterinaryinc.roo-cline", ".roo")),
    Client("continue", "Continue", (".continue",)),
    Client("kiro", "Kiro", (".kiro",), ("kiro", "kiro-cli")),
    Client("amp", "Amp", ("config:amp",), ("amp",)),
    Client("qwen", "Qwen Code", (".qwen",), ("qwen",)),
    Client("goose", "Goose", ("config:goose",), ("goose",)),
    Client("jetbrains", "JetBrains (Junie)", (".junie",), ("junie",)),
)
