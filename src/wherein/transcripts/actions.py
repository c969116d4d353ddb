"""Decides what a tool call does: search, read, edit or something else."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from wherein.transcripts.rows import Json, as_dict, as_list, as_text, parse_json
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
    "read": ActionKind.READ,
    "search": ActionKind.SEARCH,
    "similar": ActionKind.SEARCH,
}
_READ_PROGRAMS = frozenset(["cat", "head", "tail", "less", "more", "bat", "nl", "sed", "awk", "wc"])
_WRAPPERS: dict[str, frozenset[str]] = {
    "command": frozenset(),
    "env": frozenset({"-u", "-C", "-S"}),
    "nice": frozenset({"-n"}),
    "nohup": frozenset(),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "sudo": frozenset({"-u", "-g", "-C", "-D"}),
    "time": frozenset({"-f", "-o"}),
    "timeout": frozenset({"-k", "-s"}),
    "uvx": frozenset(),
    "xargs": frozenset({"-n", "-P", "-I", "-L", "-d"}),
}
"""Programs that start another one, with their options that take a word as value."""

_KEYWORDS = frozenset(["!", "(", "do", "elif", "else", "if", "then", "until", "while", "{"])
_SHELLS = frozenset(["bash", "dash", "ksh", "sh", "zsh"])
_GIT_VALUES = frozenset(["-C", "-c", "--git-dir", "--work-tree", "--namespace"])
_DURATION = re.compile(r"\d+(\.\d+)?[smhd]?")
_REDIRECT = re.compile(r"(?<![<>0-9&])>{1,2}(?![>&])\s*(?!/dev/)([^\s;|&]+)")
_SCRATCH = ("/dev/", "/tmp/", "&")  # noqa: S108 - recognised, not used
_SEPARATOR = re.compile(r"\|\||&&|[;|\n]")
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_HERE_DOCUMENT = re.compile(
    r"(?<!<)(?P<start><<-?[ \t]*(?P<quote>['\"]?)(?P<end>\w+)(?P=quote)[^\n]*\n)"
    r"(?:(?!\s*(?P=end)\s*(?:\n|$))[^\n]*(?:\n|$))*"
)
_COMPARISON = re.compile(r"\$?\(\([^()]*\)\)|\[\[[^\[\]]*\]\]")
_IN_PLACE = re.compile(
    r"(?:^|[\s;&|(])(?:sed\s[^;&|\n]*?(?<=\s)(?:-[nrEsuz]*i|--in-place)|perl\s+(?:-\S+\s+)*-[pnlwae0]*i"
    r"|tee\s+[^-\s|;&]|git\s+apply\s|patch\s+-)"
)


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


def classify_shell(command: str) -> tuple[ActionKind, str]:
    """Return the kind of a shell command, and the words searched for, the path or the command.

    An edit anywhere makes it an edit; else a search at the head of any pipeline; else a read.
    ``rg x | head`` is one search, ``make | grep error`` filters output and is none.
    """
    if re.search(r"\bapply_patch\b", command):
        return ActionKind.EDIT, command
    whole, command = command, _HERE_DOCUMENT.sub(r"\g<start>", command)
    if _writes(command):
        return ActionKind.EDIT, whole
    read = ""
    for piped, words in _programs(command):
        kind, argument = _kind_of_program(words, piped=piped, command=whole)
        if kind is ActionKind.SEARCH or kind is ActionKind.EDIT:
            return kind, argument
        if kind is ActionKind.READ:
            read = read or argument
    return (ActionKind.READ, read) if read else (ActionKind.OTHER, whole)


def _kind_of_program(words: Sequence[str], *, piped: bool, command: str) -> tuple[ActionKind, str]:
    """Return what one program of ``command`` does, and the words searched for or the path."""
    program, rest = words[0].rsplit("/", 1)[-1], words[1:]
    if program in _SHELLS and (script := _script_of(rest)):
        return classify_shell(script)
    if program == "git":
        rest = _after_options(rest, _GIT_VALUES)
        in_log = rest[:1] == ["log"] and any(w.startswith(("-S", "-G", "--grep")) for w in rest)
        if in_log or rest[:1] in (["grep"], ["ls-files"]):
            return ActionKind.SEARCH, _words_searched(rest[1:]) or command
    elif program == "wherein" or (program.startswith("python") and rest[:2] == ["-m", "wherein"]):
        return _wherein_kind(rest), command
    elif program == "ls" and any(w.startswith("-") and "R" in w for w in rest):
        return ActionKind.SEARCH, command
    elif program in _SEARCH_PROGRAMS and not piped:
        return ActionKind.SEARCH, _words_searched(rest) or command
    elif program in _READ_PROGRAMS and not piped:
        return ActionKind.READ, next((w for w in reversed(rest) if w[:1] not in "-<"), "")
    return ActionKind.OTHER, command


def _wherein_kind(words: Sequence[str]) -> ActionKind:
    tool = next((word for word in words if word in _WHEREIN_TOOLS), "")
    return _WHEREIN_TOOLS.get(tool, ActionKind.OTHER)


def _script_of(words: Sequence[str]) -> str:
    """Return the script of ``bash -c 'script'``, nothing for other uses of a shell."""
    for option, script in pairwise(words):
        if re.fullmatch(r"-[a-z]*c", option):
            return script
    return ""


def _after_options(words: Sequence[str], with_value: frozenset[str]) -> list[str]:
    """Return ``words`` from the first that is neither an option nor the value of one."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in with_value else 1
    return list(words[at:])


def _writes(command: str) -> bool:
    bare = _COMPARISON.sub("", _QUOTED.sub("''", command))
    if _IN_PLACE.search(bare):
        return True
    return any(not target.startswith(_SCRATCH) for target in _REDIRECT.findall(bare))


def _programs(command: str) -> Iterator[tuple[bool, list[str]]]:
    """Yield (whether it reads a pipe, its words) for each program of a command."""
    # Quoted text may hold separators: blank it to find them, then cut the original there.
    blanked = _QUOTED.sub(lambda quoted: "x" * len(quoted.group()), command)
    start, piped = 0, False
    ends = [(m.start(), m.end(), m.group() == "|") for m in _SEPARATOR.finditer(blanked)]
    for end, resume, pipes in [*ends, (len(command), len(command), False)]:
        words = _without_wrappers(_split(command[start:end]))
        if words:
            yield piped, words
        start, piped = resume, pipes


def _without_wrappers(words: list[str]) -> list[str]:
    """Return the words from the program that does the work: `timeout 9 rg x` is `rg x`."""
    while words:
        first = words[0].lstrip("(") or "("
        program = first.rsplit("/", 1)[-1]
        if program in _WRAPPERS:
            words = _after_options(words[1:], _WRAPPERS[program])
            if program == "timeout" and words and _DURATION.fullmatch(words[0]):
                words = words[1:]
        elif first in _KEYWORDS or "=" in first:
            words = words[1:]
        else:
            return [first, *words[1:]]
    return words


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
        re.search(
            r"(^|[\s;&|/])wherein\s+(--?\S+\s+(\S+\s+)?)*(search|similar|grep|glob|read|history)\b",
            call.argument,
        )
    )
