"""Decides what a tool call does: search, read, edit or something else."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from wherein.transcripts.rows import Json, as_dict, as_list, as_text, parse_json
from wherein.transcripts.shell import (
    Program,
    after_options,
    is_elsewhere,
    is_temporary,
    programs,
)
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
_WHEREIN_TOOLS = {
    "glob": ActionKind.SEARCH,
    "grep": ActionKind.SEARCH,
    "history": ActionKind.OTHER,
    "read": ActionKind.READ,
    "search": ActionKind.SEARCH,
    "similar": ActionKind.SEARCH,
}
_WHEREIN = re.compile(rf"(^|[\s;&|/])wherein\s+(--?\S+\s+(\S+\s+)?)*({'|'.join(_WHEREIN_TOOLS)})\b")
"""A call of one of them on a command line."""

_READ_PROGRAMS = frozenset(["cat", "head", "tail", "less", "more", "bat", "nl", "sed", "awk", "wc"])
_SHELLS = frozenset(["bash", "dash", "ksh", "sh", "zsh"])
_GIT_VALUES = frozenset(["-C", "-c", "--git-dir", "--work-tree", "--namespace"])
_AUTHORS = frozenset(["echo", "printf"])
"""Programs whose output is what the agent itself wrote, like text in a here-document."""

_LOG_SUFFIXES = frozenset(["", ".diff", ".err", ".log", ".out", ".patch", ".tmp", ".txt"])
"""Files that programs' output is kept in to be looked at; the code is not changed by it."""

_IN_PLACE = {
    "sed": re.compile(r"-[nrEsuz]*i|--in-place"),
    "gsed": re.compile(r"-[nrEsuz]*i|--in-place"),
    "perl": re.compile(r"-[pnlwae0]*i"),
}


def make_call(
    *,
    call_id: str,
    name: str,
    arguments: object,
    order: int,
    timestamp: float | None,
    subagent: str = "",
    output_chars: int | None = None,
    folder: str = "",
) -> ToolCall:
    """Return the typed call; ``arguments`` is an object, JSON text of one, or plain text.

    ``folder`` is where the session works: what is written outside of it is no edit.
    """
    given = _arguments(arguments)
    plain = re.sub(r"[^a-z]", "", name.lower())
    path = _first(given, _PATH_KEYS)
    if plain in _SHELL_TOOLS or (not given and plain.endswith("shell")):
        command = _command(given) or as_text(arguments)
        kind, argument = classify_shell(command, folder)
    else:
        kind = _kind_of(name, plain)
        if kind is ActionKind.EDIT and is_temporary(path, folder):
            kind = ActionKind.OTHER
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
            return as_dict(parse_json(arguments))
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


def classify_shell(command: str, folder: str = "") -> tuple[ActionKind, str]:
    """Return the kind of a shell command, and the words searched for, the path or the command.

    An edit anywhere makes it an edit; else a search at the head of any pipeline; else a read.
    ``rg x | head`` is one search, ``make | grep error`` filters output and is none. Output that is
    kept in a file is an edit where it changes the tree: what a search found, what goes to a
    temporary file or out of ``folder``, and a log are none.
    """
    if "*** Begin Patch" in command:
        return ActionKind.EDIT, command
    first: tuple[ActionKind, str] | None = None
    read, head, head_kind = "", Program(("",), False, (), False), ActionKind.OTHER
    for program in programs(command):
        kind, argument = _kind_of_program(program, command, folder)
        if not program.is_piped:
            head, head_kind = program, kind
        if kind is ActionKind.EDIT or _keeps_output(program, head, head_kind, folder):
            return ActionKind.EDIT, command
        if kind is ActionKind.SEARCH:
            first = first or (kind, argument)
        elif kind is ActionKind.READ:
            read = read or argument
    if first is not None:
        return first
    return (ActionKind.READ, read) if read else (ActionKind.OTHER, command)


def _keeps_output(program: Program, head: Program, head_kind: ActionKind, folder: str) -> bool:
    """Return whether what the pipeline from ``head`` gives is written into the tree."""
    targets = list(program.targets)
    if _name(program) == "tee":
        targets += [word for word in program.words[1:] if not word.startswith("-")]
    if head_kind is ActionKind.SEARCH:
        return False
    is_author = _name(head) in _AUTHORS or head.has_text or program.has_text
    return any(
        not is_elsewhere(target, folder)
        and (is_author or PurePath(target).suffix not in _LOG_SUFFIXES)
        for target in targets
    )


def _name(program: Program) -> str:
    return program.words[0].rsplit("/", 1)[-1]


def _kind_of_program(program: Program, command: str, folder: str) -> tuple[ActionKind, str]:
    """Return what one program of ``command`` does, and the words searched for or the path."""
    name, rest, piped = _name(program), list(program.words[1:]), program.is_piped
    if name in _SHELLS and (script := _script_of(rest)):
        return classify_shell(script, folder)
    if _changes_files(name, rest, folder):
        return ActionKind.EDIT, command
    if name == "git":
        rest = after_options(rest, _GIT_VALUES)
        in_log = rest[:1] == ["log"] and any(w.startswith(("-S", "-G", "--grep")) for w in rest)
        if in_log or rest[:1] in (["grep"], ["ls-files"]):
            return ActionKind.SEARCH, _words_searched(rest[1:]) or command
    elif name == "wherein" or (name.startswith("python") and rest[:2] == ["-m", "wherein"]):
        return _wherein_kind(rest), command
    elif name == "ls" and any(w.startswith("-") and "R" in w for w in rest):
        return ActionKind.SEARCH, command
    elif name in _SEARCH_PROGRAMS and not piped:
        return ActionKind.SEARCH, _words_searched(rest) or command
    elif name in _READ_PROGRAMS and not piped:
        return ActionKind.READ, next((w for w in reversed(rest) if w[:1] not in "-<"), "")
    return ActionKind.OTHER, command


def _changes_files(name: str, words: Sequence[str], folder: str) -> bool:
    """Return whether a program changes files of the tree itself."""
    if name == "apply_patch":
        return True
    if name == "patch":
        return "--dry-run" not in words
    if name == "git":
        words = after_options(words, _GIT_VALUES)
        is_asking = any(word in {"--check", "--stat", "--numstat", "--summary"} for word in words)
        return words[:1] == ["apply"] and not is_asking
    option = _IN_PLACE.get(name)
    if option is None or not any(option.match(word) for word in words):
        return False
    return not is_elsewhere(words[-1], folder)


def _wherein_kind(words: Sequence[str]) -> ActionKind:
    tool = next((word for word in words if word in _WHEREIN_TOOLS), "")
    return _WHEREIN_TOOLS.get(tool, ActionKind.OTHER)


def _script_of(words: Sequence[str]) -> str:
    """Return the script of ``bash -c 'script'``, nothing for other uses of a shell."""
    for option, script in pairwise(words):
        if re.fullmatch(r"-[a-z]*c", option):
            return script
    return ""


def _words_searched(words: Sequence[str]) -> str:
    return next((word for word in words if word and not word.startswith("-")), "")


def uses_wherein(call: ToolCall) -> bool:
    """Return whether the call went to Wherein: its MCP tools or its command line."""
    return "wherein" in call.name.lower() or bool(_WHEREIN.search(call.argument))
