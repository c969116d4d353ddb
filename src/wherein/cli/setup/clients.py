"""The agents that can be set up, and what shows that one is here."""

from __future__ import annotations

from dataclasses import dataclass

from wherein.cli.setup.editor_clients import EDITOR_TARGETS
from wherein.cli.setup.targets import Surroundings, Target
from wherein.cli.setup.terminal_clients import TERMINAL_TARGETS

__all__ = ["CLIENTS", "Client"]

_TARGETS = {**TERMINAL_TARGETS, **EDITOR_TARGETS}


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


CLIENTS: tuple[Client, ...] = (
    Client("claude-code", "Claude Code", (".claude", ".claude.json"), ("claude",)),
    Client("codex", "Codex CLI", (".codex",), ("codex",)),
    Client("cursor", "Cursor", (".cursor",), ("cursor", "cursor-agent")),
    Client("gemini", "Gemini CLI", (".gemini",), ("gemini",)),
    Client("vscode", "VS Code (Copilot)", ("code:",), ("code",)),
    Client("copilot-cli", "Copilot CLI", (".copilot",), ("copilot",)),
    Client("opencode", "OpenCode", ("config:opencode",), ("opencode",)),
    Client(
        "windsurf",
        "Windsurf (Devin Desktop)",
        (".codeium/windsurf", "config:devin"),
        ("windsurf", "devin"),
    ),
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
