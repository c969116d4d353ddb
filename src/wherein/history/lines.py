"""Why a line is there, how a range came to be, and which symbols a commit touched."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from wherein.errors import ExternalError, PathError
from wherein.external.git import Git
from wherein.parse.tags import parse
from wherein.walk.encoding import decode
from wherein.walk.language import detect_language

__all__ = ["LineOrigin", "changed_symbols", "line_origins", "range_commits", "to_committed_lines"]

_IGNORE_REVS = ".git-blame-ignore-revs"
"""Where projects list their reformatting commits, by GitHub's convention."""

_TIMEOUT_S = 30.0
_BLAME_HEAD = re.compile(rb"^\^?([0-9a-f]{40,64}) (\d+) (\d+)(?: \d+)?$")
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_MAX_DIFF_BYTES = 2_000_000
_MAX_PARSED_BYTES = 300_000
_MAX_PARSED_FILES = 4
"""Files of one commit that are parsed: 5 ms each."""


@dataclass(frozen=True, slots=True)
class LineOrigin:
    """The commit that last touched a line."""

    line: int
    """In the file on disk; 1-based."""
    sha: str
    """Empty for a line that no commit has yet."""


def line_origins(git: Git, path: str, text: str, start: int, end: int) -> list[LineOrigin]:
    """Return which commit each line of ``start`` to ``end`` comes from.

    Only committed contents are given to git, so no filter of the repository runs; lines that
    changed since are found by comparing. Commits listed as reformatting are looked through.

    Args:
        git: The repository.
        path: The file, relative to git's root.
        text: The file as it is on disk.
        start: First line, 1-based.
        end: Last line, inclusive.

    Raises:
        ExternalError: Git cannot say.
    """
    head = git.head()
    lines = text.splitlines()
    wanted = range(max(start, 1), min(end, len(lines)) + 1)
    if head is None:
        return [LineOrigin(line, "") for line in wanted]
    try:
        committed = git.show(head, path).decode("utf-8", "replace").splitlines()
    except PathError:  # not committed yet
        return [LineOrigin(line, "") for line in wanted]
    then = to_committed_lines(lines, committed)
    asked = sorted({then[line] for line in wanted if line in then})
    origins = _blame(git, head, path, asked[0], asked[-1]) if asked else {}
    return [LineOrigin(line, origins.get(then.get(line, 0), "")) for line in wanted]


def to_committed_lines(now: Sequence[str], committed: Sequence[str]) -> dict[int, int]:
    """Return each unchanged line's number (1-based) to its number in the commit."""
    if list(now) == list(committed):
        return {line: line for line in range(1, len(now) + 1)}
    matcher = SequenceMatcher(None, committed, now, autojunk=False)
    return {
        block.b + i + 1: block.a + i + 1
        for block in matcher.get_matching_blocks()
        for i in range(block.size)
    }


def range_commits(git: Git, path: str, start: int, end: int, limit: int) -> list[str]:
    """Return the commits that changed these lines of the committed file, newest first.

    Raises:
        ExternalError: Git cannot say.
    """
    done = git.run(
        "log",
        f"-L{start},{end}:{git.prefix}{path}",
        "--no-patch",
        "--no-textconv",
        "--no-ext-diff",
        "--no-show-signature",
        "--format=%H",
        f"--max-count={limit}",
        "HEAD",
        timeout_s=_TIMEOUT_S,
    )
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()[:1]
        message = (
            f"git cannot say how {path!r} came to be: {said[0] if said else 'no reason given'}"
        )
        raise ExternalError(message)
    return [line for line in done.stdout.decode("ascii", "replace").split() if line]


def changed_symbols(git: Git, sha: str, limit: int = 6) -> tuple[str, ...]:
    """Return the names of the definitions whose lines a commit wrote, most changed first.

    They are the names of that time, read from the files as the commit left them. Empty for a merge,
    and for what no grammar names.
    """
    done = git.run(
        "diff-tree", "--root", "-r", "-p", "-U0", "-M", "--no-ext-diff", "--no-textconv",
        "--no-commit-id", "--end-of-options", sha,
        timeout_s=_TIMEOUT_S, max_output_bytes=_MAX_DIFF_BYTES,
    )  # fmt: skip
    changed = _written_lines(done.stdout.decode("utf-8", "surrogateescape"))
    counts: dict[str, int] = {}
    for path in list(changed)[:_MAX_PARSED_FILES]:
        for name, n_lines in _names_of(git, sha, path, changed[path]).items():
            counts[name] = counts.get(name, 0) + n_lines
    return tuple(sorted(counts, key=lambda name: (-counts[name], name))[:limit])


def _written_lines(diff: str) -> dict[str, list[tuple[int, int]]]:
    """Return the new lines (first, last) of each source file of a diff, in its order."""
    changed: dict[str, list[tuple[int, int]]] = {}
    path = ""
    for line in diff.split("\n"):
        if line.startswith("+++ "):
            name = line[4:].rstrip("\t")
            path = name[2:] if name.startswith("b/") else ""
        found = _HUNK.match(line) if path else None
        if found is not None:
            first, count = int(found.group(1)), int(found.group(2) or 1)
            changed.setdefault(path, []).append((max(first, 1), first + max(count - 1, 0)))
    return {path: lines for path, lines in changed.items() if detect_language(path) is not None}


def _names_of(git: Git, sha: str, path: str, lines: Sequence[tuple[int, int]]) -> dict[str, int]:
    """Return the innermost definitions that hold any of ``lines``, each with how many."""
    data = git.run(
        "cat-file", "blob", os.fsencode(f"{sha}:{path}"), max_output_bytes=_MAX_PARSED_BYTES
    )
    language = detect_language(path, data.stdout[:4096])
    decoded = None if data.is_truncated else decode(data.stdout)
    if decoded is None or language is None:
        return {}
    definitions = parse(decoded.text.encode("utf-8", "replace"), language).definitions
    counts: dict[str, int] = {}
    for first, last in lines:
        inside = [d for d in definitions if d.start_line <= last and d.end_line >= first]
        outer = {name for d in inside for name in d.enclosing}
        for definition in inside:
            if definition.name not in outer:
                shared = min(definition.end_line, last) - max(definition.start_line, first) + 1
                counts[definition.name] = counts.get(definition.name, 0) + shared
    return counts


def _blame(git: Git, commit: str, path: str, start: int, end: int) -> dict[int, str]:
    """Return line number in the commit to the commit it comes from."""
    arguments = [
        "blame", "--porcelain", "--no-textconv", "-w", "-M", f"-L{start},{end}", commit, "--", path,
    ]  # fmt: skip
    ignore = git.top / _IGNORE_REVS
    options = ["-c", "blame.ignoreRevsFile="]
    done = None
    if ignore.is_file() and not ignore.is_symlink():
        listed = [*arguments[:1], f"--ignore-revs-file={os.fspath(ignore)}", *arguments[1:]]
        done = git.run(*options, *listed, timeout_s=_TIMEOUT_S)
    if done is None or done.returncode != 0:
        done = git.run(*options, *arguments, timeout_s=_TIMEOUT_S)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()[:1]
        message = f"git cannot say where lines of {path!r} come from: {said[0] if said else ''}"
        raise ExternalError(message)
    origins: dict[int, str] = {}
    for line in done.stdout.split(b"\n"):
        found = _BLAME_HEAD.match(line)
        if found is not None:
            origins[int(found.group(3))] = found.group(1).decode()
    return origins
