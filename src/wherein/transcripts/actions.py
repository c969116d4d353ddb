"""Decides what a tool call does: search, read, edit or something else."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from wherein.transcripts.rows import Json, as_dict, as_list, as_text
from wherein.transcripts.values import ActionKind, ToolCall

__all__ = ["MAX_ARGUMENT_CHARS", "classify_shell", "make_call", "uses_wherein"]

MAX_ARGUMENT_CHARS = 400
"""No output may hold more of one argument: transcripts have rows of 20 MB."""

_SEARCH_TOOLS = frozenset(
    [
        "grep",
        "glob",
        "ls",
        "list",
        "listdir",
        "searchfilecontent",
        "grepsearch",
        "codebasesearch",
        "filesearch",
        "search",
        "listdirectory",
        "findbyname",
        "findfiles",
        "semanticsearch",
        "searchcode",
        "websearchcode",
        "findrelated",
        "listfiles",
        "searchfiles",
        "similar",
        "view_directory",
        "searchcodebase",
    ]
)
_READ_TOOLS = frozenset(
    [
        "read",
        "readfile",
        "readfilev2",
        "readmanyfiles",
        "view",
        "viewfile",
        "openfile",
        "cat",
        "notebookread",
        "getfile",
    ]
)
_EDIT_TOOLS = frozenset(
    [
        "edit",
        "write",
        "multiedit",
        "notebookedit",
        "editfile",
        "editfilev2",
        "strreplace",
        "strreplaceeditor",
        "replace",
        "writefile",
        "applypatch",
        "patch",
        "create",
        "createfile",
        "searchreplace",
        "deletefile",
        "editnotebook",
        "strreplacebasededittool",
        "insert",
        "writetofile",
    ]
)
_SHELL_TOOLS = frozenset(
    [
        "bash",
        "shell",
        "shellcommand",
        "execcommand",
        "localshell",
        "localshellcall",
        "runterminalcmd",
        "runshellcommand",
        "runterminalcommand",
        "terminal",
        "exec",
        "runterminalcommandv2",
        "command",
        "powershell",
    ]
)
_PATH_KEYS = (
    "file_path",
    "path",
    "filePath",
    "target_file",
    "absolute_path",
    "notebook_path",
    "relative_workspace_path",
    "filename",
    "file",
)
_QUERY_KEYS = (
    "pattern",
    "query",
    "regex",
    "search_term",
    "explanation",
    "glob",
    "glob_pattern",
    "search",
    "text",
    "name",
)
_COMMAND_KEYS = ("command", "cmd", "script", "input")

_SEARCH_PROGRAMS = frozenset(
    [
        "rg",
        "grep",
        "egrep",
        "fgrep",
        "ag",
        "ack",
        "fd",
        "fdfind",
        "find",
        "ugrep",
        "zgrep",
        "tree",
        "locate",
        "semble",
    ]
)
_READ_PROGRAMS = frozenset(["cat", "head", "tail", "less", "more", "bat", "nl", "sed", "awk", "wc"])
_WRAPPERS = frozenset(
    ["sudo", "env", "time", "nice", "nohup", "command", "xargs", "timeout", "stdbuf"]
)
_REDIRECT = re.compile(r"(?<![<>0-9&])>{1,2}(?![>&])\s*(?!/dev/)([^\s;|&]+)")
_SCRATCH = ("/dev/", "/tmp/", "&")  # noqa: S108 - recognised, not used
_SEPARATOR = re.compile(r"\|\||&&|[;|\n]")


def make_call(
    *,
    call_id: str,
    name: str,
    arguments: object,
    order: int,
    timestamp: float | None,
    subagent: str = "",
    output_chars: int | None = None,
) -> ToolCall:
    """Return the typed call; ``arguments`` is an object, JSON text of one, or plain text."""
    given = _arguments(arguments)
    plain = re.sub(r"[^a-z]", "", name.lower())
    path = _first(given, _PATH_KEYS)
    if plain in _SHELL_TOOLS or (not given and plain.endswith("shell")):
        command = _command(given) or as_text(arguments)
        kind, argument = classify_shell(command)
    else:
        kind = _kind_of(name, plain)
        argument = _first(given, _QUERY_KEYS) if kind is ActionKind.SEARCH else path
        argument = argument or path or as_text(arguments)
    return ToolCall(
        call_id,
        name,
        kind,
        argument[:MAX_ARGUMENT_CHARS],
        path[:MAX_ARGUMENT_CHARS],
        order,
        timestamp,
        subagent,
        output_chars,
    )


def _kind_of(name: str, plain: str) -> ActionKind:
    last = re.sub(r"[^a-z]", "", re.split(r"__|[./:]", name)[-1].lower())
    for known, kind in (
        (_SEARCH_TOOLS, ActionKind.SEARCH),
        (_READ_TOOLS, ActionKind.READ),
        (_EDIT_TOOLS, ActionKind.EDIT),
    ):
        if plain in known or last in known:
            return kind
    if name.startswith("mcp__") and ("search" in last or "find" in last):
        return ActionKind.SEARCH
    return ActionKind.OTHER


def _arguments(arguments: object) -> Json:
    if isinstance(arguments, str) and arguments.lstrip().startswith("{"):
        try:
            return as_dict(json.loads(arguments))
        except ValueError:
            return {}
    return as_dict(arguments)


def _first(given: Json, keys: Sequence[str]) -> str:
    return next((as_text(given[key]) for key in keys if given.get(key)), "")


def _command(given: Json) -> str:
    for key in _COMMAND_KEYS:
        value: Any = given.get(key)
        if isinstance(value, list):
            words = [as_text(word) for word in as_list(given[key])]
            # ["bash", "-lc", "the command"] is how agents hand a script to a shell.
            if len(words) >= 3 and words[1].startswith("-") and words[1].endswith("c"):
                return words[2]
            return shlex.join(words)
        if isinstance(value, str) and value:
            return value
    return ""


def classify_shell(command: str) -> tuple[ActionKind, str]:
    """Return the kind of a shell command, and the words searched for, the path or the command.

    An edit anywhere makes it an edit; else a search at the head of any pipeline; else a read.
    ``rg x | head`` is one search, ``make | grep error`` filters output and is none.
    """
    if re.search(r"\bapply_patch\b", command) or _writes(command):
        return ActionKind.EDIT, command
    read: str | None = None
    for piped, words in _programs(command):
        program = words[0].rsplit("/", 1)[-1]
        if program == "git" and len(words) > 1 and words[1] in {"grep", "ls-files", "log"}:
            if words[1] != "log" or any(w.startswith(("-S", "-G", "--grep")) for w in words):
                return ActionKind.SEARCH, _words_searched(words[2:]) or command
        elif program == "wherein" and len(words) > 1:
            return _wherein_kind(words[1]), command
        elif program == "ls" and any(w.startswith("-") and "R" in w for w in words[1:]):
            return ActionKind.SEARCH, command
        elif program in _SEARCH_PROGRAMS and not piped:
            return ActionKind.SEARCH, _words_searched(words[1:]) or command
        elif program in _READ_PROGRAMS and not piped and read is None:
            read = next((w for w in reversed(words[1:]) if not w.startswith("-")), "")
    return (ActionKind.OTHER, command) if read is None else (ActionKind.READ, read)


def _wherein_kind(tool: str) -> ActionKind:
    if tool == "read":
        return ActionKind.READ
    return ActionKind.SEARCH if tool in {"search", "similar", "grep", "glob"} else ActionKind.OTHER


def _writes(command: str) -> bool:
    if re.search(r"(^|[\s;&|])(sed\s+(-\S+\s+)*-i|tee\s+[^-\s|;&])", command):
        return True
    targets = _REDIRECT.findall(_without_quotes(command))
    return any(not target.startswith(_SCRATCH) for target in targets)


def _without_quotes(command: str) -> str:
    return re.sub(r"'[^']*'|\"(?:\\.|[^\"\\])*\"", "''", command)


def _programs(command: str) -> Iterator[tuple[bool, list[str]]]:
    """Yield (whether it reads a pipe, its words) for each program of a command."""
    # Quoted text may hold separators: blank it to find them, then cut the original there.
    blanked = re.sub(
        r"'[^']*'|\"(?:\\.|[^\"\\])*\"", lambda quoted: "x" * len(quoted.group()), command
    )
    start, piped = 0, False
    ends = [(m.start(), m.end(), m.group() == "|") for m in _SEPARATOR.finditer(blanked)]
    for end, resume, pipes in [*ends, (len(command), len(command), False)]:
        words = _split(command[start:end])
        while words and (words[0].rsplit("/", 1)[-1] in _WRAPPERS or "=" in words[0]):
            words = words[1:]
        if words:
            yield piped, words
        start, piped = resume, pipes


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _words_searched(words: Sequence[str]) -> str:
    return next((word for word in words if word and not word.startswith("-")), "")


def uses_wherein(call: ToolCall) -> bool:
    """Return whether the call went to Wherein: its MCP tools or its command line."""
    return "wherein" in call.name.lower() or bool(
        re.search(r"(^|[\s;&|/])wherein\s+(search|similar|grep|glob|read|map|graph)", call.argument)
    )
