"""All commands: the registry's tools, and what only makes sense on a command line."""

from __future__ import annotations

from wherein.tools.registry import Face, Parameter, ParameterType, Tool, get_tool, tool_names

__all__ = ["OWN_COMMANDS", "command_names", "commands", "get_command"]

_CLI = (Face.CLI,)

_CLIENTS = Parameter(
    "clients",
    ParameterType.TEXTS,
    "clients to configure (claude-code, codex, cursor…); default: those found on this machine",
    default=(),
    is_positional=True,
    metavar="CLIENT",
    faces=_CLI,
)
_SCOPE = Parameter(
    "scope",
    ParameterType.TEXT,
    "user: for every project; project: files in this repository, for the whole team",
    default="user",
    choices=("user", "project"),
    faces=_CLI,
)
_DRY_RUN = Parameter(
    "dry_run",
    ParameterType.FLAG,
    "show the differences and write nothing",
    default=False,
    faces=_CLI,
)
_INSTRUCTIONS = Parameter(
    "instructions",
    ParameterType.FLAG,
    "write the instruction block (AGENTS.md, CLAUDE.md and the like)",
    default=True,
    off_flags=("--no-instructions",),
    faces=_CLI,
)

OWN_COMMANDS: tuple[Tool, ...] = (
    Tool(
        name="config",
        title="Show the settings",
        summary="Print every effective setting and where its value came from.",
        function="wherein.cli.config:config",
        result="wherein.cli.config:ConfigResult",
        rows="settings",
        faces=_CLI,
    ),
    Tool(
        name="doctor",
        title="Check the installation",
        summary="Check what Wherein needs, start the server as a client would, say what is wrong.",
        function="wherein.cli.doctor:doctor",
        result="wherein.cli.doctor:DoctorResult",
        rows="checks",
        faces=_CLI,
    ),
    Tool(
        name="mcp",
        title="Serve agents",
        summary="Run the MCP server, on standard input and output or on HTTP at this machine.",
        function="wherein.mcp.serve:serve",
        result="",
        parameters=(
            Parameter(
                "http",
                ParameterType.FLAG,
                "serve streamable HTTP instead of standard input and output",
                default=False,
                faces=_CLI,
            ),
            Parameter(
                "host", ParameterType.TEXT, "address to bind", default="127.0.0.1", faces=_CLI
            ),
            Parameter(
                "port",
                ParameterType.INTEGER,
                "port to bind; 0 takes a free one and prints it",
                default=0,
                minimum=0,
                maximum=65535,
                faces=_CLI,
            ),
            Parameter(
                "token_file",
                ParameterType.TEXT,
                "file that holds the token clients must send; default: a new token, printed",
                faces=_CLI,
                metavar="FILE",
            ),
        ),
        faces=_CLI,
    ),
    Tool(
        name="install",
        title="Set up agents",
        summary="Add the server and a short instruction to the agents on this machine.",
        function="wherein.cli.install:install",
        result="wherein.cli.install:InstallResult",
        rows="changes",
        parameters=(
            _CLIENTS,
            _SCOPE,
            _DRY_RUN,
            _INSTRUCTIONS,
            Parameter("all", ParameterType.FLAG, "every known client", default=False, faces=_CLI),
        ),
        faces=_CLI,
        is_read_only=False,
    ),
    Tool(
        name="uninstall",
        title="Undo the set-up",
        summary="Take out what install wrote; the files are as they were before.",
        function="wherein.cli.install:uninstall",
        result="wherein.cli.install:InstallResult",
        rows="changes",
        parameters=(_CLIENTS, _SCOPE, _DRY_RUN),
        faces=_CLI,
        is_read_only=False,
    ),
)


def command_names() -> tuple[str, ...]:
    """Return the names of all commands, in the order they are shown."""
    own = [command.name for command in OWN_COMMANDS]
    return (*(name.replace("_", "-") for name in tool_names()), *own)


def get_command(name: str) -> Tool | None:
    """Return the command called ``name``, importing no other command's module."""
    for command in OWN_COMMANDS:
        if command.name == name:
            return command
    return get_tool(name.replace("-", "_"))


def commands() -> tuple[Tool, ...]:
    """Return all commands that exist."""
    return tuple(found for name in command_names() if (found := get_command(name)))
